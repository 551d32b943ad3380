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
	seam.NextEvent = func(sub any) (time.Duration, bool) { return sub.(receiver).base().untilNext() }
}

// anyView, anyTopic and receiver are View, Topic and Subscription of any T.
type (
	anyView  interface{ setSource(seam.Source) }
	anyTopic interface {
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

func (v *View[T]) setSource(src seam.Source) { v.source = src }

func (t *Topic[T]) setKeeper(k seam.Keeper) { t.open().keeper = k }

func (t *Topic[T]) attach(r receiver) error { return t.open().attach(r) }

func (t *Topic[T]) detach(r receiver) { t.open().remove(r) }

func (s *Subscription[T]) base() *core { return &s.core }

func (s *Subscription[T]) offerAny(e *envelope, v any, p **publishing) (outcome, error) {
	payload, _ := v.(T) // a nil interface value stays one
	return s.offer(e, &payload, p)
}

// untilNext is how long until the core has something to do by itself.
func (c *core) untilNext() (time.Duration, bool) {
	c.mu.Lock()
	defer c.unlock()
	next := c.lane.NextEvent()
	if next == 0 {
		return 0, false
	}
	return max(0, time.Duration(next-clock())), true
}
