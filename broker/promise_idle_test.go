package broker_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/broker"
	"github.com/heraldbus/herald/policy"
)

// Each subscription in turn handles one message, on the caller's goroutine, whatever its concurrency; so all happens in
// one order.
func TestG13_UntilIdleIsRoundRobin(t *testing.T) {
	b := newBroker(t)
	var j journal
	handleNoting[int](t, b, &j, "x", "a", herald.WithConcurrency(8))
	handleNoting[int](t, b, &j, ">", "b")
	x, y := topic[int](t, b, "x"), topic[int](t, b, "y")
	handle(t, b, "y", "c", func(ctx context.Context, m herald.Message[int]) error {
		j.note("c %d", m.Payload)
		if m.Payload < 3 {
			return broker.Publish(ctx, b, "y", m.Payload+1)
		}
		return nil
	})
	publish(t, x, 1, 2)
	publish(t, y, 1)
	if n := untilIdle(t, b); n != 10 {
		t.Errorf("handled %d", n)
	}
	wantEqual(t, []string{"a x 1", "b x 1", "c 1", "a x 2", "b x 2", "c 2", "b y 1", "c 3", "b y 2", "b y 3"}, j.take())
}

// Retries and delays are waited for, to the moment; attempts that failed count as handled (G20, G24).
func TestG20_UntilIdleWaitsForWhatIsDue(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBroker(t)
		begun := time.Now()
		var got []string
		handle(t, b, ">", "s", func(_ context.Context, m herald.Message[string]) error {
			got = append(got, fmt.Sprint(m.Payload, " ", m.Attempt, " ", time.Since(begun)))
			if m.Payload == "bad" {
				return errBoom
			}
			return nil
		}, herald.WithRetry(policy.Schedule{time.Second, time.Hour}))
		x := topic[string](t, b, "x")
		x.Publish(t.Context(), "bad")
		x.Publish(t.Context(), "late", herald.WithDelay(24*time.Hour))
		x.Publish(t.Context(), "gone", herald.WithDelay(2*time.Hour), herald.WithTTL(time.Minute))
		x.Publish(t.Context(), "next")
		if n := untilIdle(t, b); n != 5 {
			t.Errorf("handled %d", n)
		}
		wantEqual(t, []string{"bad 1 0s", "bad 2 1s", "bad 3 1h0m1s", "next 1 1h0m1s", "late 1 24h0m0s"}, got)
		var dead []string
		for l := range b.DeadLetters().All() {
			dead = append(dead, fmt.Sprint(l.Payload, " ", l.Reason, " ", l.At.Sub(begun)))
		}
		wantEqual(t, []string{"gone expired 1m0s", "bad retries exhausted 1h0m1s"}, dead)
	})
}

// What is paused or not handled, ready or not, is neither waited for nor looked at again and again.
func TestG33_PausedIsIdle(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBroker(t)
		x := topic[int](t, b, "x")
		match[int](t, b, "x", "unhandled")
		paused := match[int](t, b, "x", "paused")
		broker.Attach(b, paused, ignore)
		paused.Pause()
		publish(t, x, 1)
		x.Publish(t.Context(), 2, herald.WithDelay(time.Hour))
		x.Publish(t.Context(), 3, herald.WithTTL(time.Hour))
		begun := time.Now()
		if n := untilIdle(t, b); n != 0 || time.Since(begun) != 0 {
			t.Errorf("handled %d in %v", n, time.Since(begun))
		}
		paused.Resume()
		if n := untilIdle(t, b); n != 3 || time.Since(begun) != time.Hour {
			t.Errorf("handled %d in %v", n, time.Since(begun))
		}
	})
}

// While it waits for what is due later, whatever else there is to do is done at once: what others publish, resume, replay,
// subscribe (G9).
func TestG09_UntilIdleWakesForOthers(t *testing.T) {
	for name, act := range map[string]func(t *testing.T, b *broker.Broker, paused *herald.Subscription[int], h herald.Handler[int]){
		"publish": func(t *testing.T, b *broker.Broker, _ *herald.Subscription[int], _ herald.Handler[int]) {
			broker.Publish(t.Context(), b, "x", 2)
		},
		"publish earlier delay": func(t *testing.T, b *broker.Broker, _ *herald.Subscription[int], _ herald.Handler[int]) {
			time.Sleep(-time.Second + time.Minute)
			topic, _ := broker.Lookup[int](b, "x")
			topic.Publish(t.Context(), 2, herald.WithDelay(time.Second))
		},
		"resume": func(t *testing.T, _ *broker.Broker, paused *herald.Subscription[int], _ herald.Handler[int]) {
			paused.Resume()
		},
		"resume, then due": func(t *testing.T, b *broker.Broker, paused *herald.Subscription[int], _ herald.Handler[int]) {
			paused.Discard()
			topic, _ := broker.Lookup[int](b, "p")
			topic.Publish(t.Context(), 2, herald.WithDelay(time.Minute))
			synctest.Wait()
			paused.Resume()
		},
		"attach": func(t *testing.T, b *broker.Broker, _ *herald.Subscription[int], h herald.Handler[int]) {
			sub := match[int](t, b, "new", "new")
			publish(t, topic[int](t, b, "new"), 2)
			broker.Attach(b, sub, h)
		},
		"replay": func(t *testing.T, b *broker.Broker, _ *herald.Subscription[int], _ herald.Handler[int]) {
			b.DeadLetters().Replay(t.Context(), nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				b := newBroker(t)
				x := topic[int](t, b, "x")
				begun := time.Now()
				at := map[int]time.Duration{}
				h := func(_ context.Context, m herald.Message[int]) error {
					at[m.Payload] = time.Since(begun)
					if m.Payload == 2 && name == "replay" && m.Replays() == 0 {
						return policy.Permanent(errBoom)
					}
					return nil
				}
				handle(t, b, "x", "s", h)
				paused := match[int](t, b, "p", "paused")
				paused.Pause()
				broker.Attach(b, paused, h)
				publish(t, topic[int](t, b, "p"), 2)
				if name == "replay" {
					publish(t, x, 2)
				}
				x.Publish(t.Context(), 1, herald.WithDelay(24*time.Hour))
				ended := make(chan int)
				go func() { ended <- untilIdle(t, b) }()
				synctest.Wait()
				time.Sleep(time.Hour)
				act(t, b, paused, h)
				<-ended
				want := time.Hour
				if name == "publish earlier delay" || name == "resume, then due" {
					want += time.Minute
				}
				if at[2] != want || at[1] != 24*time.Hour {
					t.Errorf("handled at %v", at)
				}
			})
		})
	}
}

// A context that ends, before, in a handler, or in a wait, ends it with its cause, and nothing is lost.
func TestG33_UntilIdleEndsWithItsContext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBroker(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		handle(t, b, "x", "s", func(_ context.Context, m herald.Message[int]) error {
			if m.Payload == 2 {
				cancel(errBoom)
			}
			return nil
		})
		x := topic[int](t, b, "x")
		publish(t, x, 1, 2, 3)
		x.Publish(t.Context(), 4, herald.WithDelay(time.Hour))
		if n, err := b.RunUntilIdle(ctx); n != 2 || err != errBoom {
			t.Errorf("RunUntilIdle = %d, %v", n, err)
		}
		if n, err := b.RunUntilIdle(ctx); n != 0 || err != errBoom {
			t.Errorf("RunUntilIdle = %d, %v", n, err)
		}
		brief, cancelBrief := context.WithTimeout(t.Context(), time.Minute)
		defer cancelBrief()
		if n, err := b.RunUntilIdle(brief); n != 1 || err != context.DeadlineExceeded {
			t.Errorf("RunUntilIdle = %d, %v", n, err)
		}
		if n := untilIdle(t, b); n != 1 {
			t.Errorf("handled %d", n)
		}
	})
}

// When it ends it leaves nothing behind that would keep the next consumer of a subscription from waking up (G9).
func TestG09_UntilIdleLeavesNothingBehind(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBroker(t)
		begun := time.Now()
		var at []time.Duration
		h := func(_ context.Context, m herald.Message[int]) error {
			at = append(at, time.Since(begun))
			return nil
		}
		sub := match[int](t, b, "x", "s")
		broker.Attach(b, sub, h)
		topic[int](t, b, "x").Publish(t.Context(), 1, herald.WithDelay(time.Hour))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := b.RunUntilIdle(ctx)
		wantErr(t, context.DeadlineExceeded, err)
		go sub.Run(t.Context(), h)
		time.Sleep(2 * time.Hour)
		publish(t, topic[int](t, b, "x"), 2)
		synctest.Wait()
		wantEqual(t, []time.Duration{time.Hour, 2*time.Hour + time.Minute}, at)
	})
}

// policy.Stop ends it with the error; nil too. The message is back in its place, and isn't counted (G16).
func TestG16_StopEndsUntilIdle(t *testing.T) {
	b := newBroker(t)
	var stop error
	handle(t, b, "x", "s", func(_ context.Context, m herald.Message[int]) error {
		if m.Payload == 1 {
			return nil
		}
		return policy.Stop(stop)
	})
	publish(t, topic[int](t, b, "x"), 1, 2)
	if n, err := b.RunUntilIdle(t.Context()); n != 1 || err != nil {
		t.Errorf("RunUntilIdle = %d, %v", n, err)
	}
	stop = errBoom
	if n, err := b.RunUntilIdle(t.Context()); n != 0 || err != errBoom {
		t.Errorf("RunUntilIdle = %d, %v", n, err)
	}
	if s := statsOf(t, b, "s"); s.Queued != 1 || s.Delivered != 1 {
		t.Errorf("%+v", s)
	}
}

// A middleware's verdict counts like a handler's: policy.Stop ends RunUntilIdle with its error or none, and the message
// keeps its place (G16).
func TestG16_MiddlewareStopsRunUntilIdle(t *testing.T) {
	for _, cause := range []error{nil, errBoom} {
		t.Run(fmt.Sprint(cause), func(t *testing.T) {
			b := newBroker(t)
			stops := 1
			stopOnce := func(next herald.Next) herald.Next {
				return func(ctx context.Context, m herald.Meta) error {
					if stops--; stops == 0 {
						return policy.Stop(cause)
					}
					return next(ctx, m)
				}
			}
			var j journal
			handleNoting[int](t, b, &j, "x", "s", herald.WithMiddleware(stopOnce))
			publish(t, topic[int](t, b, "x"), 1, 2)
			if n, err := b.RunUntilIdle(t.Context()); n != 0 || err != cause {
				t.Errorf("RunUntilIdle returned %d, %v; want 0, %v", n, err, cause)
			}
			if n := untilIdle(t, b); n != 2 {
				t.Errorf("afterwards handled %d", n)
			}
			wantEqual(t, []string{"s x 1", "s x 2"}, j.take())
		})
	}
}
