//go:build sim

package scenario

import (
	"context"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/internal/sim"
	"github.com/heraldbus/herald/policy"
)

// Who gets the room in a full queue, and what closing does to those that wait.

// cancelWhileFull: a publisher waits at a full queue and may give up while
// another publishes and the consumer makes room.
var cancelWhileFull = sim.Scenario{
	Name: "publishers-cancel-dispatcher", Promise: "G4, G5, G8, G9", Bound: 2,
	Play: func(w *sim.World) {
		b := newBoard(w, herald.WithCapacity(1), herald.WithOverflow(policy.Block(0)))
		ctx, cancel := context.WithCancel(w.Context)
		b.publish(w.Context, 1)
		w.Go("publisher", func() {
			b.publishOr(ctx, 2, context.Canceled)
			b.publish(w.Context, 3)
			b.close()
		})
		w.Go("canceller", cancel)
		w.Go("dispatcher", func() { b.runFor(ctx); b.run() })
		w.Finally(b.check)
	},
}

// publishersAtTheDoor: two publishers wait for room at capacity 1.
var publishersAtTheDoor = sim.Scenario{
	Name: "publishers-room-dispatcher", Promise: "G4, G6, G9, G12", Bound: 2,
	Play: func(w *sim.World) {
		b := newBoard(w, herald.WithCapacity(1), herald.WithOverflow(policy.Block(0)))
		b.publish(w.Context, 1)
		w.Go("ann", func() { b.publish(w.Context, 2) })
		w.Go("bob", func() { b.publish(w.Context, 3) })
		w.Go("dispatcher", func() { b.runUntil(2, 3) })
		w.Finally(func() {
			b.check()
			b.inOrder(1, 2)
			b.inOrder(1, 3)
		})
	},
}

// closeWhilePublishing: the topic closes while somebody publishes and
// somebody receives.
var closeWhilePublishing = sim.Scenario{
	Name: "close-publish-receive", Promise: "G4, G5, G26, G32, G33", Bound: 3,
	Play: func(w *sim.World) {
		b := newBoard(w)
		b.absent = true
		w.Go("publisher", func() { b.publishOr(w.Context, 1, herald.ErrClosed) })
		w.Go("closer", func() { b.topic.Close() })
		w.Go("receiver", b.receiveAll)
		w.Finally(b.check)
	},
}

// closeWhileBlocked: a subscription closes while a publisher waits for room
// in it; what it holds is still delivered.
var closeWhileBlocked = sim.Scenario{
	Name: "unsubscribe-blocked-publisher", Promise: "G4, G8, G9, G32", Bound: 3,
	Play: func(w *sim.World) {
		b := newBoard(w, herald.WithCapacity(1), herald.WithOverflow(policy.Block(0)))
		b.absent = true
		b.publish(w.Context, 1)
		w.Go("publisher", func() { b.publish(w.Context, 2) })
		w.Go("closer", b.close)
		w.Go("stepper", b.step)
		w.Finally(func() { b.run(); b.check() })
	},
}

// evictWhilePicking: a full queue evicts its oldest while the consumer picks.
var evictWhilePicking = sim.Scenario{
	Name: "evict-pick", Promise: "G4, G5, G6, G7", Bound: 3,
	Play: func(w *sim.World) {
		b := newBoard(w, herald.WithCapacity(1), herald.WithOverflow(policy.DropOldest()))
		b.publish(w.Context, 1)
		w.Go("publisher", func() { b.publish(w.Context, 2); b.publish(w.Context, 3, herald.WithPriority(policy.Low)) })
		w.Go("stepper", func() { b.step(); b.step() })
		w.Go("observer", func() { b.look() })
		w.Finally(func() {
			b.close()
			b.run()
			b.check()
			b.ascending()
		})
	},
}

// receiveAll receives and acknowledges until the subscription is over.
func (b *board) receiveAll() {
	b.receiveEach(func(d *herald.Delivery[int]) error {
		b.saw(d.Message)
		return d.Ack()
	})
}
