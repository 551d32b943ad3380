package herald_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// TestG11_HighestPriorityThenFirstAccepted: of what is ready, the highest priority goes first, and of that what was
// accepted first, however the subscription is consumed.
func TestG11_HighestPriorityThenFirstAccepted(t *testing.T) {
	for name, consume := range consumers {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			for i, p := range []herald.Priority{-1, 1, 0, 2, 1, -1, 2, 0} {
				r.publish(fmt.Sprint(p, "-", i), herald.WithPriority(p))
			}
			consume(r, 8, r.handle(nil))
			r.wantSeen("critical-3 critical-6 high-1 high-4 normal-2 normal-7 low-0 low-5")
		})
	}
}

// TestG11_CriticalDuringABatchIsNext: what arrives while others that waited already are being handled does not wait
// for the rest of them.
func TestG11_CriticalDuringABatchIsNext(t *testing.T) {
	for name, consume := range consumers {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			for i := range 5 {
				r.publish(fmt.Sprint(i))
			}
			consume(r, 8, r.handle(func(m herald.Message[string]) error {
				switch m.Payload {
				case "1":
					r.publish("high", herald.WithPriority(herald.High))
					r.publish("critical", herald.WithPriority(herald.Critical))
				case "high":
					r.publish("late", herald.WithPriority(herald.Critical))
				}
				return nil
			}))
			r.wantSeen("0 1 critical high late 2 3 4")
		})
	}
}

// TestG11_AKeyRanksByItsHead: a Critical message behind a Low one of its key waits with it.
func TestG11_AKeyRanksByItsHead(t *testing.T) {
	for _, n := range []int{1, 3} {
		r := newRig(t, herald.WithConcurrency(n))
		r.publish("k-low", herald.WithKey("k"), herald.WithPriority(herald.Low))
		r.publish("k-critical", herald.WithKey("k"), herald.WithPriority(herald.Critical))
		r.publish("other", herald.WithKey("o"))
		r.publish("none", herald.WithPriority(herald.High))
		r.steps(r.handle(nil))
		r.wantSeen("none other k-low k-critical")
	}
}

// TestG12_PublishersKeepTheirOrder: each publisher's messages arrive in its order in every subscription, also where it
// has to wait for room, and so do publishes that are ordered across goroutines.
func TestG12_PublishersKeepTheirOrder(t *testing.T) {
	const publishers, each = 4, 250
	for _, capacity := range []int{1, 2, 64} {
		topic := new(herald.Topic[[2]int])
		var running sync.WaitGroup
		for _, name := range []string{"a", "b"} {
			sub, err := topic.Subscribe(name, herald.WithCapacity(capacity), herald.WithOverflow(policy.Block(0)))
			if err != nil {
				t.Fatal(err)
			}
			var next [publishers + 1]int // of each publisher, no lock needed
			running.Go(func() {
				_ = sub.Run(t.Context(), func(_ context.Context, m herald.Message[[2]int]) error {
					if who, i := m.Payload[0], m.Payload[1]; i != next[who] {
						t.Errorf("capacity %d, %s: publisher %d's message %d where %d was due", capacity, name, who, i, next[who])
					}
					next[m.Payload[0]]++
					return nil
				})
			})
		}
		var publishing sync.WaitGroup
		baton := make(chan int, 1) // whoever has it publishes the next of a common sequence
		baton <- 0
		for who := range publishers {
			publishing.Go(func() {
				for i := range each {
					_ = topic.Publish(t.Context(), [2]int{who, i})
					common := <-baton
					_ = topic.Publish(t.Context(), [2]int{publishers, common})
					baton <- common + 1
				}
			})
		}
		publishing.Wait()
		if err := topic.Drain(t.Context()); err != nil {
			t.Error(err)
		}
		running.Wait()
	}
}

// TestG14_KeysNeverOverlapAndKeepTheirOrder: above concurrency 1, each key is handled one by one and in order, failed
// attempts included, while what has no key runs beside itself.
func TestG14_KeysNeverOverlapAndKeepTheirOrder(t *testing.T) {
	const keys, each = 5, 200
	topic := new(herald.Topic[int])
	sub, err := topic.KeyBy(func(m herald.Message[int]) string {
		if m.Payload < 0 {
			return "" // no key
		}
		return fmt.Sprint(m.Payload % keys)
	}).Subscribe("s", herald.WithConcurrency(3), herald.WithCapacity(2*keys*each), herald.WithRetry(policy.Schedule{0, 0}))
	if err != nil {
		t.Fatal(err)
	}
	for i := range keys * each {
		_, _ = topic.PublishBatch(t.Context(), []int{i, -1})
	}
	var inside [keys]atomic.Int32
	var next [keys]int // guarded by the promise
	topic.Close()
	err = sub.Run(t.Context(), func(_ context.Context, m herald.Message[int]) error {
		if m.Payload < 0 {
			return nil
		}
		k := m.Payload % keys
		if inside[k].Add(1) != 1 {
			t.Errorf("key %d overlaps", k)
		}
		defer inside[k].Add(-1)
		runtime.Gosched()
		if m.Payload != next[k]*keys+k {
			t.Errorf("%d of key %d where %d was due", m.Payload, k, next[k]*keys+k)
		}
		if m.Payload%3 == 0 && m.Attempt < 3 {
			return errBoom
		}
		next[k]++
		return nil
	})
	if s := sub.Stats(); err != nil || s.Delivered != 2*keys*each {
		t.Errorf("%v, %d delivered", err, s.Delivered)
	}
}

// TestG14_NoKeyWaitsForAnother: a hot key takes one worker, however much of it waits, and others go on; what has no key
// takes as many as there are.
func TestG14_NoKeyWaitsForAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, herald.WithConcurrency(3))
		for i := range 100 {
			r.publish("hot", herald.WithKey("hot"))
			r.publish("cold", herald.WithKey(fmt.Sprint(i%10)))
		}
		gate := make(chan struct{})
		held := func(which string) herald.Handler[string] {
			return r.handle(func(m herald.Message[string]) error {
				if m.Payload == which {
					<-gate
				}
				return nil
			})
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := r.start(func() { _ = r.sub.Run(ctx, held("hot")) })
		synctest.Wait()
		r.wantSeenSorted(strings.Repeat("cold ", 100) + "hot") // who comes to its handler first is the scheduler's business
		close(gate)
		synctest.Wait()
		cancel()
		<-ended

		gate = make(chan struct{})
		defer close(gate)
		for range 4 {
			r.publish("free")
		}
		r.start(func() { _ = r.sub.Run(t.Context(), held("free")) })
		synctest.Wait()
		if s := r.sub.Stats(); s.InFlight != 3 || s.Queued != 1 {
			t.Errorf("%d in flight, %d queued, want 3 and 1", s.InFlight, s.Queued)
		}
	})
}
