package herald_test

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/heraldbus/herald"
)

// A specMessage is one message in one subscription.
type specMessage struct {
	seq       uint64
	payload   int
	key       string
	priority  herald.Priority
	headers   herald.Headers
	published time.Duration
	delayed   bool          // by WithDelay
	expires   time.Duration // 0: never
	replays   int

	state    specState
	accepted time.Duration
	born     int           // number of its acceptance
	place    specPlace     // where it stands among its priority
	due      time.Duration // it may be handled from then on
	err      error         // of the last attempt
	failed   int           // number of that failure, among those in place

	attempt   int32
	handed    int           // how often it was handed out, attempts that don't count included
	started   time.Duration // the attempt under way
	lease     time.Duration // when its lease ends; 0: none
	act       specAct       // what its handler will do
	ends      time.Duration // and when that's over
	suspended bool          // was parked when its Run ended
}

type specState int

const (
	waits  specState = iota // queued if due, else delayed
	runs                    // in flight: a handler or a lease has it
	parked                  // in flight: between two attempts, in place
	over                    // met its end
)

// A specPlace is the number that acceptance gives a message, kept through retries, Stop and lease returns; a delayed one
// gets it when due. As a pair of time and acceptance it can be told from the start.
type specPlace struct {
	at   time.Duration
	born int
}

func (p specPlace) compare(o specPlace) int { return cmp.Or(cmp.Compare(p.at, o.at), p.born-o.born) }

func (m *specMessage) isWaiting() bool { return m.state == waits }

func (m *specMessage) isQueued(now time.Duration) bool { return m.state == waits && m.due <= now }

// nextEvent is when time will do something about m.
func (m *specMessage) nextEvent(now time.Duration) time.Duration {
	times := []time.Duration{m.due, m.expires}
	if m.state == runs {
		times = []time.Duration{m.lease}
	}
	at := time.Duration(math.MaxInt64)
	for _, t := range times {
		if t > now {
			at = min(at, t)
		}
	}
	return at
}

// waiting counts what is queued or delayed.
func (s *specSub) waiting() int { return countOf(s.held, (*specMessage).isWaiting) }

// inFlight counts what a handler or a lease has, or waits in place.
func (s *specSub) inFlight() int { return len(s.held) - s.waiting() }

// leased counts the deliveries that somebody has.
func (s *specSub) leased() int {
	return countOf(s.held, func(m *specMessage) bool { return m.state == runs && m.lease > 0 })
}

// quiet reports whether nothing is queued, delayed or in flight.
func (s *specSub) quiet() bool { return len(s.held) == 0 }

// remove is the end of m.
func (s *specSub) remove(m *specMessage) {
	m.state = over
	s.held = slices.DeleteFunc(s.held, func(o *specMessage) bool { return o == m })
}

// stats is the cut of a subscription (G4).
func (s *specSub) stats() herald.SubStats {
	s.notice()
	s.work()
	c := s.count
	for _, m := range s.held {
		switch {
		case !m.isWaiting():
			c.InFlight++
		case m.isQueued(s.topic.now):
			c.Queued++
		default:
			c.Delayed++
		}
		if m.state == runs {
			c.Running = append(c.Running, herald.Running{Seq: m.seq, Attempt: m.attempt, Since: s.topic.begun.Add(m.started)})
		}
	}
	slices.SortFunc(c.Running, byHandout)
	d := c.DeadBy
	c.Dead = d.RetriesExhausted + d.Overflow + d.Expired + d.Permanent + d.FilterFailed + d.PolicyFailed
	c.Dropped = c.DroppedBy.Oldest + c.DroppedBy.Newest + c.DroppedBy.Superseded
	c.Waiting = len(s.line)
	return c
}

func byHandout(a, b herald.Running) int {
	return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Attempt, b.Attempt), a.Since.Compare(b.Since))
}

func deadBy(c *herald.SubStats, r herald.Reason) *uint64 {
	d := &c.DeadBy
	return [...]*uint64{
		herald.RetriesExhausted: &d.RetriesExhausted, herald.Overflow: &d.Overflow, herald.Expired: &d.Expired,
		herald.Permanent: &d.Permanent, herald.FilterFailed: &d.FilterFailed, herald.PolicyFailed: &d.PolicyFailed,
	}[r]
}

func allOf[E any](of []E, match func(E) bool) bool { return countOf(of, match) == len(of) }

func countOf[E any](of []E, match func(E) bool) (n int) {
	for _, e := range of {
		if match(e) {
			n++
		}
	}
	return n
}

// leastOf returns the first, in an order, of those that match, or zero.
func leastOf[E any](of []E, match func(E) bool, order func(a, b E) int) (least E) {
	found := false
	for _, e := range of {
		if match(e) && (!found || order(e, least) < 0) {
			least, found = e, true
		}
	}
	return least
}
