package herald_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// arrivals are the ways in which there comes to be a message for an idle consumer of s, after so much time.
var arrivals = map[string]struct {
	after time.Duration
	bring func(context.Context, *testing.T, *herald.Topic[int], *herald.Subscription[int])
}{
	"publish": {0, func(_ context.Context, t *testing.T, topic *herald.Topic[int], _ *herald.Subscription[int]) {
		publishAll(t, topic, 1)
	}},
	"delay": {time.Second, func(ctx context.Context, t *testing.T, topic *herald.Topic[int], _ *herald.Subscription[int]) {
		wantErr(t, "Publish", topic.Publish(ctx, 1, herald.WithDelay(time.Second)), nil)
	}},
	"earlier delay": {time.Second, func(ctx context.Context, t *testing.T, topic *herald.Topic[int], _ *herald.Subscription[int]) {
		wantErr(t, "Publish", topic.Publish(ctx, 2, herald.WithDelay(time.Minute)), nil)
		settle()
		wantErr(t, "Publish", topic.Publish(ctx, 1, herald.WithDelay(time.Second)), nil)
	}},
	"delay behind expiry": {time.Second, func(ctx context.Context, t *testing.T, topic *herald.Topic[int], _ *herald.Subscription[int]) {
		wantErr(t, "Publish", topic.Publish(ctx, 2, herald.WithDelay(time.Minute), herald.WithTTL(time.Millisecond)), nil)
		wantErr(t, "Publish", topic.Publish(ctx, 1, herald.WithDelay(time.Second)), nil)
	}},
	"resume": {0, func(_ context.Context, t *testing.T, topic *herald.Topic[int], s *herald.Subscription[int]) {
		s.Pause()
		settle()
		publishAll(t, topic, 1)
		settle()
		s.Resume()
	}},
	"resume after delay": {2 * time.Second, func(ctx context.Context, t *testing.T, topic *herald.Topic[int], s *herald.Subscription[int]) {
		s.Pause()
		wantErr(t, "Publish", topic.Publish(ctx, 1, herald.WithDelay(time.Second)), nil)
		time.Sleep(2 * time.Second)
		s.Resume()
	}},
	"replay": {0, func(ctx context.Context, t *testing.T, topic *herald.Topic[int], s *herald.Subscription[int]) {
		var letter herald.DeadLetter[int]
		dead := subscribe(t, topic.DeadLetterTo(func(d herald.DeadLetter[int]) error { letter = d; return nil }), "dead",
			herald.WithRetry(policy.Never()))
		s.Pause()
		publishAll(t, topic, 1)
		stepWith(t, dead, func(context.Context, herald.Message[int]) error { return errAttempt })
		wantErr(t, "Replay", letter.Replay(ctx), nil)
		wantEqual(t, []int{1}, takeAll(t, dead))
		s.Resume()
	}},
	"admission": {0, func(ctx context.Context, t *testing.T, topic *herald.Topic[int], s *herald.Subscription[int]) {
		s.Pause()
		publishAll(t, topic, 2, 3)
		waits := background(func() error { return topic.Publish(ctx, 1) })
		settle()
		s.Discard()
		s.Resume()
		wantErr(t, "Publish", <-waits, nil)
	}},
}

// An idle consumer gets a message as soon as it's ready, however that comes about: no ready message and idle consumer
// with nobody on the way (G9).
func TestG09_IdleConsumerIsWoken(t *testing.T) {
	consumers := map[string]func(context.Context, *herald.Subscription[int], *tape[int]){
		"Run":     func(ctx context.Context, s *herald.Subscription[int], got *tape[int]) { s.Run(ctx, got.handler) },
		"Receive": receiveAll,
		"two Receives": func(ctx context.Context, s *herald.Subscription[int], got *tape[int]) {
			go receiveAll(ctx, s, got)
			receiveAll(ctx, s, got)
		},
		"Messages": func(ctx context.Context, s *herald.Subscription[int], got *tape[int]) {
			for d := range s.Messages(ctx) {
				got.add(d.Payload)
				d.Ack()
			}
		},
	}
	for what, a := range arrivals {
		for how, consume := range consumers {
			for _, concurrency := range []int{1, 3} {
				bubble(t, what+"/"+how+"/"+strconv.Itoa(concurrency), func(ctx context.Context, t *testing.T) {
					topic := newBus[int](t)
					s := subscribe(t, topic, "s", herald.WithCapacity(2), herald.WithConcurrency(concurrency),
						herald.WithOverflow(policy.Block(0)))
					ctx, cancel := context.WithCancel(ctx)
					var got tape[int]
					go consume(ctx, s, &got)
					settle()
					start := time.Now()
					a.bring(ctx, t, topic, s)
					for len(got.list()) == 0 && time.Since(start) < a.after {
						time.Sleep(a.after - time.Since(start))
						settle()
					}
					settle()
					wantEqual(t, []int{1}, got.list())
					cancel()
				})
			}
		}
	}
}

func receiveAll(ctx context.Context, s *herald.Subscription[int], got *tape[int]) {
	for {
		d, err := s.Receive(ctx)
		if err != nil {
			return
		}
		got.add(d.Payload)
		d.Ack()
	}
}

// A message that comes back wakes who waits for one: given back by Release, by a failed attempt, or by a lease that
// ran out (G9).
func TestG09_WhatComesBackWakes(t *testing.T) {
	for what, c := range map[string]struct {
		back  func(*herald.Delivery[int]) error
		after time.Duration
	}{
		"release": {(*herald.Delivery[int]).Release, 0},
		"nack":    {func(d *herald.Delivery[int]) error { return d.Nack(errAttempt) }, time.Second},
		"lease":   {func(*herald.Delivery[int]) error { return nil }, 31 * time.Second},
		"at once": {func(d *herald.Delivery[int]) error { return d.Nack(policy.RetryAfter(0, errAttempt)) }, 0},
	} {
		bubble(t, what, func(ctx context.Context, t *testing.T) {
			topic := newBus[int](t)
			s := subscribe(t, topic, "s", herald.WithRetry(policy.Schedule{time.Second}))
			publishAll(t, topic, 1)
			first, ok := s.TryReceive()
			if !ok {
				t.Fatal("nothing there")
			}
			again := background(func() *herald.Delivery[int] { d, _ := s.Receive(ctx); return d })
			settle()
			start := time.Now()
			wantErr(t, what, c.back(first), nil)
			d := <-again
			wantEqual(t, []any{1, c.after}, []any{d.Payload, time.Since(start)})
			d.Ack()
		})
	}
}

// Several who wait in Receive get one message each.
func TestG09_EachWaitingReceiveIsWoken(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newBus[int](t)
		s := subscribe(t, topic, "s", herald.WithConcurrency(3))
		var waiting []<-chan *herald.Delivery[int]
		for range 3 {
			waiting = append(waiting, background(func() *herald.Delivery[int] { d, _ := s.Receive(ctx); return d }))
		}
		settle()
		publishAll(t, topic, 1, 2, 3)
		settle()
		seen := map[int]bool{}
		for _, w := range waiting {
			if pending(w) {
				t.Fatal("a message each, and one waits")
			}
			d := <-w
			seen[d.Payload] = true
			d.Ack()
		}
		if len(seen) != 3 {
			t.Errorf("got %v", seen)
		}
	})
}

// A publisher that waits is at rest, also while something in the full queue is due later: it doesn't keep looking.
func TestG09_AWaitIsAtRest(t *testing.T) {
	for what, opt := range map[string]herald.PublishOption{
		"delay": herald.WithDelay(time.Second), "expiry": herald.WithTTL(time.Second),
	} {
		bubble(t, what, func(ctx context.Context, t *testing.T) {
			topic := newBus[int](t)
			s := subscribe(t, topic, "s", blocking(0)...)
			wantErr(t, "Publish", topic.Publish(ctx, 1, opt), nil)
			published := background(func() error { return topic.Publish(ctx, 2) })
			start := time.Now()
			settle() // hangs where the publisher is busy
			wantEqual(t, time.Duration(0), time.Since(start))
			if !pending(published) {
				t.Errorf("Publish = %v", <-published)
			}
			s.Close()
		})
	}
}
