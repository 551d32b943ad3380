package herald_test

import (
	"context"
	"errors"
	"runtime"
	"time"

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
			e.message.published = t.spec.now
			if t.spec.mayWait() { // for itself
				return
			}
			t.publishEnvelope(e)
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

// A trialDelivery is a message that somebody received.
type trialDelivery struct {
	*herald.Delivery[int]
	sub     *trialSub
	message *specMessage
	handed  int // that of the message when it was received
	settled bool
}

func (t *trial) received(u *trialSub, d *herald.Delivery[int], m *specMessage) {
	u.spec.take(m)
	m.lease = t.spec.now + u.spec.specOptions.lease
	t.same("received", d.Message, m)
	t.out = append(t.out, &trialDelivery{Delivery: d, sub: u, message: m, handed: m.handed})
}

// tryReceive receives a message, if one is ready (G27).
func (t *trial) tryReceive(r *rapid.T) {
	t.before(r)
	u := t.drawSub(r, nil)
	if u == nil {
		return
	}
	u.spec.notice()
	u.spec.attach()
	next := u.spec.next()
	d, ok := u.TryReceive()
	switch {
	case ok != (next != nil):
		t.Errorf("TryReceive of %q: %v, want %v", u.Name(), ok, next != nil)
	case ok:
		t.received(u, d, next)
	}
}

// receive waits for a message until its context ends. Nobody has to wake it when it is time for one (G9, G26).
func (t *trial) receive(r *rapid.T) {
	u := t.drawSub(r, nil)
	if u == nil {
		return
	}
	wait := t.unit(rapid.IntRange(0, 3).Draw(r, "wait")) + t.fraction()
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	d, err := u.Receive(ctx)
	next, want := u.spec.receive(t.spec.now + wait)
	switch {
	case !errors.Is(err, want) || (err == nil) != (next != nil):
		t.Errorf("Receive of %q: %v, want %v", u.Name(), err, want)
	case err == nil:
		t.received(u, d, next)
	}
}

// receive waits in the model.
func (s *specSub) receive(deadline time.Duration) (*specMessage, error) {
	s.attach()
	for {
		s.notice()
		switch next := s.next(); {
		case s.count.Closed && len(s.held) == 0:
			return nil, errIf(s.disconnected, herald.ErrDisconnected, herald.ErrClosed)
		case next != nil:
			return next, nil
		}
		at := deadline
		for _, m := range s.held {
			at = min(at, m.nextEvent(s.topic.now))
		}
		s.topic.pass(at)
		if at == deadline {
			return nil, errDeadline
		}
	}
}

// settle settles a delivery, or tries to do so again or too late (G26).
func (t *trial) settle(r *rapid.T) {
	t.before(r)
	if len(t.out) == 0 {
		return
	}
	d := t.drawDelivery(r)
	d.settle(t, rapid.IntRange(0, 1).Draw(r, "how"), drawOutcome(r, bySuccess, bySuccess, byError, byPermanent, byRetryAfter, byStop, byLeaving))
}

// extend never shortens a lease (G27).
func (t *trial) extend(r *rapid.T) {
	t.before(r)
	if len(t.out) == 0 {
		return
	}
	d, by := t.drawDelivery(r), t.unit(rapid.IntRange(1, 4).Draw(r, "by"))
	if err := d.Extend(by); !errors.Is(err, d.want()) {
		t.Errorf("Extend of %d by %q: %v, want %v", d.Seq, d.sub.Name(), err, d.want())
	}
	if d.valid() {
		d.message.lease = max(d.message.lease, t.spec.now+by)
	}
}

// drawDelivery draws one of the latest deliveries, settled or not.
func (t *trial) drawDelivery(r *rapid.T) *trialDelivery {
	d := t.out[rapid.IntRange(max(0, len(t.out)-3), len(t.out)-1).Draw(r, "delivery")]
	d.sub.spec.notice()
	return d
}

// valid reports whether somebody may settle it.
func (d *trialDelivery) valid() bool {
	return !d.settled && d.message.state == runs && d.message.handed == d.handed
}

func (d *trialDelivery) want() error {
	switch {
	case d.settled:
		d.sub.spec.topic.sights.see("a delivery settled twice")
		return herald.ErrSettled
	case !d.valid():
		d.sub.spec.topic.sights.see("a delivery settled too late")
		return herald.ErrLeaseLost
	}
	return nil
}

// settle says what became of the message; where it goes back, in one of two ways.
func (d *trialDelivery) settle(t *trial, how int, o outcome) {
	var err error
	switch {
	case o.kind == bySuccess:
		err = d.Ack()
	case o.kind == byStop && how == 0:
		err = d.Release()
	default:
		err = d.Nack(o.error())
	}
	if want := d.want(); !errors.Is(err, want) || (err == nil) != (want == nil) {
		t.Errorf("outcome %d of a delivery of %d by %q: %v, want %v", o.kind, d.Seq, d.sub.Name(), err, want)
	}
	if d.valid() {
		d.settled = true
		d.sub.spec.settle(d.message, o, t.spec.now)
	}
}
