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

// Faults that users of other buses met with closing and draining.

// tailscale/tailscale#17638, PR#17642: a handler still runs after Close has returned. Here it's Drain that waits: it
// returns after the handler has, or at the end of its ctx, and after a nil no handler begins.
func TestB08_HandlerRunsAfterDrain(t *testing.T) {
	for what, drain := range drains {
		bubble(t, what, func(ctx context.Context, t *testing.T) {
			topic, gate := newBus[int](t), make(chan struct{})
			var drained atomic.Bool
			s := subscribe(t, topic, "s", herald.WithConcurrency(2))
			ran := running(ctx, s, func(context.Context, herald.Message[int]) error {
				if drained.Load() {
					t.Error("a handler begins after Drain")
				}
				<-gate
				return nil
			})
			publishAll(t, topic, 1, 2, 3, 4, 5)
			settle()
			short, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			wantErr(t, "Drain", drain(short, topic, s), context.DeadlineExceeded)
			done := background(func() error { return drain(ctx, topic, s) })
			settle()
			if !pending(done) {
				t.Fatalf("Drain = %v while handlers run", <-done)
			}
			close(gate)
			wantErr(t, "Drain", <-done, nil)
			drained.Store(true)
			wantErr(t, "Run", <-ran, nil)
			wantTally(t, s, tally{Offered: 5, Accepted: 5, Delivered: 5})
		})
	}
}

// libp2p/go-libp2p PR#3034, ThreeDotsLabs/watermill#351: the second Close panics, for it closes a channel again.
func TestB10_CloseTwice(t *testing.T) {
	for range 50 {
		topic := newBus[int](t)
		s := subscribe(t, topic, "s")
		publishAll(t, topic, 1)
		ran := running(t.Context(), s, func(context.Context, herald.Message[int]) error { return nil })
		var g sync.WaitGroup
		for range 3 {
			g.Go(func() { wantErr(t, "Topic.Close", topic.Close(), nil) })
			g.Go(func() { wantErr(t, "Close", s.Close(), nil) })
			g.Go(func() { wantErr(t, "Drain", s.Drain(t.Context()), nil) })
			g.Go(func() { wantErr(t, "Topic.Drain", topic.Drain(t.Context()), nil) })
		}
		g.Wait()
		wantErr(t, "Run", <-ran, nil)
		wantTally(t, s, tally{Offered: 1, Accepted: 1, Delivered: 1})
	}
}

// ruaan-deysel/unraid-management-agent#67: the loop over a subscription's messages never ends after unsubscribing.
func TestB11_LoopEndsAfterClose(t *testing.T) {
	for what, c := range map[string]struct {
		end  func(*herald.Topic[int], *herald.Subscription[int], context.CancelFunc)
		want error
	}{
		"Close":       {func(_ *herald.Topic[int], s *herald.Subscription[int], _ context.CancelFunc) { s.Close() }, herald.ErrClosed},
		"Topic.Close": {func(topic *herald.Topic[int], _ *herald.Subscription[int], _ context.CancelFunc) { topic.Close() }, herald.ErrClosed},
		"cancel":      {func(_ *herald.Topic[int], _ *herald.Subscription[int], cancel context.CancelFunc) { cancel() }, context.Canceled},
	} {
		bubble(t, what, func(ctx context.Context, t *testing.T) {
			topic := newBus[int](t)
			s := subscribe(t, topic, "s")
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			ended := background(func() error {
				for d := range s.Messages(ctx) {
					d.Ack()
				}
				return s.Err()
			})
			publishAll(t, topic, 1)
			settle()
			c.end(topic, s, cancel)
			settle()
			if pending(ended) {
				t.Fatal("the loop goes on")
			}
			wantErr(t, "Err", <-ended, c.want)
		})
	}
}

// graphql-go/graphql PR#759: a producer is stuck after the cancellation of what reads from it, for ever. Here a
// publisher that waits has a ctx of its own, and Close, not the end of a Run, releases it.
func TestB11_ProducerEndsWithItsContext(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newBus[int](t)
		s := subscribe(t, topic, "s", blocking(0)...)
		runCtx, cancelRun := context.WithCancel(ctx)
		ran := running(runCtx, s, func(ctx context.Context, _ herald.Message[int]) error { <-ctx.Done(); return nil })
		publishAll(t, topic, 1)
		settle()
		publishAll(t, topic, 2)
		short, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		first := background(func() error { return topic.Publish(short, 3) })
		settle()
		second := background(func() error { return topic.Publish(ctx, 4) })
		cancelRun()
		wantErr(t, "Run", <-ran, context.Canceled)
		wantErr(t, "Publish", <-first, context.DeadlineExceeded)
		if !pending(second) {
			t.Error("released by the end of a Run")
		}
		s.Close()
		wantErr(t, "Publish", <-second, nil)
	})
}

// nats-io/nats.go#898, nats-io/nats.net PR#1085: Drain loses what is queued, for it's no more than Close.
func TestB13_DrainDeliversTheQueue(t *testing.T) {
	for what, drain := range drains {
		bubble(t, what, func(ctx context.Context, t *testing.T) {
			topic, gate, got := newBus[int](t), make(chan struct{}), tape[int]{}
			s := subscribe(t, topic, "s")
			ran := running(ctx, s, func(ctx context.Context, m herald.Message[int]) error {
				<-gate
				return got.handler(ctx, m)
			})
			want := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
			publishAll(t, topic, want...)
			drained := background(func() error { return drain(ctx, topic, s) })
			settle()
			if what == "topic" {
				wantErr(t, "Publish", topic.Publish(ctx, 10), herald.ErrClosed)
			} else {
				publishAll(t, topic, 10) // to nobody
			}
			if !pending(drained) {
				t.Fatalf("Drain = %v with a full queue", <-drained)
			}
			close(gate)
			wantErr(t, "Drain", <-drained, nil)
			wantEqual(t, want, got.list())
			wantErr(t, "Run", <-ran, nil)
		})
	}
}

// tokio-rs/tokio#2425: Close overwrites the last value where the capacity is 1, for its end mark takes a slot.
func TestB29_CloseKeepsTheLastValue(t *testing.T) {
	for what, end := range map[string]func(*herald.Topic[int], *herald.Subscription[int]){
		"Close":       func(_ *herald.Topic[int], s *herald.Subscription[int]) { s.Close() },
		"Topic.Close": func(topic *herald.Topic[int], _ *herald.Subscription[int]) { topic.Close() },
		"Disconnect":  func(topic *herald.Topic[int], _ *herald.Subscription[int]) { topic.Publish(t.Context(), 2) },
	} {
		topic, got := newBus[int](t), tape[int]{}
		s := subscribe(t, topic, "s", herald.WithCapacity(1), herald.WithOverflow(policy.Disconnect()))
		publishAll(t, topic, 1)
		end(topic, s)
		err := s.Run(t.Context(), got.handler)
		if disconnected := errors.Is(err, herald.ErrDisconnected); disconnected != (what == "Disconnect") {
			t.Errorf("%s: Run = %v", what, err)
		}
		wantEqual(t, []int{1}, got.list())
		if n := s.Stats(); n.Dropped != 0 || n.Delivered != 1 {
			t.Errorf("%s: %+v", what, n)
		}
	}
}
