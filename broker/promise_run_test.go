package broker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/broker"
	"github.com/heraldbus/herald/policy"
)

// bubble runs a test in a synctest bubble: what isn't over when it ends is a failure.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// Run handles what is there and what comes, of subscriptions and topics made before and meanwhile, and ends with nil
// once the broker is closed and all is handled (G33).
func TestG33_RunUntilClosed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBroker(t)
		var j journal
		x := topic[int](t, b, "x")
		handleNoting[int](t, b, &j, "x", "before")
		publish(t, x, 1)
		result := start(t.Context(), b)
		wantEqual(t, []string{"before x 1"}, j.take())

		handleNoting[int](t, b, &j, "*", "meanwhile")
		publish(t, topic[int](t, b, "y"), 2)
		synctest.Wait()
		wantEqual(t, []string{"meanwhile y 2"}, j.take())
		direct, err := x.Subscribe("direct")
		if err != nil {
			t.Fatal(err)
		}
		broker.Attach(b, direct, noting[int](&j, "direct", nil))
		publish(t, x, 3)
		synctest.Wait()
		wantEqual(t, []string{"before x 3", "direct x 3", "meanwhile x 3"}, sorted(j.take()))

		b.Unsubscribe("before")
		publish(t, x, 4)
		synctest.Wait()
		wantEqual(t, []string{"direct x 4", "meanwhile x 4"}, sorted(j.take()))
		if err := b.Drain(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-result; err != nil {
			t.Errorf("Run = %v", err)
		}
		if err := b.Run(t.Context()); err != nil { // nothing is left
			t.Errorf("Run = %v", err)
		}
	})
}

func sorted(lines []string) []string {
	slices.Sort(lines)
	return lines
}

// When ctx ends Run returns its cause, after the handlers; the message of one that then failed is back in its place, and
// Run may be called again (G33).
func TestG33_RunEndsWithItsContext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBroker(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		var attempts []int32
		handle(t, b, "x", "s", func(ctx context.Context, m herald.Message[int]) error {
			attempts = append(attempts, m.Attempt)
			if len(attempts) > 1 {
				return nil
			}
			<-ctx.Done()
			time.Sleep(time.Second)
			return errBoom
		})
		match[int](t, b, "x", "idle")
		publish(t, topic[int](t, b, "x"), 1)
		result := start(ctx, b)
		begun := time.Now()
		cancel(errBoom)
		if err := <-result; err != errBoom || time.Since(begun) != time.Second {
			t.Errorf("Run = %v after %v", err, time.Since(begun))
		}
		if err := b.Run(ctx); err != errBoom {
			t.Errorf("Run with a context that is done = %v", err)
		}
		result = start(t.Context(), b)
		b.Close()
		if err := <-result; err != nil {
			t.Errorf("Run = %v", err)
		}
		wantEqual(t, []int32{1, 1}, attempts)
	})
}

// A handler's policy.Stop ends Run with its error. Handlers of others finish undisturbed, and no message is lost (G16,
// G33).
func TestG33_StopEndsRun(t *testing.T) {
	for name, stop := range map[string]error{"an error": errBoom, "nil": nil} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				b := newBroker(t)
				x := topic[int](t, b, "x")
				var disturbed error
				var done atomic.Int32
				handle(t, b, "x", "slow", func(ctx context.Context, m herald.Message[int]) error {
					time.Sleep(time.Hour)
					disturbed = ctx.Err()
					done.Add(1)
					return nil
				})
				handle(t, b, "y", "idle", ignore[int])
				handle(t, b, "x", "stopper", func(_ context.Context, m herald.Message[int]) error {
					if done.Load() > 0 {
						return nil
					}
					time.Sleep(time.Minute)
					return fmt.Errorf("wrapped: %w", policy.Stop(stop))
				})
				publish(t, x, 1, 2)
				begun := time.Now()
				if err := b.Run(t.Context()); err != stop {
					t.Errorf("Run = %v", err)
				}
				if got := time.Since(begun); got != time.Hour || disturbed != nil || done.Load() != 1 {
					t.Errorf("ended after %v; the other's context: %v; it handled %d", got, disturbed, done.Load())
				}
				if s := statsOf(t, b, "stopper"); s.Queued != 2 || s.Retried+s.Dead > 0 {
					t.Errorf("stopper: %+v", s)
				}
				b.Close()
				if err := b.Run(t.Context()); err != nil || done.Load() != 2 {
					t.Errorf("second Run = %v, handled %d", err, done.Load())
				}
			})
		})
	}
}

// A Stop before all dispatchers have come to their subscriptions ends those too (G33).
func TestG33_StopAtOnce(t *testing.T) {
	for range 20 {
		bubble(t, func(t *testing.T) {
			b := newBroker(t)
			handle(t, b, "x", "stopper", noting[int](&journal{}, "", policy.Stop(errBoom)))
			for i := range 50 {
				handle(t, b, "y", fmt.Sprint(i), ignore[int], herald.WithConcurrency(2))
			}
			publish(t, topic[int](t, b, "x"), 1)
			if err := b.Run(t.Context()); err != errBoom {
				t.Errorf("Run = %v", err)
			}
		})
	}
}

// The last handler's Stop on a closed broker ends Run with its error too (G33).
func TestG33_StopAfterClose(t *testing.T) {
	b := newBroker(t)
	handle(t, b, "x", "s", noting[int](&journal{}, "s", policy.Stop(errBoom)))
	publish(t, topic[int](t, b, "x"), 1)
	b.Close()
	for range 50 {
		if err := b.Run(t.Context()); err != errBoom {
			t.Errorf("Run = %v", err)
		}
		if n, err := b.RunUntilIdle(t.Context()); n != 0 || err != errBoom {
			t.Errorf("RunUntilIdle = %d, %v", n, err)
		}
	}
}

// One Run at a time, of either kind; afterwards the next (G13).
func TestG13_OneRunAtATime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBroker(t)
		result := start(t.Context(), b)
		wantErr(t, herald.ErrBusy, b.Run(t.Context()))
		_, err := b.RunUntilIdle(t.Context())
		wantErr(t, herald.ErrBusy, err)

		handle(t, b, "x", "s", func(ctx context.Context, m herald.Message[int]) error {
			wantErr(t, herald.ErrBusy, b.Run(ctx))
			_, err := b.RunUntilIdle(ctx)
			wantErr(t, herald.ErrBusy, err)
			return nil
		})
		publish(t, topic[int](t, b, "x"), 1)
		if err := b.Drain(t.Context()); err != nil {
			t.Error(err)
		}
		<-result
		if n := untilIdle(t, b); n != 0 {
			t.Errorf("handled %d", n)
		}
	})
}

// A subscription that somebody else consumes is an error of both modes that names it (G13).
func TestG13_AnotherConsumer(t *testing.T) {
	b := newBroker(t)
	sub := match[int](t, b, "x", "s")
	broker.Attach(b, sub, ignore)
	publish(t, topic[int](t, b, "x"), 1)
	d, _ := sub.TryReceive()
	err := b.Run(t.Context())
	wantErr(t, herald.ErrBusy, err)
	wantPlace(t, err, "x", "s")
	_, err = b.RunUntilIdle(t.Context())
	wantErr(t, herald.ErrBusy, err)
	wantPlace(t, err, "x", "s")
	d.Release()
	if n := untilIdle(t, b); n != 1 {
		t.Errorf("handled %d", n)
	}
}

// A subscription that couldn't keep up is disconnected, which is logged, and stops no other (G7, G10).
func TestG10_DisconnectStopsNoOther(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var log bytes.Buffer
		b := newBroker(t, broker.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		var j journal
		handleNoting[int](t, b, &j, "x", "slow", herald.WithCapacity(1), herald.WithOverflow(policy.Disconnect()))
		handleNoting[int](t, b, &j, "x", "other")
		x := topic[int](t, b, "x")
		publish(t, x, 1)
		wantErr(t, herald.ErrDisconnected, x.Publish(t.Context(), 2))
		result := start(t.Context(), b)
		publish(t, x, 3)
		synctest.Wait()
		wantEqual(t, []string{"other x 1", "other x 2", "other x 3", "slow x 1"}, sorted(j.take()))
		wantEqual(t, []string{"other"}, names(b))
		handle(t, b, "x", "slow", ignore[int]) // the name is free
		b.Close()
		if err := <-result; err != nil {
			t.Error(err)
		}
		if !strings.Contains(log.String(), "disconnected") || !strings.Contains(log.String(), "subscription=slow") {
			t.Errorf("log: %s", &log)
		}
	})
}

// A handler's runtime.Goexit is a failed attempt, and neither ends a Run nor hides how it ended (G16).
func TestG16_Goexit(t *testing.T) {
	for name, end := range map[string]func(b *broker.Broker, cancel func()){
		"closed":    func(b *broker.Broker, _ func()) { b.Close() },
		"cancelled": func(_ *broker.Broker, cancel func()) { cancel() },
		"stopped":   func(b *broker.Broker, _ func()) { broker.Publish(context.Background(), b, "x", -1) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				b := newBroker(t)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				handle(t, b, "x", "s", func(_ context.Context, m herald.Message[int]) error {
					if m.Payload < 0 {
						return policy.Stop(errBoom)
					}
					runtime.Goexit()
					return nil
				}, herald.WithRetry(never))
				x := topic[int](t, b, "x")
				publish(t, x, 1, 2)
				result := start(ctx, b)
				if n := b.DeadLetters().Len(); n != 2 {
					t.Errorf("%d dead", n)
				}
				end(b, cancel)
				want := map[string]error{"cancelled": context.Canceled, "stopped": herald.ErrHandlerExited}[name]
				if err := <-result; !errors.Is(err, want) {
					t.Errorf("Run = %v", err)
				}
			})
		})
	}
}

// Goexit in a handler of RunUntilIdle ends its caller, and leaves the broker usable (G16).
func TestG16_GoexitUntilIdle(t *testing.T) {
	b := newBroker(t)
	handle(t, b, "x", "s", func(_ context.Context, m herald.Message[int]) error {
		if m.Payload == 1 {
			runtime.Goexit()
		}
		return nil
	}, herald.WithRetry(never))
	publish(t, topic[int](t, b, "x"), 1, 2)
	ended := make(chan bool)
	go func() {
		defer close(ended)
		b.RunUntilIdle(context.Background())
		ended <- false
	}()
	if _, returned := <-ended; returned {
		t.Error("Goexit did not end the caller")
	}
	if n := untilIdle(t, b); n != 1 || b.DeadLetters().Len() != 1 {
		t.Errorf("handled %d, dead %d", n, b.DeadLetters().Len())
	}
}
