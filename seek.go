package herald

import (
	"context"

	"github.com/heraldbus/herald/internal/lane"
)

// seek is Seek without its type; find says where to.
func (c *core) seek(ctx context.Context, find func(committed uint64) (uint64, error)) error {
	c.mu.Lock()
	defer c.unlock()
	if c.src.seeking {
		return ErrBusy
	}
	if _, err := find(c.src.committed); err != nil {
		return err
	}
	c.src.seeking = true
	defer func() { c.src.seeking, c.src.still = false, nil }()
	for !c.isStill() {
		if ctx.Err() != nil {
			return ended(ctx)
		}
		c.awaitStill(ctx)
	}
	next, err := find(c.src.committed)
	if err != nil {
		return err
	}
	c.revoke()
	c.drop()
	c.src.place(min(next-1, c.src.last)+1, c.owner.oldest())
	return nil
}

// awaitStill waits until no handler is under way, or ctx ends. mu is held
// before and after.
func (c *core) awaitStill(ctx context.Context) {
	still := make(chan struct{})
	c.src.still = still
	c.unlock()
	select {
	case <-still:
	case <-ctx.Done():
	}
	c.mu.Lock()
}

// revoke ends all leases, and discards what was on them, unless it came back
// from a dead-letter store: that stays queued. mu is held.
func (c *core) revoke() {
	for c.running != nil {
		it := c.running
		it.lease = 0
		c.lane.Lease(&it.pos, 0)
		c.consumer.pulls--
		c.removeRunning(it)
		if !it.read {
			it.Attempt--
		}
		c.lane.Return(&it.pos)
	}
}

// drop discards what was read and waits, retries included. mu is held.
func (c *core) drop() {
	c.lane.Suspend()
	c.lane.Prune(func(p *lane.Item) bool { return itemOf(p).read }, func(p *lane.Item) {
		c.counts.discarded++
		c.spare.give(itemOf(p))
	})
	if c.consumer.kind != nobody || c.consumer.pulls > 0 {
		c.lane.Reattach()
	}
}
