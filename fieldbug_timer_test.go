package herald_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// Faults that users of other buses met with waits that outlive their reason.

// grpc/grpc-swift-nio-transport PR#187, iotaledger/iota PR#5496, writer/cerebro#273: a shutdown sits out the whole
// delay of a retry. Close returns at once; whoever can't wait ends Run's ctx, and learns from Drain what is left.
func TestB15_ShutdownDoesNotSitOutTheDelay(t *testing.T) {
	for what, opts := range map[string][]herald.SubOption{
		"in place": nil, "aside": {herald.WithRetryAside()}, "keyed": {herald.WithConcurrency(2)},
	} {
		bubble(t, what, func(ctx context.Context, t *testing.T) {
			topic := newBus[int](t)
			s := subscribe(t, topic, "s", append(opts, herald.WithRetry(policy.Schedule{30 * time.Minute}))...)
			runCtx, cancel := context.WithCancel(ctx)
			ran := running(runCtx, s, func(context.Context, herald.Message[int]) error { return errAttempt })
			wantErr(t, "Publish", topic.Publish(ctx, 1, herald.WithKey("k")), nil)
			start := time.Now()
			time.Sleep(time.Second)
			wantErr(t, "Close", s.Close(), nil)
			cancel()
			wantErr(t, "Run", <-ran, context.Canceled)
			wantErr(t, "Drain", topic.Drain(ctx), nil) // s was closed before, and is nobody's any more
			wantEqual(t, time.Second, time.Since(start))
			e, ok := errors.AsType[*herald.DrainError](s.Drain(runCtx))
			if !ok || len(e.Left) != 1 || e.Left[0].InFlight+e.Left[0].Delayed != 1 {
				t.Errorf("Drain = %v", e)
			}
			if n := s.Stats(); n.Accepted != 1 || n.Retried != 1 || n.Dead != 0 {
				t.Errorf("%+v", n)
			}
		})
	}
}

// LFDT-Panurus/panurus#2125, eapache/go-resiliency#36, hashicorp/vault PR#14814: timers stay after a cancellation, and
// fire into what is long closed.
func TestB52_NoTimerFiresAfterTheEnd(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newBus[int](t)
		var calls atomic.Int32
		handler := func(context.Context, herald.Message[int]) error { calls.Add(1); return errAttempt }
		s := subscribe(t, topic, "s", herald.WithRetryAside(), herald.WithRetry(policy.Schedule{30 * time.Minute}))
		leased := subscribe(t, topic, "leased", herald.WithLease(30*time.Minute), herald.WithConcurrency(1000))
		runCtx, cancel := context.WithCancel(context.Background())
		ran := running(runCtx, s, handler)
		for i := range 1000 {
			publishAll(t, topic, i)
			leased.TryReceive()
		}
		settle()
		if n := s.Stats(); n.Delayed != 1000 || calls.Load() != 1000 {
			t.Fatalf("%d calls, %+v", calls.Load(), n)
		}
		topic.Close()
		cancel()
		wantErr(t, "Run", <-ran, context.Canceled)
		time.Sleep(2 * time.Hour)
		if n := calls.Load(); n != 1000 {
			t.Errorf("%d calls after the end", n-1000)
		}
	})
}

// golang/go#77687: a program can't be tested with synctest if it waits on a mutex. Here all that waits is seen to: a
// publisher for room, a Run for a retry, a Receive for a message, a Drain for quiet; and calls beside them return.
func TestB53_EveryWaitIsDurable(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newBus[int](t)
		full := subscribe(t, topic, "full", blocking(0)...)
		failing := subscribe(t, topic, "failing", herald.WithRetry(policy.Schedule{30 * time.Minute}))
		empty := subscribe(t, topic.Filter(func(herald.Message[int]) bool { return false }), "empty")
		ctx, cancel := context.WithCancel(ctx)
		var all sync.WaitGroup
		all.Go(func() { failing.Run(ctx, func(context.Context, herald.Message[int]) error { return errAttempt }) })
		all.Go(func() { empty.Receive(ctx) })
		publishAll(t, topic, 1)
		all.Go(func() { topic.Publish(ctx, 2) })
		all.Go(func() { failing.WaitIdle(ctx) })
		all.Go(func() { full.Drain(ctx) })
		start := time.Now()
		settle() // returns, as nobody waits on a mutex
		wantEqual(t, time.Duration(0), time.Since(start))
		topic.Stats()
		for range topic.Subscriptions() {
		}
		failing.Pause()
		cancel()
		all.Wait()
	})
}
