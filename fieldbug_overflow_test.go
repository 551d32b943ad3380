package herald_test

import (
	"bytes"
	"context"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// Faults that users of other queues met with limits, victims and order.

// publishPriced publishes v, which everybody must accept, with a priority.
func publishPriced(t *testing.T, topic *herald.Topic[int], v int, p herald.Priority, opts ...herald.PublishOption) {
	t.Helper()
	wantErr(t, "Publish", topic.Publish(t.Context(), v, append(opts, herald.WithPriority(p))...), nil)
}

// emqx/emqx PR#18620: the limit is kept for each priority apart, and the wrong one loses.
func TestB26_OneLimitForAllPriorities(t *testing.T) {
	topic := newBus[int](t)
	s := subscribe(t, topic, "s", herald.WithCapacity(3), herald.WithOverflow(policy.DropOldest()))
	publishPriced(t, topic, 0, herald.Normal)
	open := held(t, s)
	for i, p := range []herald.Priority{herald.Low, herald.Normal, herald.High, herald.Critical, herald.Critical} {
		publishPriced(t, topic, i+1, p)
		if n := s.Stats(); n.Queued != uint64(min(i+1, 3)) {
			t.Errorf("%d queued", n.Queued)
		}
	}
	wantTally(t, s, tally{Offered: 6, Accepted: 6, Dropped: 2, Queued: 3, InFlight: 1})
	publishPriced(t, topic, 6, herald.Low) // is the victim itself
	wantTally(t, s, tally{Offered: 7, Accepted: 7, Dropped: 3, Queued: 3, InFlight: 1})
	open()
	wantEqual(t, []int{4, 5, 3}, takeAll(t, s))
}

// loyality7/speech-to-speech-mobile#49, Hy4ri/hermes-mobile#275: nobody sees what drop-oldest drops.
func TestB27_DropsAreCounted(t *testing.T) {
	topic := newBus[int](t)
	s := subscribe(t, topic, "s", herald.WithCapacity(2), herald.WithOverflow(policy.DropOldest()))
	publishAll(t, topic, 0)
	open := held(t, s)
	publishAll(t, topic, 1, 2, 3, 4, 5)
	wantTally(t, s, tally{Offered: 6, Accepted: 6, Dropped: 3, Queued: 2, InFlight: 1})
	wantEqual(t, herald.DropCounts{Oldest: 3}, s.Stats().DroppedBy)
	open()
	wantEqual(t, []int{4, 5}, takeAll(t, s))
}

// Sibling, after tokio-rs/tokio's broadcast: how far one lags is counted for each reader apart, and exactly.
func TestB27_DropsAreCountedForEachReader(t *testing.T) {
	topic := newBus[int](t)
	opts := []herald.SubOption{herald.WithCapacity(2), herald.WithOverflow(policy.DropOldest())}
	slow, fast := subscribe(t, topic, "slow", opts...), subscribe(t, topic, "fast", opts...)
	publishAll(t, topic, 1, 2)
	wantEqual(t, []int{1, 2}, takeAll(t, fast))
	publishAll(t, topic, 3)
	wantEqual(t, []uint64{1, 0}, []uint64{slow.Stats().Dropped, fast.Stats().Dropped})
	wantEqual(t, []int{2, 3}, takeAll(t, slow))
	publishAll(t, topic, 4, 5, 6, 7)
	wantEqual(t, []uint64{3, 3}, []uint64{slow.Stats().Dropped, fast.Stats().Dropped})
	wantEqual(t, []int{6, 7}, takeAll(t, slow))
	wantEqual(t, []int{6, 7}, takeAll(t, fast))
}

// DanielStutzbach/heapdict#4, typelevel/cats-effect PR#2298, ignlg/heap-js#460: what has the same priority comes out in
// another order, at the latest when something was removed from the middle. Here it's expiry that removes.
func TestB32_EqualPrioritiesKeepTheirOrder(t *testing.T) {
	for _, removed := range []int{0, 50} {
		inBubble(t, func(ctx context.Context, t *testing.T) {
			topic := newBus[int](t)
			s := subscribe(t, topic, "s")
			rng := rand.New(rand.NewPCG(1, 2))
			gone := map[int]bool{}
			for _, i := range rng.Perm(200)[:removed] {
				gone[i] = true
			}
			var high, low []int
			for i := range 200 {
				var opts []herald.PublishOption
				if gone[i] {
					opts = append(opts, herald.WithTTL(time.Duration(1+rng.IntN(1000))))
				}
				p := herald.High
				if i%2 == 1 {
					p = herald.Low
				}
				publishPriced(t, topic, i, p, opts...)
				switch {
				case gone[i]:
				case p == herald.High:
					high = append(high, i)
				default:
					low = append(low, i)
				}
			}
			time.Sleep(time.Second)
			wantEqual(t, append(high, low...), takeAll(t, s))
			if n := s.Stats().DeadBy.Expired; n != uint64(removed) {
				t.Errorf("%d expired", n)
			}
		})
	}
}

// apache/incubator-pegasus#93, sapcc/networking-nsx-t PR#144: low priorities never run. There is no aging here, and
// that's promised: strict priority. A low one waits for as long as higher ones come, and is next when none is left.
func TestB33_LowPriorityWaitsWithoutAging(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic, start := newBus[int](t), time.Now()
		s := subscribe(t, topic, "s")
		low := make(chan time.Duration, 1)
		ran := running(ctx, s, func(_ context.Context, m herald.Message[int]) error {
			if m.Priority == herald.Low {
				low <- time.Since(start)
			}
			time.Sleep(100 * time.Millisecond)
			return nil
		})
		publishPriced(t, topic, 1, herald.Critical)
		publishPriced(t, topic, 2, herald.Low)
		for range 99 {
			publishPriced(t, topic, 1, herald.Critical)
			time.Sleep(100 * time.Millisecond)
		}
		wantErr(t, "Drain", topic.Drain(ctx), nil)
		wantErr(t, "Run", <-ran, nil)
		wantEqual(t, 10*time.Second, <-low)
	})
}

// proteanhq/protean#1263, dapr/dapr#8284, runmq/queue#19: the dead-letter store fails, and the message is gone without
// a trace. Here each loss is counted and logged, whatever the reason it died of; an overflow is the publisher's error.
func TestB60_FailingStoreIsNoticed(t *testing.T) {
	fails := func(context.Context, herald.Message[int]) error { return errAttempt }
	for what, c := range map[string]struct {
		view func(herald.View[int]) herald.View[int]
		opts []herald.SubOption
		die  func(*herald.Topic[int], *herald.Subscription[int])
		dead herald.DeadCounts
	}{
		"retries": {opts: noRetry(nil), dead: herald.DeadCounts{RetriesExhausted: 1},
			die: func(topic *herald.Topic[int], s *herald.Subscription[int]) {
				topic.Publish(t.Context(), 1)
				s.Step(t.Context(), fails)
			}},
		"permanent": {dead: herald.DeadCounts{Permanent: 1},
			die: func(topic *herald.Topic[int], s *herald.Subscription[int]) {
				topic.Publish(t.Context(), 1)
				s.Step(t.Context(), func(context.Context, herald.Message[int]) error { return policy.Permanent(nil) })
			}},
		"expired": {dead: herald.DeadCounts{Expired: 1},
			die: func(topic *herald.Topic[int], s *herald.Subscription[int]) {
				topic.Publish(t.Context(), 1, herald.WithTTL(1))
				for s.Stats().Dead == 0 {
				}
			}},
		"filter": {dead: herald.DeadCounts{FilterFailed: 1},
			view: func(v herald.View[int]) herald.View[int] {
				return v.Filter(func(herald.Message[int]) bool { panic("filter") })
			},
			die: func(topic *herald.Topic[int], s *herald.Subscription[int]) { topic.Publish(t.Context(), 1) }},
		"policy": {dead: herald.DeadCounts{PolicyFailed: 1},
			opts: []herald.SubOption{herald.WithRetry(retryFunc(func(int, error) (time.Duration, bool) { panic("policy") }))},
			die: func(topic *herald.Topic[int], s *herald.Subscription[int]) {
				topic.Publish(t.Context(), 1)
				s.Step(t.Context(), fails)
			}},
	} {
		for how, put := range badStores {
			var log bytes.Buffer
			topic := newBus[int](t, herald.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
			view := topic.DeadLetterTo(put)
			if c.view != nil {
				view = c.view(view)
			}
			s := subscribe(t, view, "s", c.opts...)
			c.die(topic, s)
			wantTally(t, s, tally{Offered: 1, Accepted: 1, Dead: 1})
			wantEqual(t, c.dead, s.Stats().DeadBy)
			if n := s.Stats().PutFailed; n != 1 {
				t.Errorf("%s, %s: PutFailed is %d", what, how, n)
			}
			if text := log.String(); !strings.Contains(text, "level=ERROR") || !strings.Contains(text, errStore.Error()) ||
				!strings.Contains(text, "subscription=s") {
				t.Errorf("%s, %s: log says %s", what, how, text)
			}
		}
	}
}
