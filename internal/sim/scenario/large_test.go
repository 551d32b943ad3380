//go:build sim

package scenario

import (
	"context"
	"errors"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/dlq"
	"github.com/heraldbus/herald/internal/sim"
	"github.com/heraldbus/herald/policy"
)

// Scenarios of four to six threads and more operations, of which there are too
// many schedules to try all.

// threads starts fs, and last when all have ended, on the thread of the last.
func threads(w *sim.World, last func(), fs map[string]func(), names ...string) {
	left := len(names)
	for _, name := range names {
		w.Go(name, func() {
			fs[name]()
			if left--; left == 0 {
				last()
			}
		})
	}
}

// market: publishers of different priorities wait at a small queue, one of
// them gives up, and the subscription is paused now and then.
var market = sim.Scenario{
	Name: "market", Promise: "G4, G5, G6, G8, G9, G11, G12", Tick: time.Minute,
	Play: func(w *sim.World) {
		b := newBoard(w, herald.WithCapacity(2), herald.WithOverflow(policy.Block(0)))
		ctx, cancel := context.WithCancel(w.Context)
		sell := func(first int, p policy.Priority) func() {
			return func() {
				for v := range 3 {
					b.publishOr(ctx, first+v, context.Canceled, herald.WithPriority(p))
				}
			}
		}
		w.Go("dispatcher", b.run)
		threads(w, b.close, map[string]func(){
			"low": sell(10, policy.Low), "high": sell(20, policy.High), "normal": sell(30, policy.Normal),
			"pauser": func() { b.sub.Pause(); b.look(); b.sub.Resume(); b.look(); cancel() },
		}, "low", "high", "normal", "pauser")
		w.Finally(func() {
			b.check()
			for _, first := range []int{10, 20, 30} {
				b.inOrder(first, first+1)
				b.inOrder(first+1, first+2)
			}
		})
	},
}

// leases: two receivers acknowledge, refuse and return what two publishers
// publish, while leases end.
var leases = sim.Scenario{
	Name: "leases", Promise: "G4, G5, G9, G20, G26, G27", Ticks: 3, Tick: time.Minute,
	Play: func(w *sim.World) {
		b := newBoard(w, herald.WithConcurrency(2), herald.WithLease(time.Minute), herald.WithRetry(policy.Schedule{0, time.Minute}))
		seen := map[int]int{}
		receive := func() {
			b.receiveEach(func(d *herald.Delivery[int]) error { seen[d.Payload]++; return b.settle(d, seen[d.Payload]) })
		}
		w.Go("ann", receive)
		w.Go("bob", receive)
		sell := func(first int) func() {
			return func() {
				for v := range 2 {
					b.publish(w.Context, first+v)
				}
			}
		}
		threads(w, b.close, map[string]func(){"carl": sell(0), "dora": sell(2), "observer": func() { b.look(); b.look() }},
			"carl", "dora", "observer")
		w.Finally(b.check)
	},
}

// settle ends a delivery in a way that depends on its payload and on how often
// that was seen.
func (b *board) settle(d *herald.Delivery[int], times int) error {
	switch {
	case d.Payload%3 == 1 && times == 1:
		return d.Release()
	case d.Payload%3 == 2 && times == 1:
		return d.Nack(errAttempt)
	}
	err := d.Ack()
	if err == nil {
		b.saw(d.Message)
	}
	return err
}

// receiveEach receives until the subscription is over.
func (b *board) receiveEach(settle func(*herald.Delivery[int]) error) {
	for {
		d, err := b.sub.Receive(b.w.Context)
		if errors.Is(err, herald.ErrClosed) {
			return
		}
		if err != nil {
			b.w.Errorf("receive: %v", err)
			return
		}
		if err := settle(d); err != nil && !errors.Is(err, herald.ErrLeaseLost) {
			b.w.Errorf("settle: %v", err)
		}
	}
}

// keys: two workers share the messages of two keys, some of which fail at
// first.
var keys = sim.Scenario{
	Name: "keys", Promise: "G4, G5, G9, G14, G20, G22", Ticks: 2, Tick: time.Second,
	Play: func(w *sim.World) {
		b := newBoard(w, herald.WithConcurrency(2), herald.WithRetry(policy.Schedule{time.Second}))
		w.Go("runner", func() {
			b.runWith(func(ctx context.Context, m herald.Message[int]) error {
				if m.Attempt == 1 && m.Payload%2 == 1 {
					return errAttempt
				}
				return b.handleKeyed(ctx, m)
			})
		})
		sell := func(first int, key string) func() {
			return func() {
				for v := range 3 {
					b.publish(w.Context, first+v, herald.WithKey(key))
				}
			}
		}
		threads(w, b.close, map[string]func(){
			"ann": sell(10, "a"), "bob": sell(20, "b"),
			"pauser": func() { b.sub.Pause(); b.look(); b.sub.Resume() },
		}, "ann", "bob", "pauser")
		w.Finally(func() {
			b.check()
			for _, first := range []int{10, 20} {
				b.inOrder(first, first+1)
				b.inOrder(first+1, first+2)
			}
		})
	},
}

// postOffice: messages that fail become dead letters, which two threads
// replay; in the end each was handled once.
var postOffice = sim.Scenario{
	Name: "post-office", Promise: "G4, G5, G28, G29",
	Play: func(w *sim.World) {
		b := newBoard(w, herald.WithRetry(policy.Never()))
		store := dlq.New[int](10)
		b.keep = store.Put
		handler := func(_ context.Context, m herald.Message[int]) error {
			if m.Replays() == 0 {
				return errAttempt
			}
			b.saw(m)
			return nil
		}
		ctx, cancel := context.WithCancel(w.Context)
		w.Go("dispatcher", func() {
			if err := b.sub.Run(ctx, handler); !errors.Is(err, context.Canceled) {
				w.Errorf("run: %v", err)
			}
		})
		replay := func() {
			for range 2 {
				if _, err := store.Replay(w.Context, nil); err != nil {
					w.Errorf("replay: %v", err)
				}
			}
		}
		sell := func(first int) func() {
			return func() { b.publish(w.Context, first); b.publish(w.Context, first+1) }
		}
		threads(w, cancel, map[string]func(){"ann": sell(0), "bob": sell(2), "carl": replay, "dora": replay},
			"ann", "bob", "carl", "dora")
		w.Finally(func() {
			for range 8 {
				b.sub.Step(w.Context, handler)
				store.Replay(w.Context, nil)
			}
			b.close()
			b.check()
			if len(b.handled) != 4 || store.Len() != 0 {
				w.Errorf("handled %v, %d letters left", b.handled, store.Len())
			}
		})
	},
}

// evictions: a small queue evicts and replaces what two publishers bring
// before a receiver comes to it, and some is discarded.
var evictions = sim.Scenario{
	Name: "evictions", Promise: "G4, G5, G6, G7, G32",
	Play: func(w *sim.World) {
		b := newBoard(w, herald.WithCapacity(2), herald.WithOverflow(policy.DropOldest()), herald.WithLatest())
		sell := func(first int, key string) func() {
			return func() {
				b.publish(w.Context, first, herald.WithKey(key))
				b.publish(w.Context, first+1, herald.WithPriority(policy.High))
				b.publish(w.Context, first+2, herald.WithKey("shared"), herald.WithPriority(policy.Low))
			}
		}
		w.Go("receiver", b.receiveAll)
		threads(w, b.close, map[string]func(){
			"ann": sell(10, "a"), "bob": sell(20, "b"),
			"discarder": func() { b.sub.Discard(); b.look() },
			"observer":  func() { b.look(); b.look() },
		}, "ann", "bob", "discarder", "observer")
		w.Finally(b.check)
	},
}

// walk: the plain lane with a batch, a wait for room, Pause, Discard and Drain.
var walk = sim.Scenario{
	Name: "walk", Promise: "G4, G5, G8, G9, G12, G32, G33", Tick: time.Minute,
	Play: func(w *sim.World) {
		b := newBoard(w, herald.WithCapacity(3), herald.WithOverflow(policy.Block(0)))
		w.Go("dispatcher", b.run)
		drain := func() {
			if err := b.topic.Drain(w.Context); err != nil {
				w.Errorf("drain: %v", err)
			}
			if s := b.look(); s.Queued+s.Delayed+s.InFlight > 0 {
				w.Errorf("drained, but not quiet: %+v", s)
			}
		}
		threads(w, drain, map[string]func(){
			"batch": func() {
				if n, err := b.topic.PublishBatch(w.Context, []int{10, 11, 12, 13}); n != 4 || err != nil {
					w.Errorf("batch: %d, %v", n, err)
				}
				b.accepted = append(b.accepted, 10, 11, 12, 13)
			},
			"single":    func() { b.publish(w.Context, 20); b.publish(w.Context, 21) },
			"pauser":    func() { b.sub.Pause(); b.look(); b.sub.Resume() },
			"discarder": func() { b.sub.Discard(); b.look() },
		}, "batch", "single", "pauser", "discarder")
		w.Finally(func() {
			b.check()
			for v := range 3 {
				b.inOrder(10+v, 11+v)
			}
			b.inOrder(20, 21)
		})
	},
}
