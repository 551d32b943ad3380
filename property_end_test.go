package herald_test

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/heraldbus/herald"
)

// nextEvent is when time will do something about m.
func (m *specMessage) nextEvent(now time.Duration) time.Duration {
	at := time.Duration(math.MaxInt64)
	consider := func(t time.Duration) {
		if t > now {
			at = min(at, t)
		}
	}
	if m.state == runs {
		consider(m.lease)
		return at
	}
	consider(m.due)
	consider(m.expires)
	return at
}

// quiet reports whether a subscription has nothing queued, delayed or in flight.
func (s *specSub) quiet() bool { return len(s.held) == 0 }

// close closes a topic and its subscriptions.
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
func (p *spec) drain(subs []*specSub, deadline time.Duration) (left []herald.SubStats) {
	for !allOf(subs, (*specSub).quiet) {
		e := p.soonest()
		if e.at > deadline {
			p.now = deadline
			break
		}
		p.happen(e)
	}
	for _, s := range subs {
		if stats := s.stats(); !s.quiet() {
			left = append(left, stats)
		}
	}
	return left
}

func (t *trial) checkDrain(err error, left []herald.SubStats) {
	d, _ := errors.AsType[*herald.DrainError](err)
	switch {
	case left == nil && err != nil:
		t.Errorf("Drain = %v, want nil", err)
	case left != nil && (d == nil || !errors.Is(err, errDeadline) || len(d.Left) != len(left)):
		t.Errorf("Drain = %v, want %v", err, left)
	case left != nil:
		for i := range left {
			t.sameStats("left by Drain", d.Left[i], left[i])
		}
	}
}

// wind closes the topic and lets everything come to its end (G32, G33).
func (t *trial) wind() {
	if err := t.topic.Close(); err != nil {
		t.Errorf("Close = %v", err)
	}
	t.spec.close()
	t.compare()
	if err := t.topic.Publish(context.Background(), 1); !errors.Is(err, herald.ErrClosed) {
		t.Errorf("Publish = %v", err)
	}
	if _, err := t.topic.Subscribe("late"); !errors.Is(err, herald.ErrClosed) {
		t.Errorf("Subscribe = %v", err)
	}
	wait := t.fraction()
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	t.checkDrain(t.topic.Drain(ctx), t.spec.drain(t.spec.closing, t.spec.now+wait))
	t.compare()
	for _, d := range t.out {
		d.sub.spec.notice()
		if d.valid() {
			d.settle(t, 2, outcome{})
		}
	}
	for _, u := range t.subs {
		u.Resume()
		u.spec.resume()
		u.finish(t)
	}
	t.compare()
	t.checkDrain(t.topic.Drain(context.Background()), nil)
}

// finish steps until all is delivered or dead.
func (u *trialSub) finish(t *trial) {
	for u.spec.notice(); !u.spec.quiet(); u.spec.notice() {
		if t.stepWith(u, outcome{}, func() {}) {
			continue
		}
		at := time.Duration(math.MaxInt64)
		for _, m := range u.spec.held {
			at = min(at, m.nextEvent(t.spec.now))
		}
		if at == math.MaxInt64 {
			t.Fatalf("%q never ends: %+v", u.Name(), u.Stats())
		}
		t.sleep(at - t.spec.now)
	}
}
