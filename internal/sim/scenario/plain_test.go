//go:build sim

package scenario

import (
	"context"
	"errors"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/internal/sim"
	"github.com/heraldbus/herald/policy"
)

// The plain lane: one worker walks its messages without the lock, while others
// change what it walks on.

// publishWhileParking: the dispatcher goes to sleep while somebody publishes.
var publishWhileParking = sim.Scenario{
	Name: "publish-park", Promise: "G9, G12", Bound: 3,
	Play: func(w *sim.World) {
		b := newBoard(w)
		w.Go("dispatcher", func() { b.runUntil(2) })
		w.Go("publisher", func() { b.publish(w.Context, 1); b.publish(w.Context, 2) })
		w.Finally(func() { b.check(); b.ascending() })
	},
}

// discardWhileWalking: what the dispatcher has taken in one go is discarded
// under its hands.
var discardWhileWalking = sim.Scenario{
	Name: "discard-walk", Promise: "G4, G5, G32, G36", Bound: 3,
	Play: func(w *sim.World) {
		b := newBoard(w)
		for v := range 3 {
			b.publish(w.Context, v)
		}
		w.Go("dispatcher", b.run)
		w.Go("discarder", func() { b.sub.Discard(); b.publish(w.Context, 3); b.close() })
		w.Go("observer", func() { b.look() })
		w.Finally(func() { b.check(); b.ascending() })
	},
}

// urgentWhileWalking: a more urgent message comes while the dispatcher walks.
var urgentWhileWalking = sim.Scenario{
	Name: "urgent-walk", Promise: "G4, G5, G11, G12", Bound: 3,
	Play: func(w *sim.World) {
		b := newBoard(w)
		b.publish(w.Context, 1)
		b.publish(w.Context, 2)
		w.Go("dispatcher", b.run)
		w.Go("publisher", func() {
			b.publish(w.Context, 10, herald.WithPriority(policy.Critical))
			b.publish(w.Context, 3)
			b.close()
		})
		w.Finally(func() { b.check(); b.inOrder(1, 2); b.inOrder(2, 3); b.inOrder(10, 3) })
	},
}

// drainWhileRunning: a topic is drained while its dispatcher runs and somebody
// subscribes and publishes.
var drainWhileRunning = sim.Scenario{
	Name: "drain-subscribe-publish", Promise: "G3, G4, G33", Bound: 2,
	Play: func(w *sim.World) {
		b := newBoard(w)
		b.publish(w.Context, 1)
		b.absent = true
		w.Go("dispatcher", b.run)
		w.Go("drainer", func() {
			if err := b.topic.Drain(w.Context); err != nil {
				w.Errorf("drain: %v", err)
			}
			if s := b.look(); s.Queued+s.Delayed+s.InFlight > 0 {
				w.Errorf("drained, but not quiet: %+v", s)
			}
		})
		w.Go("subscriber", func() {
			late, err := b.topic.Subscribe("late")
			if err != nil && !errors.Is(err, herald.ErrClosed) {
				w.Errorf("subscribe: %v", err)
			}
			b.publishOr(w.Context, 2, herald.ErrClosed)
			if late != nil {
				b.other(late)
			}
		})
		w.Finally(b.check)
	},
}

// other consumes a subscription that was made before the last publish, so
// that it has that message if anybody has, unless the topic closed meanwhile.
func (b *board) other(s *herald.Subscription[int]) {
	n := 0
	err := s.Run(b.w.Context, func(context.Context, herald.Message[int]) error { n++; return nil })
	if want := uint64(n); err != nil || s.Stats().Delivered != want {
		b.w.Errorf("run: %v, handled %d of %+v", err, n, s.Stats())
	}
}

// The same once more, with what happens inside critical sections: the walking
// worker takes messages without the lock while others have it.

var publishWhileParkingDeep = deep("publish-park-deep", publishWhileParking, 2)

// discardWhileTaking: a message is discarded or handled, never both.
var discardWhileTaking = sim.Scenario{
	Name: "discard-walk-deep", Promise: "G4, G5, G32", Bound: 3, Deep: true,
	Play: func(w *sim.World) {
		b := newBoard(w)
		for v := range 3 {
			b.publish(w.Context, v)
		}
		w.Go("dispatcher", b.run)
		w.Go("discarder", func() { b.sub.Discard(); b.close() })
		w.Finally(func() { b.check(); b.ascending() })
	},
}

// waitWhileWalking: a publisher waits for the room that the walking worker
// makes without the lock.
var waitWhileWalking = sim.Scenario{
	Name: "room-walk-deep", Promise: "G4, G6, G9, G12", Bound: 2, Deep: true,
	Play: func(w *sim.World) {
		b := newBoard(w, herald.WithCapacity(2), herald.WithOverflow(policy.Block(0)))
		b.publish(w.Context, 1)
		b.publish(w.Context, 2)
		w.Go("dispatcher", b.run)
		w.Go("publisher", func() { b.publish(w.Context, 3); b.close() })
		w.Finally(func() { b.check(); b.ascending() })
	},
}

// queueUpWhileWalking: nobody overtakes who waits for room already, whatever
// room the walking worker makes.
var queueUpWhileWalking = sim.Scenario{
	Name: "line-walk-deep", Promise: "G6, G9, G12", Bound: 1, Deep: true,
	Play: func(w *sim.World) {
		b := newBoard(w, herald.WithCapacity(1), herald.WithOverflow(policy.Block(0)))
		b.publish(w.Context, 1)
		waited := false
		w.Go("dispatcher", func() { b.runUntil(2, 3) })
		w.Go("ann", func() { b.publish(w.Context, 2) })
		w.Go("bob", func() {
			waited = b.look().Waiting == 1
			b.publish(w.Context, 3)
		})
		w.Finally(func() {
			b.check()
			if waited {
				b.inOrder(2, 3)
			}
		})
	},
}

// lookWhileWalking: statistics are a cut also while the worker walks.
var lookWhileWalking = sim.Scenario{
	Name: "stats-walk-deep", Promise: "G4", Bound: 3, Deep: true,
	Play: func(w *sim.World) {
		b := newBoard(w)
		b.publish(w.Context, 1)
		b.publish(w.Context, 2)
		w.Go("dispatcher", b.run)
		w.Go("observer", func() {
			for range 2 {
				if s := b.look(); s.Delivered > uint64(len(b.handled)) || s.Accepted != 2 {
					w.Errorf("handled %v, but %+v", b.handled, s)
				}
			}
			b.close()
		})
		w.Finally(b.check)
	},
}

var (
	urgentWhileWalkingDeep = deep("urgent-walk-deep", urgentWhileWalking, 2)
	pauseWhileRetryingDeep = deep("pause-retry-deep", pauseWhileRetrying, 1)
)

// deep is s with yield points inside critical sections.
func deep(name string, s sim.Scenario, bound int) sim.Scenario {
	s.Name, s.Deep, s.Bound = name, true, bound
	return s
}
