package herald

import "context"

// receive waits for a message and leases it.
func (c *core) receive(ctx context.Context) (*item, uint64, error) {
	if ctx.Err() != nil {
		return nil, 0, context.Cause(ctx)
	}
	if !c.beginPull() {
		return nil, 0, c.fail("receive", ErrBusy)
	}
	var s sleeper
	for {
		it, lease, err := c.tryLease(ctx, &s)
		switch {
		case it != nil:
			return it, lease, nil
		case err != nil:
			return nil, 0, err
		}
		s.sleep(ctx)
	}
}

// tryReceive leases a message if one is ready.
func (c *core) tryReceive() (*item, uint64, bool) {
	if !c.beginPull() {
		return nil, 0, false
	}
	it, lease, _ := c.tryLease(context.Background(), nil)
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

// tryLease leases the next message. Where there's none it puts s to sleep;
// with no s, and where there'll never be one or ctx is done, the pull ends.
func (c *core) tryLease(ctx context.Context, s *sleeper) (*item, uint64, error) {
	c.mu.Lock()
	if s != nil {
		c.sleepers.take(s)
	}
	for k := c.poll(); !k.none(); k = c.poll() {
		c.unlock()
		c.tend(k)
		c.mu.Lock()
	}
	defer c.unlock()
	switch {
	case ctx.Err() != nil:
		c.consumer.pulls--
		return nil, 0, context.Cause(ctx)
	case c.closed && c.isQuiet():
		c.consumer.pulls--
		return nil, 0, c.fail("receive", c.whyClosed())
	}
	it := c.pick()
	switch {
	case it != nil:
		c.leases++
		it.lease = c.leases
		c.lane.Lease(&it.pos, later(it.started, c.cfg.lease))
		return it, it.lease, nil
	case s == nil:
		c.consumer.pulls--
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

// claim ends the lease for a call that settles it: afterwards the message
// belongs to that call. It returns false where the lease has been lost.
func (c *core) claim(it *item, lease uint64) bool {
	c.mu.Lock()
	k := c.poll()
	ok := it.lease == lease
	if ok {
		it.lease = 0
		c.lane.Lease(&it.pos, 0)
		c.consumer.pulls--
	}
	c.unlock()
	c.tend(k)
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
