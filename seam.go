package herald

import (
	"time"

	"github.com/heraldbus/herald/internal/seam"
)

// What packages on top of this one reach through package seam.
func init() {
	seam.SetSource = func(view any, src seam.Source) { view.(anyView).setSource(src) }
	seam.SetKeeper = func(topic any, k seam.Keeper) { topic.(anyTopic).setKeeper(k) }
	seam.Attach = func(topic, sub any) error { return topic.(anyTopic).attach(sub.(receiver)) }
	seam.Detach = func(topic, sub any) { topic.(anyTopic).detach(sub.(receiver)) }
	seam.Rest = func(sub any, wake chan struct{}) (time.Duration, bool, func()) {
		return sub.(receiver).base().restOn(wake)
	}
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
		attach(receiver) error
		detach(receiver)
	}
	receiver interface {
		base() *core
		// offerAny is offer for a payload of another type that implements T.
		offerAny(e *envelope, v any, p **publishing) (outcome, error)
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

func (t *Topic[T]) attach(r receiver) error { return t.open().attach(r) }

func (t *Topic[T]) detach(r receiver) { t.open().remove(r) }

func (s *Subscription[T]) base() *core { return &s.core }

func (s *Subscription[T]) offerAny(e *envelope, v any, p **publishing) (outcome, error) {
	payload, _ := v.(T) // a nil interface value stays one
	return s.offer(e, &payload, p)
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
