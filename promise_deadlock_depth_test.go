package herald_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// An ownPublish is what the handler of s publishes.
type ownPublish func(ctx context.Context, s *herald.Subscription[int]) error

// fillOwn makes a subscription with one message queued and a handler that publishes another, which waits. The channel
// returned gets what that Publish says.
func fillOwn(ctx context.Context, t *testing.T, topic *herald.Topic[int], publish ownPublish, opts ...herald.SubOption,
) (s *herald.Subscription[int], published, ran <-chan error) {
	t.Helper()
	s = subscribe(t, topic, "s", append(blocking(0), opts...)...)
	result := make(chan error, 1)
	ran = running(ctx, s, func(ctx context.Context, m herald.Message[int]) error {
		if m.Payload == 0 {
			result <- publish(ctx, s)
		}
		return nil
	})
	publishAll(t, topic, 0)
	settle()
	return s, result, ran
}

// A deadlock is found at the moment at which it comes about, whatever brings it about last (G19).
func TestG19_FoundWhenItComesAbout(t *testing.T) {
	second := policy.Block(time.Second)
	for what, c := range map[string]struct {
		queued []herald.PublishOption // of the message in the queue
		opts   []herald.SubOption
	}{
		"the delay is over": {[]herald.PublishOption{herald.WithDelay(time.Second)}, nil},
		"the time of Block is up": {nil, []herald.SubOption{
			herald.WithOverflow(second.Else(policy.Block(0)))}},
		"the policy blocks again": {nil, []herald.SubOption{
			herald.WithOverflow(overflowFunc(func(f policy.Full) policy.Action {
				if f.Waited == 0 {
					return second
				}
				return policy.Block(0)
			}))}},
		"the delay behind a key is over": {[]herald.PublishOption{herald.WithDelay(time.Second), herald.WithKey("k")},
			[]herald.SubOption{herald.WithConcurrency(1)}},
	} {
		bubble(t, what, func(ctx context.Context, t *testing.T) {
			topic := newBus[int](t)
			start := time.Now()
			s, published, ran := fillOwn(ctx, t, topic, func(ctx context.Context, _ *herald.Subscription[int]) error {
				wantErr(t, "first Publish", topic.Publish(ctx, 1, c.queued...), nil)
				return topic.Publish(ctx, 2)
			}, c.opts...)
			wantDeadlock(t, <-published, "s", "bus/s", "bus/s")
			wantEqual(t, time.Second, time.Since(start))
			s.Close()
			wantErr(t, "Run", <-ran, nil)
		})
	}
}

// A message that expires in the full queue makes room, also where every worker waits for that room (G19, G9).
func TestG19_ExpiryMakesRoom(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newBus[int](t)
		start := time.Now()
		s, published, ran := fillOwn(ctx, t, topic, func(ctx context.Context, _ *herald.Subscription[int]) error {
			wantErr(t, "first Publish", topic.Publish(ctx, 1, herald.WithTTL(time.Second)), nil)
			return topic.Publish(ctx, 2)
		})
		wantErr(t, "Publish", <-published, nil)
		wantEqual(t, time.Second, time.Since(start))
		s.Close()
		wantErr(t, "Run", <-ran, nil)
		wantTally(t, s, tally{Offered: 3, Accepted: 3, Delivered: 2, Dead: 1})
	})
}

// Resume of the last that was paused, and Run of the last that had no consumer, bring it about too (G19).
func TestG19_FoundAtResumeAndRun(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newBus[int](t)
		s, published, ran := fillOwn(ctx, t, topic, func(ctx context.Context, s *herald.Subscription[int]) error {
			s.Pause()
			publishAll(t, topic, 1)
			return topic.Publish(ctx, 2)
		})
		time.Sleep(time.Minute + time.Second)
		if !pending(published) {
			t.Fatalf("while it's paused: %v", <-published)
		}
		start := time.Now()
		s.Resume()
		wantDeadlock(t, <-published, "s", "bus/s", "bus/s")
		wantEqual(t, time.Duration(0), time.Since(start))
		s.Close()
		wantErr(t, "Run", <-ran, nil)
	})
	inBubble(t, func(ctx context.Context, t *testing.T) {
		r := newRing(ctx, t, 2)
		third := subscribe(t, r.topics[0], "third", blocking(0)...)
		_ = third // full soon, and consumed by nobody: its wait isn't in the circle
		close(r.gate)
		settle()
		if len(r.failed.list()) != 1 {
			t.Errorf("refused: %v", r.failed.list())
		}
		third.Close()
		r.end(ctx, t)
	})
}

// What a handler publishes in another goroutine, or inside the handler of a subscription that it consumes itself,
// counts as its own wait (G19).
func TestG19_WaitsDeepDown(t *testing.T) {
	for what, publish := range map[string]func(context.Context, *herald.Topic[int], *herald.Subscription[int]) error{
		"goroutine": func(ctx context.Context, topic *herald.Topic[int], _ *herald.Subscription[int]) error {
			return <-background(func() error { return topic.Publish(ctx, 2) })
		},
		"Step": func(ctx context.Context, topic *herald.Topic[int], inner *herald.Subscription[int]) (err error) {
			inner.Step(ctx, func(ctx context.Context, _ herald.Message[int]) error {
				err = topic.Publish(ctx, 2)
				return nil
			})
			return err
		},
		"Run": func(ctx context.Context, topic *herald.Topic[int], inner *herald.Subscription[int]) (err error) {
			inner.Run(ctx, func(ctx context.Context, _ herald.Message[int]) error {
				err = topic.Publish(ctx, 2)
				return policy.Stop(nil)
			})
			return err
		},
	} {
		bubble(t, what, func(ctx context.Context, t *testing.T) {
			topic, second := newBus[int](t), newBusNamed[int](t, "second")
			inner := subscribe(t, second, "inner")
			publishAll(t, second, 0)
			start := time.Now()
			s, published, ran := fillOwn(ctx, t, topic, func(ctx context.Context, _ *herald.Subscription[int]) error {
				publishAll(t, topic, 1)
				return publish(ctx, topic, inner)
			})
			err := <-published
			wantRefused(t, err, map[string]error{"s": herald.ErrDeadlock})
			wantEqual(t, time.Duration(0), time.Since(start))
			if e, ok := errors.AsType[*herald.DeadlockError](err); ok && e.Chain[0] != e.Chain[len(e.Chain)-1] {
				t.Errorf("chain %v is no circle", e.Chain)
			}
			s.Close()
			wantErr(t, "Run", <-ran, nil)
		})
	}
}
