package herald_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// statesOf returns the names of the subscriptions that the topic lists.
func statesOf(topic *herald.Topic[int]) (names []string) {
	for s := range topic.Subscriptions() {
		names = append(names, s.Name)
	}
	return names
}

// A topic is open, then closing, then closed: Publish and Subscribe are ErrClosed from the beginning of closing, and a
// subscription is listed until it's quiet (G33).
func TestG33_OpenClosingClosed(t *testing.T) {
	topic := newBus[int](t)
	a, b := subscribe(t, topic, "a"), subscribe(t, topic, "b")
	publishAll(t, topic, 1)
	takeAll(t, b)
	wantEqual(t, herald.TopicStats{Name: "bus", Published: 1, Subscriptions: 2}, topic.Stats())
	wantErr(t, "Close", topic.Close(), nil)
	wantErr(t, "Close again", topic.Close(), nil)
	wantErr(t, "Publish", topic.Publish(t.Context(), 2), herald.ErrClosed)
	s, err := topic.Subscribe("c")
	wantErr(t, "Subscribe", err, herald.ErrClosed)
	if s != nil {
		t.Error("a subscription and an error")
	}
	if e, ok := errors.AsType[*herald.Error](err); !ok || e.Topic != "bus" || e.Subscription != "c" {
		t.Errorf("error %#v does not name topic and subscription", err)
	}
	wantEqual(t, []string{"a"}, statesOf(topic))
	wantEqual(t, herald.TopicStats{Name: "bus", Published: 1, Closed: true}, topic.Stats())
	if !a.Stats().Closed || !b.Stats().Closed {
		t.Error("a subscription is open")
	}
	wantEqual(t, []int{1}, takeAll(t, a))
	wantEqual(t, []string(nil), statesOf(topic))
}

// Run goes on until the last message has met its end, whatever that is: delivered, dead after its retries, expired, or
// discarded. Close changes no delay (G33).
func TestG33_RunGoesOnToTheEnd(t *testing.T) {
	for what, c := range map[string]struct {
		opts    []herald.PublishOption
		handler func(m herald.Message[int]) error
		after   time.Duration
		want    tally
	}{
		"delayed": {[]herald.PublishOption{herald.WithDelay(time.Minute)}, func(herald.Message[int]) error { return nil },
			time.Minute, tally{Offered: 1, Accepted: 1, Delivered: 1}},
		"retried": {nil, func(herald.Message[int]) error { return errAttempt },
			3 * time.Second, tally{Offered: 1, Accepted: 1, Dead: 1}},
		"retried, keyed": {[]herald.PublishOption{herald.WithKey("k")}, func(herald.Message[int]) error { return errAttempt },
			3 * time.Second, tally{Offered: 1, Accepted: 1, Dead: 1}},
		"expired": {[]herald.PublishOption{herald.WithDelay(time.Minute), herald.WithTTL(time.Second)},
			func(herald.Message[int]) error { return errAttempt },
			time.Second, tally{Offered: 1, Accepted: 1, Dead: 1}},
	} {
		bubble(t, what, func(ctx context.Context, t *testing.T) {
			topic := newBus[int](t)
			s := subscribe(t, topic, "s", herald.WithRetry(policy.Schedule{time.Second, 2 * time.Second}))
			start := time.Now()
			wantErr(t, "Publish", topic.Publish(ctx, 1, c.opts...), nil)
			ran := running(ctx, s, func(_ context.Context, m herald.Message[int]) error { return c.handler(m) })
			wantErr(t, "Drain", topic.Drain(ctx), nil)
			wantErr(t, "Run", <-ran, nil)
			wantEqual(t, c.after, time.Since(start))
			wantTally(t, s, c.want)
		})
	}
}

// When Run's ctx ends, Run returns its cause once running handlers have returned. What succeeded after that is
// delivered; an attempt that failed after that isn't counted, and its message is back in its place (G33).
func TestG33_RunsContextEnds(t *testing.T) {
	outcomes := map[string]struct {
		handler   func() error
		delivered bool
	}{
		"success":   {func() error { return nil }, true},
		"failure":   {func() error { return errAttempt }, false},
		"permanent": {func() error { return policy.Permanent(errAttempt) }, false},
		"panic":     {func() error { panic("handler") }, false},
		"stop":      {func() error { return policy.Stop(errors.New("stop")) }, false},
	}
	for what, c := range outcomes {
		bubble(t, what, func(ctx context.Context, t *testing.T) {
			topic, gate := newBus[int](t), make(chan struct{})
			s := subscribe(t, topic, "s", herald.WithConcurrency(2), herald.WithRetry(policy.Never()))
			publishAll(t, topic, 1, 2, 3)
			runCtx, cancel := context.WithCancelCause(ctx)
			ran := running(runCtx, s, func(_ context.Context, m herald.Message[int]) error {
				<-gate
				return c.handler()
			})
			settle()
			cancel(errAttempt)
			settle()
			if !pending(ran) {
				t.Fatal("Run left its handlers behind")
			}
			close(gate)
			wantErr(t, "Run", <-ran, errAttempt)
			want, rest := tally{Offered: 3, Accepted: 3, Queued: 3}, []int{1, 2, 3}
			if c.delivered {
				want, rest = tally{Offered: 3, Accepted: 3, Queued: 1, Delivered: 2}, []int{3}
			}
			wantTally(t, s, want)
			s.Close()
			var got tape[int]
			wantErr(t, "Run again", s.Run(ctx, func(ctx context.Context, m herald.Message[int]) error {
				if m.Attempt != 1 {
					t.Errorf("attempt %d of %d", m.Attempt, m.Payload)
				}
				return got.handler(ctx, m)
			}), nil)
			all := got.list()
			slices.Sort(all)
			wantEqual(t, rest, all)
		})
	}
}

// With concurrency 1 a message that is back in its place is the next one again, before what was queued behind it.
func TestG33_BackInItsPlace(t *testing.T) {
	topic := newBus[int](t)
	s := subscribe(t, topic, "s")
	publishAll(t, topic, 1, 2, 3)
	ctx, cancel := context.WithCancel(t.Context())
	wantErr(t, "Run", s.Run(ctx, func(context.Context, herald.Message[int]) error {
		cancel()
		return errAttempt
	}), context.Canceled)
	wantEqual(t, []int{1, 2, 3}, takeAll(t, s))
}

// A Run that waits for a retry ends at once with its ctx; the message waits in its place, and the next Run makes the
// next attempt when it's due and not before (G33).
func TestG33_WaitForRetryEndsAtOnce(t *testing.T) {
	for what, opts := range map[string][]herald.SubOption{
		"in place": nil, "aside": {herald.WithRetryAside()}, "workers": {herald.WithConcurrency(3)},
	} {
		bubble(t, what, func(ctx context.Context, t *testing.T) {
			topic, got := newBus[int](t), tape[time.Duration]{}
			s := subscribe(t, topic, "s", append(opts, herald.WithRetry(policy.Schedule{30 * time.Minute}))...)
			publishAll(t, topic, 1)
			start := time.Now()
			handler := func(_ context.Context, m herald.Message[int]) error {
				got.add(time.Since(start))
				if m.Attempt == 1 {
					return errAttempt
				}
				return nil
			}
			short, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			wantErr(t, "Run", s.Run(short, handler), context.DeadlineExceeded)
			wantEqual(t, time.Second, time.Since(start))
			if n := s.Stats(); n.InFlight+n.Delayed != 1 || n.Retried != 1 {
				t.Errorf("%+v", n)
			}
			s.Close()
			wantErr(t, "Run again", s.Run(ctx, handler), nil)
			wantEqual(t, []time.Duration{0, 30 * time.Minute}, got.list())
		})
	}
}

// Pause stops picks only: time goes on, so that what is queued expires and what is delayed becomes due; handlers under
// way finish; Close doesn't lift it (G33).
func TestG33_PauseStopsPicksOnly(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic, got, gate := newBus[int](t), tape[int]{}, make(chan struct{})
		s := subscribe(t, topic, "s")
		ran := running(ctx, s, func(ctx context.Context, m herald.Message[int]) error {
			if m.Payload == 1 {
				<-gate
			}
			return got.handler(ctx, m)
		})
		publishAll(t, topic, 1)
		settle()
		s.Pause()
		s.Pause()
		publishAll(t, topic, 2)
		wantErr(t, "Publish", topic.Publish(ctx, 3, herald.WithTTL(time.Second)), nil)
		wantErr(t, "Publish", topic.Publish(ctx, 4, herald.WithDelay(time.Second)), nil)
		close(gate)
		s.Close()
		time.Sleep(time.Minute)
		wantEqual(t, []int{1}, got.list())
		wantTally(t, s, tally{Offered: 4, Accepted: 4, Delivered: 1, Dead: 1, Queued: 2})
		if n := s.Stats(); !n.Paused || !n.Closed || !pending(ran) {
			t.Errorf("%+v", n)
		}
		s.Resume()
		wantErr(t, "Run", <-ran, nil)
		wantEqual(t, []int{1, 2, 4}, got.list())
	})
}

// Nothing is picked while it's paused, by any kind of consumer (G33).
func TestG33_PausedForAllConsumers(t *testing.T) {
	topic := newBus[int](t)
	s := subscribe(t, topic, "s")
	publishAll(t, topic, 1)
	s.Pause()
	if d, ok := s.TryReceive(); ok {
		t.Errorf("TryReceive = %v", d)
	}
	wantEqual(t, []int(nil), takeAll(t, s))
	s.Resume()
	wantEqual(t, []int{1}, takeAll(t, s))
}
