package broker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/broker"
)

// After Unsubscribe, and a subscription's own Close, nothing more is offered; what it holds is still handled, and a Drain
// waits for that (G32).
func TestG32_UnsubscribedIsStillHandled(t *testing.T) {
	ways := map[string]func(b *broker.Broker, sub *herald.Subscription[int]) error{
		"unsubscribe": func(b *broker.Broker, sub *herald.Subscription[int]) error { return b.Unsubscribe("s") },
		"close":       func(b *broker.Broker, sub *herald.Subscription[int]) error { return sub.Close() },
	}
	subs := map[string]func(t *testing.T, b *broker.Broker) *herald.Subscription[int]{
		"by pattern": func(t *testing.T, b *broker.Broker) *herald.Subscription[int] { return match[int](t, b, "*", "s") },
		"of a topic": func(t *testing.T, b *broker.Broker) *herald.Subscription[int] {
			sub, _ := topic[int](t, b, "x").Subscribe("s")
			return sub
		},
	}
	for way, end := range ways {
		for kind, make := range subs {
			t.Run(way+" "+kind, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					b := newBroker(t)
					var j journal
					x := topic[int](t, b, "x")
					sub := make(t, b)
					broker.Attach(b, sub, func(ctx context.Context, m herald.Message[int]) error {
						time.Sleep(time.Minute)
						return noting[int](&j, "s", nil)(ctx, m)
					})
					publish(t, x, 1, 2)
					if err := end(b, sub); err != nil {
						t.Error(err)
					}
					publish(t, x, 3)
					wantErr(t, broker.ErrNotFound, b.Unsubscribe("s"))
					wantEqual(t, []string{"s"}, names(b)) // as it has something to do
					again := match[int](t, b, "x", "s")
					again.Close()
					result := start(t.Context(), b)
					begun := time.Now()
					if err := b.Drain(t.Context()); err != nil || time.Since(begun) != 2*time.Minute {
						t.Errorf("Drain = %v after %v", err, time.Since(begun))
					}
					if err := <-result; err != nil {
						t.Errorf("Run = %v", err)
					}
					wantEqual(t, []string{"s x 1", "s x 2"}, j.take())
					wantEqual(t, nil, names(b))
				})
			})
		}
	}
}

// A closed subscription that the broker doesn't handle is its user's business: no Drain waits for it (G32).
func TestG32_UnhandledIsForgotten(t *testing.T) {
	b := newBroker(t)
	direct, err := topic[int](t, b, "x").Subscribe("direct")
	if err != nil {
		t.Fatal(err)
	}
	sub := match[int](t, b, "x", "pattern")
	publish(t, topic[int](t, b, "x"), 1)
	sub.Close()
	b.Delete("x")
	wantEqual(t, nil, names(b))
	if err := b.Drain(t.Context()); err != nil {
		t.Error(err)
	}
	for _, s := range []*herald.Subscription[int]{direct, sub} {
		wantEqual(t, []int{1}, drain(t, s, func(v int) int { return v }))
	}
}

// After Close nothing can be made or published, and what was accepted is handled (G33).
func TestG33_Close(t *testing.T) {
	b := newBroker(t)
	var j journal
	x := topic[int](t, b, "x")
	handleNoting[int](t, b, &j, ">", "s")
	var elsewhere herald.Topic[int]
	stray, _ := elsewhere.Subscribe("stray")
	broker.Attach(b, stray, noting[int](&j, "stray", nil))
	mine, _ := elsewhere.Subscribe("mine")
	view := broker.Match[int](b, "x")
	publish(t, x, 1)
	publish(t, &elsewhere, 2)
	for range 3 {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	for what, err := range map[string]error{
		"Topic":         second(broker.Topic[int](b, "x")),
		"new Topic":     second(broker.Topic[int](b, "y")),
		"Publish":       broker.Publish(t.Context(), b, "x", 1),
		"Publish to no": broker.Publish(t.Context(), b, "nowhere", 1),
		"topic.Publish": x.Publish(t.Context(), 1),
		"subscribe":     second(x.Subscribe("new")),
		"Match":         second(view.Subscribe("new")),
		"Handle":        broker.Handle(b, "x", "new", ignore[int]),
		"Attach":        broker.Attach(b, mine, ignore),
	} {
		if !errors.Is(err, herald.ErrClosed) {
			t.Errorf("%s = %v", what, err)
		}
	}
	if found, err := broker.Lookup[int](b, "x"); found != x || err != nil {
		t.Errorf("Lookup = %v, %v", found, err)
	}
	publish(t, &elsewhere, 3) // the topic isn't the broker's
	wantEqual(t, []string{"s", "stray"}, names(b))
	untilIdle(t, b)
	wantEqual(t, []string{"s x 1", "stray  2"}, j.take())
	wantEqual(t, nil, names(b))
	wantEqual(t, []string{"x"}, topics(b))
	if err := b.Delete("x"); err != nil {
		t.Error(err)
	}
}

// Drain says what is left over all topics and subscriptions, handlers under way too, and may be called again (G33).
func TestG33_DrainSaysWhatIsLeft(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBroker(t)
		x := topic[int](t, b, "x")
		x.Subscribe("direct")
		match[int](t, b, ">", "pattern")
		match[int](t, b, "y", "quiet")
		handle(t, b, "x", "handled", func(context.Context, herald.Message[int]) error {
			time.Sleep(time.Hour)
			return nil
		})
		publish(t, x, 1, 2)
		x.Publish(t.Context(), 3, herald.WithDelay(time.Minute))
		result := start(t.Context(), b)
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errBoom)
		defer cancel()
		for range 2 {
			err := b.Drain(ctx)
			wantErr(t, errBoom, err)
			e, ok := errors.AsType[*herald.DrainError](err)
			if !ok {
				t.Fatalf("Drain = %v", err)
			}
			var left []string
			for _, s := range e.Left {
				left = append(left, fmt.Sprintf("%s/%s %d %d %d %d", s.Topic, s.Name, s.Queued, s.Delayed, s.InFlight, len(s.Running)))
			}
			wantEqual(t, []string{"x/direct 2 1 0 0", ">/pattern 2 1 0 0", "x/handled 1 1 1 1"}, left)
		}
		var before []string
		for s := range b.Subscriptions() {
			before = append(before, s.Name)
		}
		wantEqual(t, []string{"direct", "pattern", "handled"}, before)
		if err := <-result; err != nil { // Run is done with what it handles
			t.Errorf("Run = %v", err)
		}
		if got := names(b); !slices.Equal(got, []string{"direct", "pattern"}) {
			t.Errorf("left: %v", got)
		}
	})
}

// WaitIdle and Drain wait for subscriptions that nobody handles, or that are paused, until somebody does (G33).
func TestG33_WaitsForAll(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBroker(t)
		direct, _ := topic[int](t, b, "x").Subscribe("direct")
		pattern := match[int](t, b, "x", "pattern")
		broker.Attach(b, pattern, ignore)
		pattern.Pause()
		publish(t, topic[int](t, b, "x"), 1)
		result := start(t.Context(), b)
		var waiting sync.WaitGroup
		begun := time.Now()
		for _, wait := range []func(context.Context) error{b.WaitIdle, b.Drain, b.WaitIdle} {
			waiting.Go(func() {
				if err := wait(t.Context()); err != nil || time.Since(begun) != 2*time.Hour {
					t.Errorf("%v after %v", err, time.Since(begun))
				}
			})
			synctest.Wait()
		}
		time.Sleep(time.Hour)
		go direct.Run(t.Context(), ignore)
		time.Sleep(time.Hour)
		pattern.Resume()
		waiting.Wait()
		if err := <-result; err != nil {
			t.Error(err)
		}
	})
}

// WaitIdle returns when all is quiet at one moment, not each at some moment: two subscriptions that keep handing a message
// to each other are never idle in between (G33).
func TestG33_IdleAtOneMoment(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBroker(t)
		topic[int](t, b, "ping")
		topic[int](t, b, "pong")
		hits := 0
		for from, to := range map[string]string{"ping": "pong", "pong": "ping"} {
			handle(t, b, from, from, func(ctx context.Context, m herald.Message[int]) error {
				time.Sleep(time.Second)
				hits++ // one message: never both at a time
				if m.Payload == 0 {
					return nil
				}
				return broker.Publish(ctx, b, to, m.Payload-1)
			})
		}
		broker.Publish(t.Context(), b, "ping", 100)
		result := start(t.Context(), b)
		if err := b.WaitIdle(t.Context()); err != nil || hits != 101 {
			t.Errorf("WaitIdle = %v after %d", err, hits)
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errBoom)
		defer cancel()
		broker.Publish(t.Context(), b, "ping", 100)
		if err := b.WaitIdle(ctx); err != errBoom {
			t.Errorf("WaitIdle = %v", err)
		}
		if err := b.WaitIdle(ctx); err != errBoom {
			t.Errorf("WaitIdle with a context that is done = %v", err)
		}
		b.Close()
		<-result
	})
}

// The same with real goroutines, as fast as they can (G33).
func TestG33_IdleAtOneMomentOfMany(t *testing.T) {
	const hops = 5000
	b := newBroker(t)
	var done atomic.Int64
	for _, hop := range []struct{ from, to string }{{"ping", "pong"}, {"pong", "ping"}} {
		topic[int](t, b, hop.from)
		handle(t, b, hop.from, hop.from, func(ctx context.Context, m herald.Message[int]) error {
			if done.Add(1) == hops {
				return nil
			}
			return broker.Publish(ctx, b, hop.to, 0)
		})
	}
	broker.Publish(t.Context(), b, "ping", 0)
	result := make(chan error, 1)
	go func() { result <- b.Run(context.Background()) }()
	if err := b.WaitIdle(t.Context()); err != nil || done.Load() != hops {
		t.Errorf("WaitIdle = %v after %d of %d hops", err, done.Load(), hops)
	}
	b.Close()
	if err := <-result; err != nil {
		t.Error(err)
	}
}

// From inside a handler WaitIdle and Drain are ErrDeadlock at once, whatever else there is to wait for; Drain has closed
// the broker then (G18).
func TestG18_WaitInAHandler(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBroker(t)
		match[int](t, b, "x", "never quiet")
		checked := 0
		handle(t, b, "x", "s", func(ctx context.Context, m herald.Message[int]) error {
			for i, wait := range []func(context.Context) error{b.WaitIdle, b.Drain} {
				err := wait(ctx)
				wantErr(t, herald.ErrDeadlock, err)
				wantPlace(t, err, "x", "s")
				if _, err := broker.Topic[int](b, "new"); i == 1 != errors.Is(err, herald.ErrClosed) {
					t.Errorf("making a topic: %v", err)
				}
				checked++
			}
			return nil
		})
		publish(t, topic[int](t, b, "x"), 1)
		if n := untilIdle(t, b); n != 1 || checked != 2 {
			t.Errorf("handled %d, checked %d", n, checked)
		}
	})
}

// Drain of a broker with nothing in it, and WaitIdle with nothing to wait for, return at once, whatever the context (G34).
func TestG34_NothingToWaitFor(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var b broker.Broker
	for range 2 {
		if err := errors.Join(b.WaitIdle(ctx), b.Drain(ctx), b.Close()); err != nil {
			t.Error(err)
		}
	}
}
