package herald_test

import (
	"cmp"
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// What herald is, as a model of slices: a topic and its subscriptions hold messages, and for each thing that can happen
// there is one rule. The rules are docs/GUARANTEES.md as code, in the simplest form there is; each cites its promise. All
// tests named TestProperty do at random what users do, to a topic and to this model, and compare the two after every
// action.
//
//	property_test.go           the model: who gets a message, in which order, how it ends
//	property_time_test.go      what happens to it as time goes by: expiry, leases, waits for room, and Run
//	property_draw_test.go      what subscriptions and messages are drawn
//	property_trial_test.go     the model beside a topic, and the comparison
//	property_publish_test.go   actions of publishers
//	property_consume_test.go   actions of consumers
//	property_run_test.go       the same with Run
//	property_order_test.go     order against a sorted slice, with real goroutines
//	property_pair_test.go      pairs of ways that must come to the same

// A spec is one topic.
type spec struct {
	now     time.Duration // since the topic was made
	seq     uint64        // of the latest message
	ttl     time.Duration // WithDefaultTTL; 0: none
	closed  bool
	closing []*specSub // closed with the topic
	begun   time.Time
	subs    []*specSub    // all there ever were, in the order of their creation
	fulls   []policy.Full // what users' policies were told
}

// A specSub is one subscription.
type specSub struct {
	specOptions
	topic        *spec
	held         []*specMessage  // queued, delayed and in flight, in the order of their acceptance
	line         []*specWaiter   // publishers that wait for room (G9)
	count        herald.SubStats // its counters; the levels are made from held
	disconnected bool            // closed by policy.Disconnect
	births       int             // messages accepted, or accepted in the place of others
	letters      []*specLetter   // handed to DeadLetterTo, kept or not
	log          []specAttempt   // by Run, since the latest comparison
	returns      []specReturn    // of Run, likewise
	starts       []time.Duration // of all attempts by Run
	run          *specRun        // the Run under way; nil: none
}

// A specMessage is one message in one subscription.
type specMessage struct {
	seq       uint64
	payload   int
	key       string
	priority  herald.Priority
	headers   herald.Headers
	published time.Duration
	expires   time.Duration // 0: never
	replays   int

	accepted  time.Duration
	born      int           // number of its acceptance
	place     specPlace     // where it stands among its priority
	delay     bool          // published with a delay
	due       time.Duration // it may be handled from then on
	state     specState
	attempt   int32
	handed    int           // how often it was handed out, attempts given back included
	started   time.Duration // the attempt under way
	lease     time.Duration // when the lease of the attempt under way ends; 0: none
	err       error         // of the last attempt
	suspended bool          // was parked when its Run ended
	act       specAct       // what its handler will do
	ends      time.Duration // and when that is over
}

// A specPlace is the number that acceptance gives a message, kept through retries, Stop and lease returns; a delayed one
// gets it when due. As a pair of time and acceptance it can be told from the start.
type specPlace struct {
	at   time.Duration
	born int
}

func (p specPlace) compare(o specPlace) int { return cmp.Or(cmp.Compare(p.at, o.at), p.born-o.born) }

type specState int

const (
	waits  specState = iota // queued if due, else delayed
	runs                    // in flight: a handler or a lease has it
	parked                  // in flight: between two attempts, in place
	over                    // met its end
)

// errWaits is the answer to an offer that must wait for room.
var errWaits = errors.New("waits")

// offer is what a subscription does about a message (G6, G7, G15): nil means that it accepted or filtered it, errWaits
// that it's in line for room, anything else is a refusal.
func (s *specSub) offer(m *specMessage) error {
	switch keep, err := s.see(m); {
	case err != nil:
		s.die(m, herald.FilterFailed, err, s.topic.now)
		s.count.Accepted++
		return nil
	case !keep:
		s.count.Filtered++
		return nil
	}
	if s.maxAge > 0 && (m.expires == 0 || m.expires > m.published+s.maxAge) {
		m.expires = m.published + s.maxAge
	}
	if s.crowded() || s.latest {
		s.notice() // G23: so that what has expired takes no room
	}
	if s.superseded(m) != nil || !s.crowded() {
		s.accept(m)
		return nil
	}
	a, err := s.ask(m, 0)
	if err != nil {
		s.die(m, herald.PolicyFailed, err, s.topic.now)
		s.count.Accepted++
		return nil
	}
	return s.act(m, a)
}

// accept takes a message in, in the place of another or in one of its own. Its delay counts from its publishing.
func (s *specSub) accept(m *specMessage) {
	s.births++
	s.count.Accepted++
	m.accepted, m.born = s.topic.now, s.births
	m.due = max(m.due, s.topic.now)
	m.place = specPlace{m.due, m.born}
	if old := s.superseded(m); old != nil {
		s.count.DroppedBy.Superseded++
		if old.seq > m.seq {
			return // as m comes from a dead letter
		}
		s.remove(old)
		m.place = old.place
	}
	s.held = append(s.held, m)
}

// crowded: the overflow policy acts if and only if queued and delayed ones fill the capacity, or others wait (G6).
func (s *specSub) crowded() bool { return s.waiting() >= s.capacity || len(s.line) > 0 }

// act carries out what the overflow policy says (G7).
func (s *specSub) act(m *specMessage, a policy.Action) error {
	switch a.Kind() {
	case policy.KindBlock:
		s.line = append(s.line, &specWaiter{message: m, plan: a, since: s.topic.now, until: s.until(a)})
		return errWaits
	case policy.KindDeadLetter:
		if !s.put(m, herald.Overflow, herald.ErrFull, s.topic.now) {
			s.count.Refused++ // what nobody keeps is in Publish's error
			return herald.ErrFull
		}
		s.count.DeadBy.Overflow++
		s.count.Accepted++
	case policy.KindDropNewest:
		s.count.Accepted++
		s.count.DroppedBy.Newest++
	case policy.KindDropOldest:
		s.count.DroppedBy.Oldest++
		victim := s.victim()
		if victim.priority > m.priority {
			s.count.Accepted++ // the incoming one is lower still
			return nil
		}
		s.remove(victim)
		s.accept(m)
	case policy.KindDisconnect:
		s.close()
		s.disconnected = true
		s.count.Refused++
		return herald.ErrDisconnected
	default:
		s.count.Refused++
		return herald.ErrFull
	}
	return nil
}

// victim is the oldest of the lowest priority; what is in flight is never evicted (G7).
func (s *specSub) victim() *specMessage {
	return leastOf(s.held, (*specMessage).isWaiting, func(a, b *specMessage) int {
		return cmp.Or(cmp.Compare(a.priority, b.priority), a.born-b.born)
	})
}

// superseded is the queued message whose place m takes under WithLatest; a delayed message takes none.
func (s *specSub) superseded(m *specMessage) *specMessage {
	if !s.latest || m.key == "" || m.delay {
		return nil
	}
	return leastOf(s.held, func(o *specMessage) bool { return o.isQueued(s.topic.now) && o.key == m.key },
		func(a, b *specMessage) int { return b.place.compare(a.place) })
}

// next is the message that is handed out next, or nil. Of those ready it has the highest priority, then the lowest place
// (G11, G12), but what waits in place for its next attempt has its worker already (G22).
func (s *specSub) next() *specMessage {
	if s.count.Paused {
		return nil
	}
	resumes := func(m *specMessage) bool { return m.state == parked && m.due <= s.topic.now }
	byDue := func(a, b *specMessage) int { return cmp.Or(cmp.Compare(a.due, b.due), a.born-b.born) }
	if m := leastOf(s.held, resumes, byDue); m != nil {
		return m
	}
	if s.inFlight() >= s.concurrency {
		return nil
	}
	return leastOf(s.held, s.ready, func(a, b *specMessage) int {
		return cmp.Or(cmp.Compare(b.priority, a.priority), a.place.compare(b.place))
	})
}

// ready: due, and not behind an earlier message of its key, which may be in flight or wait for a retry (G14).
func (s *specSub) ready(m *specMessage) bool {
	before := func(o *specMessage) bool { return o.key == m.key && o.place.compare(m.place) < 0 }
	return m.isQueued(s.topic.now) && (m.key == "" || !slices.ContainsFunc(s.held, before))
}

// settle ends the attempt on m, at some time, with what its handler said (G16).
func (s *specSub) settle(m *specMessage, o outcome, at time.Duration) {
	m.lease = 0
	switch o.kind {
	case bySuccess:
		s.remove(m)
		s.count.Delivered++
		return
	case byStop, byCancel: // back in its place, no attempt is used
		m.state = waits
		m.attempt--
		return
	}
	m.err = o.err()
	delay, again, broken := s.retry(m, o)
	switch {
	case o.kind == byPermanent:
		s.end(m, herald.Permanent, at)
	case broken:
		s.end(m, herald.PolicyFailed, at)
	case !again:
		s.end(m, herald.RetriesExhausted, at)
	default:
		s.count.Retried++
		m.due, m.state = at+delay, waits // G20
		if !s.aside && (s.concurrency == 1 || m.key == "") {
			m.state = parked // G22: in place
		}
	}
}

// end is the end of an accepted message as a dead letter.
func (s *specSub) end(m *specMessage, r herald.Reason, at time.Duration) {
	s.remove(m)
	s.die(m, r, m.err, at)
}

// die counts a dead message, whether or not somebody keeps its letter (G28).
func (s *specSub) die(m *specMessage, r herald.Reason, err error, at time.Duration) {
	s.put(m, r, err, at)
	*deadBy(&s.count, r)++
}

// What follows asks simple questions.

func (m *specMessage) isWaiting() bool                 { return m.state == waits }
func (m *specMessage) isQueued(now time.Duration) bool { return m.state == waits && m.due <= now }

// waiting counts what's queued or delayed.
func (s *specSub) waiting() int { return countOf(s.held, (*specMessage).isWaiting) }

// inFlight counts what a handler or a lease has, or waits in place.
func (s *specSub) inFlight() int { return len(s.held) - s.waiting() }

func (s *specSub) remove(m *specMessage) {
	m.state = over
	s.held = slices.DeleteFunc(s.held, func(o *specMessage) bool { return o == m })
}

func allOf[E any](of []E, match func(E) bool) bool { return countOf(of, match) == len(of) }

func countOf[E any](all []E, match func(E) bool) (n int) {
	for _, e := range all {
		if match(e) {
			n++
		}
	}
	return n
}

// least returns the first, in an order, of those that match, or zero.
func leastOf[E any](all []E, match func(E) bool, order func(a, b E) int) (least E) {
	found := false
	for _, e := range all {
		if match(e) && (!found || order(e, least) < 0) {
			least, found = e, true
		}
	}
	return least
}

func deadBy(c *herald.SubStats, r herald.Reason) *uint64 {
	d := &c.DeadBy
	return [...]*uint64{
		herald.RetriesExhausted: &d.RetriesExhausted, herald.Overflow: &d.Overflow, herald.Expired: &d.Expired,
		herald.Permanent: &d.Permanent, herald.FilterFailed: &d.FilterFailed, herald.PolicyFailed: &d.PolicyFailed,
	}[r]
}

// TestProperty_Steps does at random what can be done with one goroutine.
func TestProperty_G4_G5_G6_G7_G8_G11_G12_G13_G14_G16_G22_G23_G24_G26_G28_G29_Steps(t *testing.T) {
	checkProperty(t, 300, 1, func(r *rapid.T) {
		rapid.SyncTest(r, func(r *rapid.T) {
			t := newTrial(r, nature{plain: rapid.Bool().Draw(r, "plain"), mortal: true, blocks: true})
			for range rapid.IntRange(1, 3).Draw(r, "subscriptions") {
				t.subscribe(t.drawOptions(r))
			}
			r.Repeat(map[string]func(*rapid.T){
				"publish": t.publish, "publish more": t.publish, "publish again": t.publish, "publish batch": t.publishBatch,
				"step": t.step, "step again": t.step, "step more": t.step, "receive": t.tryReceive, "wait to receive": t.receive,
				"settle": t.settle, "settle again": t.settle, "extend": t.extend, "replay": t.replay,
				"subscribe": t.subscribeOne, "close": t.closeOne, "pause": t.pause, "discard": t.discard, "time": t.idle,
				"": t.sometimes(t.compare),
			})
			t.wind()
		})
	})
}
