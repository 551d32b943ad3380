package herald

import "context"

// close marks the core closed and lets the waiting publishers go, whom the
// caller tells once mu, which is held, is free.
func (c *core) close() answers {
	if c.src != nil && !c.closed {
		c.src.last = c.src.tail.head.Load()
		c.src.tail.forget(c)
	}
	c.closed = true
	return c.release()
}

// waitQuiet waits until the core is quiet, or ctx ends.
func (c *core) waitQuiet(ctx context.Context) error {
	for {
		cancelled := ctx.Err() != nil
		c.mu.Lock()
		if c.isQuiet() {
			c.unlock()
			return nil
		}
		if cancelled {
			c.unlock()
			return context.Cause(ctx)
		}
		if c.quiet == nil {
			c.quiet = make(chan struct{})
		}
		quiet := c.quiet
		c.unlock()
		select {
		case <-quiet:
			return nil
		case <-ctx.Done():
		}
	}
}

// drainAll waits until all of cores, which are closed, are quiet.
func drainAll(ctx context.Context, cores []*core) error {
	for i, c := range cores {
		if err := c.waitQuiet(ctx); err != nil {
			return drainError(ctx, cores[i:])
		}
	}
	return nil
}

// drainError reports those of cores that are not quiet; nil if all are by now.
func drainError(ctx context.Context, cores []*core) error {
	e := &DrainError{Err: ended(ctx)}
	for _, c := range cores {
		if s := c.stats(); s.Queued+s.Delayed+s.InFlight+s.Lag > 0 {
			e.Left = append(e.Left, s)
		}
	}
	if len(e.Left) == 0 {
		return nil
	}
	return e
}

// discard drops what is queued or delayed.
func (c *core) discard() int {
	c.mu.Lock()
	c.sweep() // what time has ended isn't ours to drop
	defer c.unlock()
	n := c.owner.dropPlain()
	for p := c.lane.Victim(); p != nil; p = c.lane.Victim() {
		c.lane.Remove(p)
		c.passed(itemOf(p))
		c.spare.give(itemOf(p))
		n++
	}
	n += c.skip()
	c.counts.discarded += uint64(n)
	c.trim()
	return n
}
