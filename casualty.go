package herald

import (
	"context"

	"github.com/heraldbus/herald/internal/lane"
)

// casualties are what time has ended while a core's mutex was held, for
// whoever noticed to deal with once it's free: messages that expired, and
// attempts whose lease ran out.
type casualties struct {
	expired *item   // a list
	overdue []*item // still among the running ones
}

func (k *casualties) none() bool { return k.expired == nil && len(k.overdue) == 0 }

// poll lets the lane catch up with the clock. Where nothing waits for a time
// it costs nothing, not even a reading of the clock.
func (c *core) poll() (k casualties) {
	next := c.lane.NextEvent()
	if next == 0 {
		return k
	}
	now := clock()
	if next > now {
		return k
	}
	expired := &k.expired
	for p, ev := c.lane.Poll(now); p != nil; p, ev = c.lane.Poll(now) {
		it := itemOf(p)
		if ev == lane.Expired {
			c.leaving++
			*expired, expired = it, &it.next
			continue
		}
		it.lease, it.over = 0, p.Due()
		c.consumer.pulls--
		k.overdue = append(k.overdue, it)
	}
	return k
}

// tend deals with casualties. mu is not held.
func (c *core) tend(k casualties) {
	defer func() {
		if !k.none() { // user code called Goexit: the rest must not be lost
			c.tend(k)
		}
	}()
	for it := k.expired; it != nil; it = k.expired {
		k.expired, it.next = it.next, nil
		c.bury(it, Expired, it.err)
	}
	for len(k.overdue) > 0 {
		it := k.overdue[0]
		k.overdue = k.overdue[1:]
		c.settle(context.Background(), it, ErrLeaseLost)
	}
}

// sweep is poll and tend until there's nothing left, with mu held before and
// after, but not all the time between: what the caller knew it must ask again.
func (c *core) sweep() {
	for k := c.poll(); !k.none(); k = c.poll() {
		c.unlock()
		c.tend(k)
		c.mu.Lock()
	}
}

// promote lets what has become due take its place, before what is accepted
// next takes one.
func (c *core) promote() {
	if !c.lane.Empty() && c.lane.NextDue() != 0 {
		c.lane.Promote(clock())
	}
}
