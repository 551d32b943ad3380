package herald_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// Close doesn't wait for a handler under way, which finishes and counts (G32).
func TestG32_CloseDoesNotWait(t *testing.T) {
	for what, end := range map[string]func(*herald.Topic[int], *herald.Subscription[int]) error{
		"subscription": func(_ *herald.Topic[int], s *herald.Subscription[int]) error { return s.Close() },
		"topic":        func(topic *herald.Topic[int], _ *herald.Subscription[int]) error { return topic.Close() },
	} {
		bubble(t, what, func(ctx context.Context, t *testing.T) {
			topic, gate := newBus[int](t), make(chan struct{})
			s := subscribe(t, topic, "s")
			ran := running(ctx, s, func(context.Context, herald.Message[int]) error { <-gate; return nil })
			publishAll(t, topic, 1, 2)
			settle()
			wantErr(t, "Close", end(topic, s), nil) // on this goroutine, and the gate is shut
			wantTally(t, s, tally{Offered: 2, Accepted: 2, InFlight: 1, Queued: 1})
			close(gate)
			wantErr(t, "Run", <-ran, nil)
			wantTally(t, s, tally{Offered: 2, Accepted: 2, Delivered: 2})
		})
	}
}

// What is queued is still delivered, by whichever consumer there is or comes; then it's the end (G32).
func TestG32_QueuedIsStillDelivered(t *testing.T) {
	for what, consume := range map[string]func(context.Context, *testing.T, *herald.Subscription[int]) []int{
		"Step": func(_ context.Context, t *testing.T, s *herald.Subscription[int]) []int { return takeAll(t, s) },
		"Run": func(ctx context.Context, t *testing.T, s *herald.Subscription[int]) []int {
			var got tape[int]
			wantErr(t, "Run", s.Run(ctx, got.handler), nil)
			return got.list()
		},
		"Receive": func(ctx context.Context, t *testing.T, s *herald.Subscription[int]) []int {
			var got tape[int]
			receiveAll(ctx, s, &got)
			return got.list()
		},
		"Messages": func(ctx context.Context, t *testing.T, s *herald.Subscription[int]) (got []int) {
			for d := range s.Messages(ctx) {
				got = append(got, d.Payload)
				d.Ack()
			}
			wantErr(t, "Err", s.Err(), herald.ErrClosed)
			return got
		},
	} {
		topic := newBus[int](t)
		s := subscribe(t, topic, "s")
		publishAll(t, topic, 1, 2, 3)
		s.Close()
		wantEqual(t, []int{1, 2, 3}, consume(t.Context(), t, s))
		if ok, err := s.Step(t.Context(), func(context.Context, herald.Message[int]) error { return nil }); ok || err != nil {
			t.Errorf("%s: Step at the end = %v, %v", what, ok, err)
		}
		if d, ok := s.TryReceive(); ok {
			t.Errorf("%s: TryReceive at the end = %v", what, d)
		}
		_, err := s.Receive(t.Context())
		wantErr(t, "Receive at the end", err, herald.ErrClosed)
		wantErr(t, "Run at the end", s.Run(t.Context(), func(context.Context, herald.Message[int]) error { return nil }), nil)
	}
}

// So is what is delayed or waits for a retry: Close changes no delay (G32, G33).
func TestG32_DelayedIsStillDelivered(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic, got := newBus[int](t), tape[time.Duration]{}
		s := subscribe(t, topic, "s", herald.WithRetry(policy.Schedule{time.Minute}), herald.WithRetryAside())
		start := time.Now()
		wantErr(t, "Publish", topic.Publish(ctx, 1, herald.WithDelay(time.Second)), nil)
		wantErr(t, "Publish", topic.Publish(ctx, 2, herald.WithDelay(30*time.Minute)), nil)
		s.Close()
		wantErr(t, "Run", s.Run(ctx, func(_ context.Context, m herald.Message[int]) error {
			got.add(time.Since(start))
			if m.Payload == 1 && m.Attempt == 1 {
				return errAttempt
			}
			return nil
		}), nil)
		wantEqual(t, []time.Duration{time.Second, time.Minute + time.Second, 30 * time.Minute}, got.list())
	})
}

// Discard drops what is queued and delayed, counted, and says how many; what is in flight stays (G32).
func TestG32_Discard(t *testing.T) {
	for _, closed := range []bool{false, true} {
		topic := newBus[int](t)
		s := subscribe(t, topic, "s")
		publishAll(t, topic, 1, 2, 3)
		wantErr(t, "Publish", topic.Publish(t.Context(), 4, herald.WithDelay(time.Hour)), nil)
		d, _ := s.TryReceive()
		if closed {
			s.Close()
		}
		if n := s.Discard(); n != 3 {
			t.Errorf("%d discarded", n)
		}
		if n := s.Discard(); n != 0 {
			t.Errorf("%d discarded again", n)
		}
		wantTally(t, s, tally{Offered: 4, Accepted: 4, Discarded: 3, InFlight: 1})
		wantErr(t, "Ack", d.Ack(), nil)
		wantErr(t, "WaitIdle", s.WaitIdle(t.Context()), nil)
	}
}

// Close releases all publishers that wait, however many, and they have got no error (G32).
func TestG32_CloseReleasesPublishers(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newBus[int](t)
		s := subscribe(t, topic, "s", blocking(0)...)
		publishAll(t, topic, 1)
		waiting := queueUp(ctx, t, topic, 20)
		s.Close()
		settle()
		for i, w := range waiting {
			if pending(w) {
				t.Fatalf("number %d waits for what is closed", i)
			}
			wantErr(t, "Publish", <-w, nil)
		}
		wantTally(t, s, tally{Offered: 1, Accepted: 1, Queued: 1})
	})
}

// Close is idempotent, from any number of goroutines (G32).
func TestG32_CloseIsIdempotent(t *testing.T) {
	for range 100 {
		topic := newBus[int](t)
		s := subscribe(t, topic, "s")
		publishAll(t, topic, 1)
		var g sync.WaitGroup
		for range 4 {
			g.Go(func() { wantErr(t, "Close", s.Close(), nil) })
		}
		g.Wait()
		wantErr(t, "Close", s.Close(), nil)
		wantEqual(t, []int{1}, takeAll(t, s))
		wantErr(t, "Close", s.Close(), nil)
		if n := topic.Stats().Subscriptions; n != 0 {
			t.Errorf("%d subscriptions", n)
		}
	}
}

// After Close nothing comes home: a replay is ErrClosed, and the letter can't be used (G32).
func TestG32_NoReplayAfterClose(t *testing.T) {
	topic, box := newBus[int](t), letterBox[int]{}
	s := subscribe(t, topic.DeadLetterTo(box.put), "s", herald.WithRetry(policy.Never()))
	publishAll(t, topic, 1)
	stepWith(t, s, func(context.Context, herald.Message[int]) error { return errAttempt })
	s.Close()
	subscribe(t, topic, "s") // of the same name, but not the one that failed
	d := box.list()[0]
	wantErr(t, "Replay", d.Replay(t.Context()), herald.ErrClosed)
	if d.Replayed() {
		t.Error("it counts as replayed")
	}
	wantTally(t, s, tally{Offered: 1, Accepted: 1, Dead: 1})
}

// A message whose filter, key function or policy was at work when Close returned is not accepted after all: no letter
// comes of it, since whoever drained the subscription may have closed the store (G32).
func TestG32_NothingIsCountedAfterClose(t *testing.T) {
	for what, c := range map[string]struct {
		view func(herald.View[int], func()) herald.View[int]
		plan func(func()) policy.Overflow
	}{
		"filter panics": {view: func(v herald.View[int], f func()) herald.View[int] {
			return v.Filter(func(herald.Message[int]) bool { f(); panic("filter") })
		}},
		"key panics": {view: func(v herald.View[int], f func()) herald.View[int] {
			return v.KeyBy(func(herald.Message[int]) string { f(); panic("key") })
		}},
		"accepted": {view: func(v herald.View[int], f func()) herald.View[int] {
			return v.Filter(func(herald.Message[int]) bool { f(); return true })
		}},
		"policy panics": {plan: func(f func()) policy.Overflow {
			return overflowFunc(func(policy.Full) policy.Action { f(); panic("policy") })
		}},
		"policy drops": {plan: func(f func()) policy.Overflow {
			return overflowFunc(func(policy.Full) policy.Action { f(); return policy.DropNewest() })
		}},
	} {
		t.Run(what, func(t *testing.T) {
			topic, box := newBus[int](t), letterBox[int]{}
			var s *herald.Subscription[int]
			closing := func() {
				if s != nil {
					s.Discard()
					wantErr(t, "Drain", s.Drain(t.Context()), nil)
				}
			}
			view := topic.DeadLetterTo(box.put)
			var opts []herald.SubOption
			if c.view != nil {
				view = c.view(view, closing)
			} else {
				opts = append(opts, herald.WithCapacity(1), herald.WithOverflow(c.plan(closing)))
			}
			sub := subscribe(t, view, "s", opts...)
			want := tally{}
			if c.plan != nil {
				publishAll(t, topic, 1)
				want = tally{Offered: 1, Accepted: 1, Discarded: 1}
			}
			s = sub
			publishAll(t, topic, 2)
			wantTally(t, s, want)
			if n := len(box.list()); n != 0 {
				t.Errorf("%d letters after Drain", n)
			}
		})
	}
}
