package herald_test

import (
	"math"
	"slices"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

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
		s.topic.sights.see("a publisher admitted")
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
			s.topic.sights.see("a policy asked again")
			a, err = s.ask(w.message, s.topic.now-w.since)
		}
	}
	if err == nil && a.Kind() == policy.KindBlock {
		w.plan, w.until = a, s.until(a)
		return
	}
	s.leave(w)
	s.topic.sights.see("a Block whose time is up")
	if err != nil {
		s.count.Accepted++
		s.die(w.message, herald.PolicyFailed, err, s.topic.now)
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
	s.topic.sights.see("a publisher that gave up")
}

// close: no offers from now on; those who wait were not offered, and that's no error (G8, G32).
func (s *specSub) close() {
	s.count.Closed = true
	for _, w := range slices.Clone(s.line) {
		s.leave(w)
		w.publish.returned = s.topic.now
		s.topic.sights.see("a publisher released by Close")
	}
}

// close closes a topic and its subscriptions (G33).
func (p *spec) close() {
	p.closed = true
	for _, s := range p.subs {
		if !s.count.Closed {
			s.close()
			s.work()
			p.closing = append(p.closing, s)
		}
	}
}

// drain waits until closed subscriptions are quiet, or until a deadline, and returns what is left then (G33).
func (p *spec) drain(subs []*specSub, deadline time.Duration) (left []*specSub) {
	for !allOf(subs, (*specSub).quiet) {
		e := p.soonest()
		if e.at > deadline {
			p.now = deadline
			break
		}
		p.happen(e)
	}
	for _, s := range subs {
		if s.notice(); !s.quiet() {
			left = append(left, s)
		}
	}
	return left
}

// A specEvent is something that time brings about.
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
