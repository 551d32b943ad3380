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
// there is one rule. The rules are docs/GUARANTEES.md as code, in the simplest form there is, and cite what they are from.
// The tests named TestProperty do at random what users do, to a topic and to this model, and compare the two.
//
//	property_test.go            the model: who accepts a message, and which one is handed out next
//	property_attempt_test.go    how attempts and messages end
//	property_time_test.go       publishers that wait, and what time brings
//	property_message_test.go    a message, and questions about it
//	property_user_test.go       filters, policies, stores and handlers
//	property_draw_test.go       which options and messages are drawn
//
//	property_trial_test.go      the model beside a topic
//	property_publish_test.go    what publishers and owners do to both
//	property_consume_test.go    what consumers do to both
//	property_delivery_test.go   what becomes of what they received
//	property_close_test.go      the end
//	property_compare_test.go    the comparison
//	property_run_test.go        Run, in the model; its test
//	property_runner_test.go     what is done to subscriptions that run
//
//	property_order_test.go      order, against a slice that is sorted
//	property_producer_test.go   order and conservation, with goroutines that run freely
//	property_pair_test.go       one story told in two ways that must come to the same
//	property_story_test.go      such a story
//	property_check_test.go      how often all that is checked

// A spec is one topic.
type spec struct {
	begun   time.Time
	now     time.Duration // since then
	seq     uint64        // of the latest message
	ttl     time.Duration // WithDefaultTTL; 0: none
	closed  bool
	subs    []*specSub    // all there ever were, in the order of their creation
	closing []*specSub    // closed with the topic
	fulls   []policy.Full // what policies of the user's own were told
	sights  sights        // rare things that happened
}

// A specSub is one subscription.
type specSub struct {
	specOptions
	topic        *spec
	held         []*specMessage  // queued, delayed and in flight
	line         []*specWaiter   // publishers that wait for room, first come first
	count        herald.SubStats // its counters; the levels are made from held
	births       int             // messages accepted
	fails        int             // attempts failed in place
	letters      []*specLetter   // handed to DeadLetterTo
	disconnected bool            // closed by policy.Disconnect

	run     *specRun        // the Run under way; nil: none
	log     []specAttempt   // of Run, since the latest comparison
	returns []specReturn    // likewise
	starts  []time.Duration // of all attempts of Run
}

// errWaits is the answer to an offer that has to wait for room.
var errWaits = errors.New("waits")

// offer is what a subscription does about a message. nil: it accepted or filtered it, errWaits: it's in line for room,
// anything else is a refusal. A panic in the user's code is the end of the message, and nobody else's business (G15).
func (s *specSub) offer(m *specMessage) error {
	switch keep, err := s.see(m); {
	case err != nil:
		s.count.Accepted++
		s.die(m, herald.FilterFailed, err, s.topic.now)
		return nil
	case !keep:
		s.count.Filtered++
		return nil
	}
	if s.maxAge > 0 && (m.expires == 0 || m.expires > m.published+s.maxAge) {
		m.expires = m.published + s.maxAge
	}
	if s.crowded() || s.latest {
		s.notice() // G23: what has expired takes no room, and can't be superseded
	}
	if s.superseded(m) != nil || !s.crowded() {
		s.accept(m)
		return nil
	}
	a, err := s.ask(m, 0)
	if err != nil {
		s.count.Accepted++
		s.die(m, herald.PolicyFailed, err, s.topic.now)
		return nil
	}
	return s.act(m, a)
}

// crowded: the overflow policy acts if and only if what is queued or delayed fills the capacity, or others wait (G6).
func (s *specSub) crowded() bool { return s.waiting() >= s.capacity || len(s.line) > 0 }

// accept takes a message in, with a place as of when it's due (G12, G24), or that of the message it supersedes.
func (s *specSub) accept(m *specMessage) {
	s.births++
	s.count.Accepted++
	m.accepted, m.born = s.topic.now, s.births
	m.due = max(m.due, s.topic.now)
	m.place = specPlace{m.due, m.born}
	if old := s.superseded(m); old != nil {
		s.count.DroppedBy.Superseded++
		if old.seq > m.seq {
			s.topic.sights.see("a replayed message superseded by a newer one")
			return
		}
		s.remove(old)
		m.place = old.place
	}
	s.held = append(s.held, m)
}

// superseded is the queued message that gives its place to m, under WithLatest. A delayed message takes none.
func (s *specSub) superseded(m *specMessage) *specMessage {
	if !s.latest || m.key == "" || m.delayed {
		return nil
	}
	return leastOf(s.held, func(o *specMessage) bool { return o.isQueued(s.topic.now) && o.key == m.key },
		func(a, b *specMessage) int { return b.place.compare(a.place) })
}

// act does what the overflow policy says (G7).
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
		s.count.Accepted++
		s.count.DeadBy.Overflow++
	case policy.KindDropNewest:
		s.count.Accepted++
		s.count.DroppedBy.Newest++
	case policy.KindDropOldest:
		s.count.DroppedBy.Oldest++
		victim := s.victim()
		if victim.priority > m.priority {
			s.count.Accepted++ // and dropped: it's lower still
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

// victim is the oldest of the lowest priority of what is not in flight (G7).
func (s *specSub) victim() *specMessage {
	return leastOf(s.held, (*specMessage).isWaiting, func(a, b *specMessage) int {
		return cmp.Or(cmp.Compare(a.priority, b.priority), a.born-b.born)
	})
}

// next is the message that is handed out next, or nil: of those ready the highest priority, then the lowest place (G11,
// G12). But what waits in place for its next attempt has its worker already (G22); of several the first due, then the first
// to fail.
func (s *specSub) next() *specMessage {
	if s.count.Paused {
		return nil
	}
	if m := leastOf(s.held, s.resumes, func(a, b *specMessage) int {
		return cmp.Or(cmp.Compare(a.due, b.due), a.failed-b.failed)
	}); m != nil {
		return m
	}
	if s.inFlight() >= s.concurrency {
		return nil
	}
	return leastOf(s.held, s.ready, func(a, b *specMessage) int {
		return cmp.Or(cmp.Compare(b.priority, a.priority), a.place.compare(b.place))
	})
}

func (s *specSub) resumes(m *specMessage) bool { return m.state == parked && m.due <= s.topic.now }

// ready: due, and not behind an earlier message of its key, which may be in flight or wait for a retry (G14).
func (s *specSub) ready(m *specMessage) bool {
	if !m.isQueued(s.topic.now) {
		return false
	}
	before := func(o *specMessage) bool { return o.key == m.key && o.place.compare(m.place) < 0 }
	if m.key != "" && slices.ContainsFunc(s.held, before) {
		s.topic.sights.see("a message behind another of its key")
		return false
	}
	return true
}

// TestPropertySteps does at random what can be done on one goroutine: G3 to G8, G11 to G18, G20, G22 to G24, G26 to G29,
// G32, G33.
func TestPropertySteps(t *testing.T) {
	seen := sights{}
	sequences := checkProperty(t, 400, 1, func(r *rapid.T) {
		rapid.SyncTest(r, func(r *rapid.T) {
			t := newTrial(r, seen, nature{plain: rapid.Bool().Draw(r, "plain"), mortal: true, blocks: true})
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
	seen.check(t, sequences, append(commonSights, "a delivery settled too late", "a delivery settled twice")...)
}
