package herald

import (
	"context"
	"time"

	"github.com/heraldbus/herald/internal/seam"
)

// What packages on top of this one reach through package seam.
func init() {
	seam.SetSource = func(view any, src seam.Source) { view.(anyView).setSource(src) }
	seam.SetKeeper = func(topic any, k seam.Keeper) { topic.(anyTopic).setKeeper(k) }
	seam.Attach = func(topic any, subs ...any) error { return topic.(anyTopic).attach(subs) }
	seam.Detach = func(topic, sub any) { topic.(anyTopic).detach(sub.(receiver)) }
	seam.Rest = func(sub any, wake chan struct{}) (time.Duration, bool, func()) {
		return sub.(receiver).base().restOn(wake)
	}
	seam.Step = func(ctx context.Context, sub, h any) (bool, bool, error) { return sub.(receiver).stepAny(ctx, h) }
	seam.Home = func(letter any) any { return letter.(anyLetter).wayHome() }
	seam.EndRun = func(sub any, err error) bool { return sub.(receiver).base().endRun(err) }
}

// anyView, anyLetter, anyTopic and receiver are View, DeadLetter, Topic and
// Subscription of any T.
type (
	anyLetter interface{ wayHome() any }
	anyView   interface{ setSource(seam.Source) }
	anyTopic  interface {
		setKeeper(seam.Keeper)
		attach(subs []any) error
		detach(receiver)
	}
	receiver interface {
		base() *core
		// offerAny is offer for a payload of another type that implements T.
		offerAny(e *envelope, v any, p **publishing) (outcome, error)
		// stepAny is Step with a Handler[T] that says whether it was stopped.
		stepAny(ctx context.Context, h any) (ok, stopped bool, err error)
	}
)

func (d DeadLetter[T]) wayHome() any {
	if d.ticket == nil {
		return nil
	}
	return d.ticket.home
}

func (v *View[T]) setSource(src seam.Source) { v.source = src }

func (t *Topic[T]) setKeeper(k seam.Keeper) { t.open().keeper = k }

func (t *Topic[T]) attach(subs []any) error {
	rs := make([]receiver, len(subs))
	for i, s := range subs {
		rs[i] = s.(receiver)
	}
	return t.open().attach(rs...)
}

func (t *Topic[T]) detach(r receiver) { t.open().remove(r) }

func (s *Subscription[T]) base() *core { return &s.core }

func (s *Subscription[T]) offerAny(e *envelope, v any, p **publishing) (outcome, error) {
	payload, _ := v.(T) // a nil interface value stays one
	return s.offer(e, &payload, p)
}

func (s *Subscription[T]) stepAny(ctx context.Context, h any) (ok, stopped bool, err error) {
	return s.core.step(ctx, s.caller(h.(Handler[T])))
}

// restOn is rest for a consumer that sleeps elsewhere, on wake; it minds the
// next event itself.
func (c *core) restOn(wake chan struct{}) (next time.Duration, ok bool, leave func()) {
	s := &sleeper{token: wake}
	leave = func() {
		c.mu.Lock()
		defer c.unlock()
		c.sleepers.take(s)
	}
	c.mu.Lock()
	defer c.unlock() // wakes s at once if a message is ready
	at := c.lane.NextEvent()
	c.sleepers.add(s, at)
	if at == 0 {
		return 0, false, leave
	}
	return max(0, time.Duration(at-clock())), true, leave
}

// endRun is end for somebody who isn't a worker. It reports whether a Run is
// the consumer.
func (c *core) endRun(cause error) bool {
	c.mu.Lock()
	defer c.unlock()
	if c.consumer.kind != runs {
		return false
	}
	c.endLocked(cause)
	return true
}
