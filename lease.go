package herald

import (
	"context"
	"errors"
)

// receive waits for a message and leases it.
func (c *core) receive(ctx context.Context) (it *item, lease uint64, err error) {
	if ctx.Err() != nil {
		return nil, 0, context.Cause(ctx)
	}
	if !c.beginPull() {
		return nil, 0, c.fail("receive", ErrBusy)
	}
	defer c.endPull(&it) // also when user code calls Goexit
	var s sleeper
	for {
		cancelled := ctx.Err() != nil
		it, lease, err = c.tryLease(&s, cancelled)
		switch {
		case it != nil, err != nil:
			return it, lease, err
		case cancelled:
			return nil, 0, context.Cause(ctx)
		}
		s.sleep(ctx)
	}
}

// tryReceive leases a message if one is ready.
func (c *core) tryReceive() (it *item, lease uint64, ok bool) {
	if !c.beginPull() {
		return nil, 0, false
	}
	defer c.endPull(&it)
	it, lease, err := c.tryLease(nil, false)
	if gap, ok := errors.AsType[*TrimmedError](err); ok {
		c.logGap(gap)
		it, lease, _ = c.tryLease(nil, false)
	}
	return it, lease, it != nil
}

// beginPull makes a Receive part of the consumer, unless that's a Run or a
// Step.
func (c *core) beginPull() bool {
	c.mu.Lock()
	defer c.unlock()
	if c.consumer.kind != nobody {
		return false
	}
	if c.consumer.pulls == 0 {
		c.lane.Reattach()
	}
	c.consumer.pulls++
	return true
}

// endPull ends what beginPull began, unless the pull goes on as a delivery.
func (c *core) endPull(it **item) {
	if *it != nil {
		return
	}
	c.mu.Lock()
	c.consumer.pulls--
	c.unlock()
}

// tryLease leases the next message. Where there's none it puts s to sleep,
// if there's an s, unless the caller is about to leave; the error says that
// there'll never be one.
func (c *core) tryLease(s *sleeper, leaving bool) (*item, uint64, error) {
	c.mu.Lock()
	if s != nil {
		c.sleepers.take(s)
	}
	c.sweep()
	for !leaving && c.hungry() {
		if gap := c.feed(); gap != nil {
			return nil, 0, c.fail("receive", gap)
		}
		c.mu.Lock()
		c.sweep()
	}
	defer c.unlock()
	switch {
	case leaving:
		return nil, 0, nil
	case c.closed && c.isQuiet():
		return nil, 0, c.fail("receive", c.whyClosed())
	}
	if it := c.pick(); it != nil {
		c.leases++
		it.lease = c.leases
		c.lane.Lease(&it.pos, later(it.started, c.cfg.lease))
		return it, it.lease, nil
	}
	if s == nil {
		c.trim()
		return nil, 0, nil
	}
	c.rest(s, 0)
	return nil, 0, nil
}

// whyClosed is what a consumer is told at the end of a closed subscription.
func (c *core) whyClosed() error {
	if c.disconnected {
		return ErrDisconnected
	}
	return ErrClosed
}

// settleLease ends the lease and then calls settle, which ends the attempt.
// It returns false where the lease has been lost. What else time has ended is
// tended to last, as user code there may call Goexit.
func (c *core) settleLease(it *item, lease uint64, settle func()) bool {
	c.mu.Lock()
	k := c.poll()
	ok := it.lease == lease
	if ok {
		it.lease = 0
		c.lane.Lease(&it.pos, 0)
		c.consumer.pulls--
	}
	c.unlock()
	defer c.tend(k)
	if ok {
		settle()
	}
	return ok
}

// extend moves the end of a lease to d from now, but never nearer.
func (c *core) extend(it *item, lease uint64, end int64) bool {
	c.mu.Lock()
	k := c.poll()
	ok := it.lease == lease
	if ok && end > it.pos.Due() {
		c.lane.Lease(&it.pos, end)
	}
	c.unlock()
	c.tend(k)
	return ok
}
