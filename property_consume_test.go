package herald_test

import (
	"context"
	"errors"
	"runtime"

	"pgregory.net/rapid"

	"github.com/heraldbus/herald"
)

// What consumers do, to topic and model alike.

// step handles one message on this goroutine, if there's one ready and no delivery out (G13).
func (t *trial) step(r *rapid.T) {
	t.before(r)
	u := t.drawSub(r, nil)
	if u == nil {
		return
	}
	o := drawOutcome(r, bySuccess, bySuccess, byError, byError, byPanic, byPermanent, byRetryAfter, byStop, byGoexit, byCancel)
	inside := func() {}
	if o.kind != byGoexit { // elsewhere rapid's T is not ours
		inside = t.drawInside(r, u)
	}
	t.stepWith(u, o, inside)
}

// stepWith lets the handler do what's inside and then end as o says.
func (t *trial) stepWith(u *trialSub, o outcome, inside func()) bool {
	u.spec.notice()
	var next *specMessage
	busy := u.spec.leased() > 0
	if !busy {
		u.spec.attach()
		if next = u.spec.next(); next != nil {
			u.spec.take(next)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var ok bool
	var err error
	done := make(chan struct{})
	begin := func() {
		defer close(done)
		ok, err = u.Step(ctx, func(ctx context.Context, m herald.Message[int]) error {
			if next == nil {
				t.Errorf("Step of %q handles %d, want nothing", u.Name(), m.Seq)
				return nil
			}
			t.same("Step handles", m, next)
			inside()
			return o.end(cancel)
		})
	}
	if o.kind == byGoexit {
		go begin()
	} else {
		begin()
	}
	<-done
	if next != nil {
		u.spec.settle(next, o, t.spec.now)
	}
	want := errIf(busy, herald.ErrBusy, nil)
	switch {
	case next == nil:
	case o.kind == byStop:
		want = errUser
	case o.kind == byCancel:
		want = context.Canceled
	case o.kind == byGoexit:
		return true // and so did Step
	}
	if ok != (next != nil) || !errors.Is(err, want) || (err == nil) != (want == nil) {
		t.Errorf("Step of %q = %v, %v, want %v, %v", u.Name(), ok, err, next != nil, want)
	}
	return ok
}

// end ends a handler.
func (o outcome) end(cancel context.CancelFunc) error {
	switch o.kind {
	case byPanic:
		panic(errUser)
	case byGoexit:
		runtime.Goexit()
	case byCancel:
		cancel()
	}
	return o.error()
}

// drawInside draws what a handler of u does before it ends (G18).
func (t *trial) drawInside(r *rapid.T, u *trialSub) func() {
	switch rapid.IntRange(-8, 3).Draw(r, "inside") {
	case 0:
		return t.compare
	case 1:
		return func() { t.close(u) }
	case 2:
		e := t.drawEnvelope(r, 1)
		return func() {
			if !t.spec.mayWait() { // else it might be for this handler
				t.publishEnvelope(e)
			}
		}
	case 3:
		return func() { t.isBusy(u) }
	}
	return func() {}
}

// mayWait reports whether a publish now might wait.
func (p *spec) mayWait() bool {
	for _, s := range p.subs {
		if !s.count.Closed && s.mayBlock() && s.crowded() {
			return true
		}
	}
	return false
}

// isBusy fails unless every other consumer of u is turned away, its handler being under way (G13).
func (t *trial) isBusy(u *trialSub) {
	ctx := context.Background()
	nothing := func(context.Context, herald.Message[int]) error { return nil }
	if ok, err := u.Step(ctx, nothing); ok || !errors.Is(err, herald.ErrBusy) {
		t.Errorf("Step in Step = %v, %v", ok, err)
	}
	if err := u.Run(ctx, nothing); !errors.Is(err, herald.ErrBusy) {
		t.Errorf("Run in Step = %v", err)
	}
	if _, ok := u.TryReceive(); ok {
		t.Error("TryReceive in Step")
	}
	if _, err := u.Receive(ctx); !errors.Is(err, herald.ErrBusy) {
		t.Errorf("Receive in Step = %v", err)
	}
}
