package herald_test

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/heraldbus/herald"
)

// checkDrain fails unless a Drain with that error has left these subscriptions, and says in which state.
func (t *trial) checkDrain(err error, left []*specSub) {
	d, _ := errors.AsType[*herald.DrainError](err)
	switch {
	case left == nil && err != nil:
		t.Errorf("Drain = %v, want nil", err)
	case left != nil && (d == nil || !errors.Is(err, errDeadline) || len(d.Left) != len(left)):
		t.Errorf("Drain = %v, want %d left", err, len(left))
	case left != nil:
		for i, s := range left {
			s.same(t, "left by Drain", d.Left[i])
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
			d.settle(t, 0, outcome{})
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
