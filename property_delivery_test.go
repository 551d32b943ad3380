package herald_test

import (
	"context"
	"errors"
	"time"

	"pgregory.net/rapid"

	"github.com/heraldbus/herald"
)

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
	d, how := t.drawDelivery(r), rapid.IntRange(0, 1).Draw(r, "how")
	d.settle(t, how, drawOutcome(r, bySuccess, bySuccess, byError, byPermanent, byRetryAfter, byStop, byLeaving))
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
	d.look()
}

// look lets the subscription notice what else time has ended, unless d was settled before.
func (d *trialDelivery) look() {
	if !d.settled {
		d.sub.spec.notice()
	}
}

// drawDelivery draws one of the latest deliveries, settled or not.
func (t *trial) drawDelivery(r *rapid.T) *trialDelivery {
	return t.out[rapid.IntRange(max(0, len(t.out)-3), len(t.out)-1).Draw(r, "delivery")]
}

// valid reports whether somebody may settle it.
func (d *trialDelivery) valid() bool {
	m := d.message
	return !d.settled && m.state == runs && m.handed == d.handed && m.lease > d.sub.spec.topic.now
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
	valid := d.valid()
	if valid {
		d.sub.spec.settle(d.message, o, t.spec.now)
	}
	d.look()
	d.settled = d.settled || valid
}
