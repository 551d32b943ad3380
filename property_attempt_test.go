package herald_test

import (
	"cmp"
	"slices"
	"time"

	"github.com/heraldbus/herald"
)

// take hands m out.
func (s *specSub) take(m *specMessage) {
	m.state, m.started = runs, s.topic.now
	m.attempt++ // G20
	m.handed++
	s.topic.sights.see("an attempt")
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
		m.due, m.state = at+delay, waits // G20; aside
		if !s.aside && (s.concurrency == 1 || m.key == "") {
			s.fails++
			m.state, m.failed = parked, s.fails // G22: in place
		}
		s.topic.sights.see([...]string{waits: "a retry aside", parked: "a retry in place"}[m.state])
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
	s.topic.sights.see("dead: " + r.String())
}

// notice is what a pick, an offer that finds the queue full, Stats, Discard and an idle Run begin with: what is not in a
// handler's hands expires where its lifetime is over (G23), and leases that ended are failed attempts (G26). Which comes
// first is not promised; it shows only where both were overdue and a publisher waits for the room.
func (s *specSub) notice() {
	s.expire()
	s.admit()
	lost := func(m *specMessage) bool { return m.state == runs && m.lease != 0 && m.lease <= s.topic.now }
	byEnd := func(a, b *specMessage) int { return cmp.Or(cmp.Compare(a.lease, b.lease), a.born-b.born) }
	for m := leastOf(s.held, lost, byEnd); m != nil; m = leastOf(s.held, lost, byEnd) {
		s.settle(m, outcome{kind: byLeaseEnd}, m.lease)
		s.topic.sights.see("a lease that ran out")
	}
	s.expire()
}

func (s *specSub) expire() {
	for _, m := range slices.Clone(s.held) {
		if m.state != runs && m.expires != 0 && m.expires <= s.topic.now {
			if m.state == parked {
				s.topic.sights.see("expired between attempts")
			}
			s.end(m, herald.Expired, m.expires)
		}
	}
}

// replay sends a dead letter home, once. Neither filter nor policy are asked, and its lifetime is behind it (G23, G29).
func (s *specSub) replay(l *specLetter) error {
	switch {
	case l.replayed:
		s.topic.sights.see("a letter replayed twice")
		return herald.ErrSettled
	case s.count.Closed:
		s.topic.sights.see("a letter replayed to a closed subscription")
		return herald.ErrClosed
	}
	if s.notice(); s.crowded() {
		s.topic.sights.see("a letter replayed to a full subscription")
		return herald.ErrFull
	}
	l.replayed = true
	s.count.Replayed++
	m := l.specMessage
	m.state, m.attempt, m.handed, m.err = waits, 0, 0, nil
	m.expires, m.due, m.delayed = 0, 0, false
	m.replays++
	s.accept(&m)
	s.work()
	return nil
}

// discard drops what is queued or delayed.
func (s *specSub) discard() (n int) {
	s.notice()
	for _, m := range slices.Clone(s.held) {
		if m.isWaiting() {
			s.remove(m)
			n++
		}
	}
	s.count.Discarded += uint64(n)
	s.work()
	return n
}

// resume ends a pause.
func (s *specSub) resume() {
	s.count.Paused = false
	s.work()
}

// attach makes a consumer of somebody. What waited in place for its next attempt when a Run ended does so again.
func (s *specSub) attach() {
	for _, m := range s.held {
		if m.suspended {
			m.suspended, m.state = false, parked
			s.topic.sights.see("a retry that outlasts its Run")
		}
	}
}
