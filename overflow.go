package herald

import (
	"fmt"
	"time"

	"github.com/heraldbus/herald/policy"
)

// An outcome is what became of one offer of a message to a subscription.
type outcome uint8

const (
	taken   outcome = iota // accepted; whether it was kept is the policy's business
	absent                 // the subscription is closed: the message was not offered
	refused                // an error for the publisher
	waits                  // left in line for room
)

// offer takes it in, or lets the overflow policy decide. mu is held, and
// freed in the end. Of an item that isn't taken the core disposes.
func (c *core) offer(it *item, p **publishing) (outcome, error) {
	if c.cfg.latest {
		c.sweep() // what has expired must not be taken for what waits
	}
	if c.closed {
		c.spare.give(it)
		c.unlock()
		return absent, nil
	}
	if !c.crowded() || c.superseding(it) {
		c.accept(it)
		c.unlock()
		return taken, nil
	}
	return c.overflow(it, p)
}

// overflow decides about a message that met a full queue. mu is held, and
// freed in the end.
func (c *core) overflow(it *item, p **publishing) (outcome, error) {
	c.sweep()
	a := c.plan
	if c.asks && !c.closed && c.crowded() {
		var err error
		if a, err = c.ask(it, 0); err != nil && !c.closed {
			c.unlock()
			return c.doom(it, PolicyFailed, err)
		}
	}
	switch {
	case c.closed:
		c.spare.give(it)
		c.unlock()
		return absent, nil
	case !c.crowded():
		c.accept(it)
		c.unlock()
		return taken, nil
	case a.Kind() == policy.KindBlock:
		return c.block(it, a, p)
	}
	return c.act(it, a)
}

// act carries out an action other than Block. mu is held, and freed.
func (c *core) act(it *item, a policy.Action) (outcome, error) {
	switch a.Kind() {
	case policy.KindDropOldest:
		c.evictFor(it)
		c.unlock()
		return taken, nil
	case policy.KindDropNewest:
		c.counts.accepted++
		c.counts.droppedNewest++
		c.spare.give(it)
		c.unlock()
		return taken, nil
	case policy.KindDeadLetter:
		c.unlock()
		return c.doom(it, Overflow, ErrFull)
	case policy.KindDisconnect:
		c.disconnected = true
		released := c.close()
		c.refuse(it)
		c.unlock()
		released.answered()
		c.owner.detach()
		return refused, ErrDisconnected
	default: // Reject
		c.refuse(it)
		c.unlock()
		return refused, ErrFull
	}
}

// refuse counts an offer that ends as an error for its publisher.
func (c *core) refuse(it *item) {
	c.counts.refused++
	c.spare.give(it)
}

// evictFor makes room for it by dropping the oldest of the lowest priority,
// which may be itself.
func (c *core) evictFor(it *item) {
	c.counts.droppedOldest++
	victim := c.lane.Victim()
	if victim == nil || victim.Priority > int8(it.Priority) {
		c.counts.accepted++
		c.spare.give(it)
		return
	}
	c.lane.Remove(victim)
	c.spare.give(itemOf(victim))
	c.accept(it)
}

// block leaves it in line for room. mu is held, and freed.
func (c *core) block(it *item, a policy.Action, p **publishing) (outcome, error) {
	if c.waiting.n >= maxWaiting {
		c.refuse(it)
		c.unlock()
		return refused, fmt.Errorf("%w: %w: %d publishers wait for room", ErrFull, ErrLimit, maxWaiting)
	}
	if *p == nil {
		*p = newPublishing()
	}
	w := &waiter{core: c, item: it, publish: *p, plan: a, since: clock()}
	w.until = limit(w.since, a)
	(*p).waiters = append((*p).waiters, w)
	(*p).open.Add(1)
	c.waiting.push(w)
	c.unlock()
	return waits, nil
}

// limit is when the time of a Block that began at since is up; 0: never.
func limit(since int64, a policy.Action) int64 {
	if a.Max() == 0 {
		return 0
	}
	return later(since, a.Max())
}

// lapse decides about a waiter whose Block's time is up: what Else says, or
// the user's policy asked again, or Reject.
func (c *core) lapse(w *waiter) {
	c.mu.Lock()
	w.until = 0
	c.sweep()
	if !w.waits {
		c.unlock()
		return
	}
	a, ok := w.plan.Then()
	switch {
	case ok:
	case c.asks:
		var err error
		a, err = c.ask(w.item, time.Duration(clock()-w.since))
		if !w.waits {
			c.unlock()
			return
		}
		if err != nil {
			it := w.item
			p := c.waiting.remove(w, taken, nil)
			c.unlock()
			w.outcome, w.err = c.doom(it, PolicyFailed, err)
			p.answer()
			return
		}
	default:
		a = policy.Reject()
	}
	if a.Kind() == policy.KindBlock {
		w.plan, w.until = a, limit(clock(), a)
		c.unlock()
		return
	}
	it := w.item
	p := c.waiting.remove(w, taken, nil)
	w.outcome, w.err = c.act(it, a)
	p.answer()
}

// ask puts the question to a policy of the user's own. mu is held, but not
// while the policy thinks.
func (c *core) ask(it *item, waited time.Duration) (a policy.Action, err error) {
	full := policy.Full{Capacity: c.cfg.capacity, Priority: it.Priority, Waited: waited}
	if p, ok := c.lane.Lowest(); ok {
		full.Lowest = Priority(p)
	}
	if v := c.lane.Victim(); v != nil {
		full.OldestAge = time.Duration(clock() - itemOf(v).since)
	}
	c.unlock()
	err = guard(func() error {
		a = c.cfg.overflow.OnFull(full)
		return a.Validate()
	})
	c.mu.Lock() // not deferred: a Goexit in the policy must not leave it locked
	return a, err
}

// doom ends a message that never got into the queue as a dead letter, or as
// refused where nobody keeps it. mu is not held. The message counts once it
// is decided.
func (c *core) doom(it *item, r Reason, cause error) (outcome, error) {
	end, err := c.put(it, r, cause)
	why := cause
	if err != nil {
		why = fmt.Errorf("%w: dead letter not kept: %w", cause, err)
	}
	c.mu.Lock()
	defer c.unlock()
	c.countPut(end)
	if r == Overflow && end != kept {
		c.refuse(it)
		return refused, why
	}
	c.counts.accepted++
	c.counts.dead[r]++
	c.spare.give(it)
	return taken, nil
}

// superseding reports whether it needs no room, as it takes the place of
// another.
func (c *core) superseding(it *item) bool {
	return c.cfg.latest && it.Key != "" && it.due == 0 && c.lane.Latest(it.Key) != nil
}

// supersede lets it take the place of the message of its key that is queued,
// if there's one. A replayed message may be the older one: then it's it that is dropped.
func (c *core) supersede(it *item) bool {
	p := c.lane.Latest(it.Key)
	if p == nil {
		return false
	}
	old := itemOf(p)
	c.counts.accepted++
	c.counts.droppedSuperseded++
	if it.Seq < old.Seq && it.rare.origin == old.rare.origin {
		c.spare.give(it)
		return true
	}
	c.lane.Supersede(p, int8(it.Priority), it.expires())
	old.Meta, old.since, old.err = it.Meta, clock(), nil
	old.node.take(it.node)
	c.spare.give(it)
	return true
}
