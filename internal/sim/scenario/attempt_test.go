//go:build sim

package scenario

import (
	"context"
	"errors"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/internal/sim"
	"github.com/heraldbus/herald/policy"
)

// What may come between the beginning and the end of an attempt.

var errAttempt = errors.New("attempt")

// expireWhileAcking: a lease ends while its holder acknowledges; one of the
// two comes first, and everybody agrees on which.
var expireWhileAcking = sim.Scenario{
	Name: "lease-expiry-ack", Promise: "G4, G5, G26", Bound: sim.Unbounded, Ticks: 1, Tick: time.Minute,
	Play: func(w *sim.World) {
		b := newBoard(w, herald.WithLease(time.Minute), herald.WithRetry(policy.Never()))
		b.publish(w.Context, 1)
		w.Go("holder", func() {
			d, err := b.sub.Receive(w.Context)
			if err != nil {
				w.Errorf("receive: %v", err)
				return
			}
			began := time.Now()
			w.Yield()
			late := time.Since(began) >= time.Minute
			switch err := d.Ack(); {
			case late && err == nil:
				w.Errorf("acknowledged after the end of the lease")
			case err == nil:
				b.saw(d.Message)
			case !errors.Is(err, herald.ErrLeaseLost):
				w.Errorf("ack: %v", err)
			}
		})
		w.Go("observer", func() { b.look() })
		w.Finally(b.check)
	},
}

// expireWhileReceiving: a lease ends, its message comes back to another
// receiver, and then the first one acknowledges.
var expireWhileReceiving = sim.Scenario{
	Name: "lease-expiry-receive", Promise: "G9, G20, G26, G27", Bound: 2, Ticks: 2, Tick: time.Minute,
	Play: func(w *sim.World) {
		b := newBoard(w, herald.WithLease(time.Minute), herald.WithRetry(policy.Schedule{0, 0, 0}))
		b.publish(w.Context, 1)
		acked := 0
		for _, name := range []string{"ann", "bob"} {
			w.Go(name, func() {
				d, err := b.sub.Receive(w.Context)
				if errors.Is(err, herald.ErrClosed) {
					return
				}
				if err != nil {
					w.Errorf("receive: %v", err)
					return
				}
				switch err := d.Ack(); {
				case err == nil:
					acked++
					b.saw(d.Message)
					b.close()
				case !errors.Is(err, herald.ErrLeaseLost):
					w.Errorf("ack: %v", err)
				default:
					b.close()
				}
			})
		}
		w.Finally(func() {
			b.run()
			b.check()
		})
	},
}

// replayTwice: a letter and its copy are replayed at the same time, while the
// consumer is at work.
var replayTwice = sim.Scenario{
	Name: "two-replays", Promise: "G5, G29", Bound: 3,
	Play: func(w *sim.World) {
		b := newBoard(w, herald.WithRetry(policy.Never()))
		b.publish(w.Context, 1)
		b.sub.Step(w.Context, func(context.Context, herald.Message[int]) error { return errAttempt })
		letter, won := b.letters[0], 0
		for _, name := range []string{"ann", "bob"} {
			w.Go(name, func() {
				switch err := letter.Replay(w.Context); {
				case err == nil:
					won++
				case !errors.Is(err, herald.ErrSettled):
					w.Errorf("replay: %v", err)
				}
			})
		}
		w.Go("stepper", b.step)
		w.Finally(func() {
			b.close()
			b.run()
			b.check()
			if won != 1 || len(b.handled) != 1 || !letter.Replayed() {
				w.Errorf("%d replays succeeded, handled %v", won, b.handled)
			}
		})
	},
}

// pauseWhileRetrying: a subscription is paused and resumed while a message
// that failed waits for its next attempt.
var pauseWhileRetrying = sim.Scenario{
	Name: "pause-retry", Promise: "G9, G12, G20, G22, G33", Bound: 2, Ticks: 2, Tick: time.Second,
	Play: func(w *sim.World) {
		b := newBoard(w, herald.WithRetry(policy.Schedule{time.Second}))
		b.publish(w.Context, 1)
		b.publish(w.Context, 2)
		var attempts []int32
		w.Go("dispatcher", func() {
			err := b.sub.Run(w.Context, func(_ context.Context, m herald.Message[int]) error {
				if m.Payload == 1 {
					attempts = append(attempts, m.Attempt)
					if m.Attempt == 1 {
						return errAttempt
					}
				}
				b.saw(m)
				return nil
			})
			if err != nil {
				w.Errorf("run: %v", err)
			}
		})
		w.Go("pauser", func() {
			b.sub.Pause()
			b.sub.Resume()
			b.close()
		})
		w.Finally(func() {
			b.check()
			b.inOrder(1, 2)
			if len(attempts) != 2 || attempts[0] != 1 || attempts[1] != 2 {
				w.Errorf("attempts %v", attempts)
			}
		})
	},
}

// keysChangeHands: two workers share messages of two keys, of which one has
// two messages.
var keysChangeHands = sim.Scenario{
	Name: "key-handover", Promise: "G5, G9, G14", Bound: 2,
	Play: func(w *sim.World) {
		b := newBoard(w, herald.WithConcurrency(2))
		b.publish(w.Context, 11, herald.WithKey("a"))
		b.publish(w.Context, 12, herald.WithKey("a"))
		b.publish(w.Context, 21, herald.WithKey("b"))
		w.Go("runner", func() { b.runWith(b.handleKeyed) })
		w.Go("closer", b.close)
		w.Finally(func() {
			b.check()
			b.inOrder(11, 12)
		})
	},
}

// handleKeyed takes its time, and checks that nobody else has its key.
func (b *board) handleKeyed(_ context.Context, m herald.Message[int]) error {
	if b.keys[m.Key] {
		b.w.Errorf("two handlers have key %s", m.Key)
	}
	b.keys[m.Key] = true
	b.w.Yield()
	b.keys[m.Key] = false
	b.saw(m)
	return nil
}
