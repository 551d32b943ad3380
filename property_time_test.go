package herald_test

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// The second half of the model: what happens to messages and publishers as time goes by.

// notice is what a pick, an offer that finds the queue full, Stats and an idle Run begin with: what is not in a handler's
// hands expires where its lifetime is over (G23), and leases that ended are failed attempts (G26). Which comes first is
// not promised; it shows only where both were overdue and a publisher waits for the room.
func (s *specSub) notice() {
	s.expire()
	s.admit()
	for _, m := range slices.Clone(s.held) {
		if m.state == runs && m.lease != 0 && m.lease <= s.topic.now {
			s.settle(m, outcome{kind: byLeaseEnd}, m.lease)
		}
	}
	s.expire()
}

func (s *specSub) expire() {
	for _, m := range slices.Clone(s.held) {
		if m.state != runs && m.expires != 0 && m.expires <= s.topic.now {
			s.end(m, herald.Expired, m.expires)
		}
	}
}

// take hands m out.
func (s *specSub) take(m *specMessage) {
	m.state, m.started = runs, s.topic.now
	m.attempt++
	m.handed++
}

// A specPublish is one Publish: what each subscription answered.
type specPublish struct {
	seq      uint64
	deadline time.Duration // of its context; 0: none
	refused  map[string]error
	open     int // subscriptions that have not answered
	returned time.Duration
}

// A specWaiter is a message that a Publish left in line for room.
type specWaiter struct {
	message *specMessage
	publish *specPublish
	plan    policy.Action // the Block it waits under
	since   time.Duration
	until   time.Duration // 0: without end
}

// publish offers a message to every open subscription before it waits for any (G3, G8).
func (p *spec) publish(m specMessage, deadline time.Duration) *specPublish {
	p.seq++
	pub := &specPublish{seq: p.seq, deadline: deadline, refused: map[string]error{}, returned: p.now}
	for _, s := range p.subs {
		if s.count.Closed {
			continue
		}
		copied := m
		copied.seq = p.seq
		err := s.offer(&copied)
		if err == errWaits {
			s.line[len(s.line)-1].publish = pub
			pub.open++
			continue
		}
		pub.answer(s, err)
		s.work()
	}
	return pub
}

func (p *specPublish) answer(s *specSub, err error) {
	s.count.Offered++
	if err != nil {
		p.refused[s.name] = err
	}
	p.returned = s.topic.now
}

// admit lets those in who wait, first come, first served, while there's room (G9).
func (s *specSub) admit() {
	for len(s.line) > 0 && s.waiting() < s.capacity {
		w := s.line[0]
		s.leave(w)
		s.accept(w.message)
		w.publish.answer(s, nil)
		if len(s.line) > 0 {
			s.expire() // it may have expired while it waited
		}
	}
}

func (s *specSub) leave(w *specWaiter) {
	s.line = slices.DeleteFunc(s.line, func(o *specWaiter) bool { return o == w })
	w.publish.open--
}

// lapse: the time of a Block is up, so that the policy acts after all, by Else, by being asked again, or by Reject (G7).
func (s *specSub) lapse(w *specWaiter) {
	s.notice()
	s.admit()
	if !slices.Contains(s.line, w) {
		return
	}
	a, ok := w.plan.Then()
	var err error
	if !ok {
		a, err = policy.Reject(), nil
		if s.custom {
			a, err = s.ask(w.message, s.topic.now-w.since)
		}
	}
	if err == nil && a.Kind() == policy.KindBlock {
		w.plan, w.until = a, s.until(a)
		return
	}
	s.leave(w)
	if err != nil {
		s.die(w.message, herald.PolicyFailed, err, s.topic.now)
		s.count.Accepted++
		w.publish.answer(s, nil)
		return
	}
	w.publish.answer(s, s.act(w.message, a))
}

// until is when the time of a Block that begins now is up.
func (s *specSub) until(a policy.Action) time.Duration {
	if a.Max() == 0 {
		return 0
	}
	return s.topic.now + a.Max()
}

// giveUp: the publisher's context ended. The message is not delivered later (G8).
func (s *specSub) giveUp(w *specWaiter) {
	s.leave(w)
	s.count.Refused++
	w.publish.answer(s, errDeadline)
}

// close: no offers from now on; those who wait were not offered, and that's no error (G8, G32).
func (s *specSub) close() {
	s.count.Closed = true
	for _, w := range slices.Clone(s.line) {
		s.leave(w)
		w.publish.returned = s.topic.now
	}
}

// An event is something that time brings about.
type specEvent struct {
	at   time.Duration
	what func()
}

// pass lets time go on, event by event.
func (p *spec) pass(to time.Duration) {
	for e := p.soonest(); e.at <= to; e = p.soonest() {
		p.happen(e)
	}
	p.now = to
}

// happen moves on to an event. A moment may be that of several subscriptions.
func (p *spec) happen(e specEvent) {
	p.now = e.at
	e.what()
	for _, s := range p.subs {
		if len(s.line) > 0 {
			s.notice()
		}
		s.work()
	}
}

// finish lets time go on until a Publish returns.
func (p *spec) finish(pub *specPublish) {
	for pub.open > 0 {
		p.happen(p.soonest())
	}
}

func (p *spec) soonest() specEvent {
	soonest := specEvent{at: math.MaxInt64}
	for _, s := range p.subs {
		for _, e := range s.events() {
			if e.at != 0 && e.at < soonest.at {
				soonest = e
			}
		}
	}
	return soonest
}

// events are those of one subscription, in no order; a time of 0 is never.
func (s *specSub) events() (es []specEvent) {
	for _, w := range s.line {
		es = append(es,
			specEvent{w.until, func() { s.lapse(w) }},
			specEvent{w.publish.deadline, func() { s.giveUp(w) }})
	}
	for _, m := range s.held {
		if len(s.line) > 0 { // who waits sees what expires before it
			es = append(es, specEvent{m.nextEvent(s.topic.now), s.notice})
		}
	}
	if s.run != nil {
		es = append(es, s.run.events()...)
	}
	return es
}

// replay sends a dead letter home, once; neither filter nor policy are asked (G29). Its lifetime is behind it (G23).
func (s *specSub) replay(l *specLetter) error {
	switch s.notice(); {
	case l.replayed:
		return herald.ErrSettled
	case s.count.Closed:
		return herald.ErrClosed
	case s.crowded():
		return herald.ErrFull
	}
	l.replayed = true
	s.count.Replayed++
	m := l.specMessage
	m.state, m.attempt, m.handed, m.err, m.expires, m.due, m.delay = waits, 0, 0, nil, 0, 0, false
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
