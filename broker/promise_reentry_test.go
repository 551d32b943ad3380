package broker_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/broker"
	"github.com/heraldbus/herald/policy"
)

// A stage is a broker with a subscription "own" of the topic "x" with user code in every place that there is, and another,
// "other" of "o". The user code of one place makes one call, once.
type stage struct {
	t     *testing.T
	b     *broker.Broker
	place string
	call  func(ctx context.Context, s *stage)
	began atomic.Bool
	done  atomic.Bool
}

// reach makes the call if it's what this place is to do.
func (s *stage) reach(ctx context.Context, place string) {
	if place == s.place && s.began.CompareAndSwap(false, true) {
		s.call(ctx, s)
		s.done.Store(true)
	}
}

func newStage(t *testing.T, place string, call func(context.Context, *stage)) *stage {
	s := &stage{t: t, b: newBroker(t), place: place, call: call}
	topic[int](t, s.b, "x")
	topic[int](t, s.b, "o")
	own, err := broker.Match[int](s.b, "x").
		Filter(func(herald.Message[int]) bool { s.reach(t.Context(), "filter"); return true }).
		KeyBy(func(herald.Message[int]) string { s.reach(t.Context(), "key"); return "" }).
		DeadLetterTo(func(herald.DeadLetter[int]) error { s.reach(t.Context(), "put"); return nil }).
		Subscribe("own", herald.WithCapacity(2), herald.WithOverflow(overflowFunc(func() { s.reach(t.Context(), "overflow") })),
			herald.WithRetry(retryFunc(func() { s.reach(t.Context(), "retry") })),
			herald.WithMiddleware(func(next herald.Next) herald.Next {
				return func(ctx context.Context, m herald.Meta) error {
					s.reach(ctx, "middleware")
					return next(ctx, m)
				}
			}))
	if err != nil {
		t.Fatal(err)
	}
	if err := broker.Attach(s.b, own, func(ctx context.Context, m herald.Message[int]) error {
		s.reach(ctx, "handler")
		if m.Payload == 1 {
			return errBoom
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	handle(t, s.b, "o", "other", func(ctx context.Context, m herald.Message[int]) error {
		return policy.Permanent(errBoom)
	})
	return s
}

type overflowFunc func()

func (f overflowFunc) OnFull(policy.Full) policy.Action { f(); return policy.DropNewest() }

type retryFunc func()

func (f retryFunc) Next(failed int, _ error) (time.Duration, bool) {
	f()
	return time.Second, failed < 2
}

// perform brings it about that all places are reached.
func (s *stage) perform(run func()) {
	ctx := s.t.Context()
	broker.Publish(ctx, s.b, "o", 1)
	for v := 1; v <= 3; v++ { // the third finds it full
		broker.Publish(ctx, s.b, "x", v)
	}
	run()
	match := func(place string) func(broker.Letter) bool {
		return func(broker.Letter) bool { s.reach(ctx, place); return true }
	}
	for v := 4; v <= 6; v++ {
		broker.Publish(ctx, s.b, "x", v)
	}
	for range s.b.DeadLetters().All() {
		s.reach(ctx, "loop over letters")
	}
	s.b.DeadLetters().Replay(ctx, match("match of replay"))
	run()
	s.b.DeadLetters().Purge(match("match of purge"))
	for range s.b.Topics() {
		s.reach(ctx, "loop over topics")
	}
	for range s.b.Subscriptions() {
		s.reach(ctx, "loop over subscriptions")
	}
}

// calls are all there are. Those that wait are called with a context that ends, but from a handler.
func reentrantCalls() map[string]func(ctx context.Context, s *stage) {
	wait := func(f func(*broker.Broker, context.Context) error) func(context.Context, *stage) {
		return func(ctx context.Context, s *stage) {
			begun := time.Now()
			if s.place == "handler" || s.place == "middleware" {
				if err := f(s.b, ctx); !errors.Is(err, herald.ErrDeadlock) || time.Since(begun) > 0 {
					s.t.Errorf("%v after %v", err, time.Since(begun))
				}
				return
			}
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			_ = f(s.b, ctx)
			if time.Since(begun) > time.Minute {
				s.t.Errorf("returned after %v", time.Since(begun))
			}
		}
	}
	return map[string]func(context.Context, *stage){
		"Topic":           func(_ context.Context, s *stage) { broker.Topic[int](s.b, "new") },
		"Topic again":     func(_ context.Context, s *stage) { broker.Topic[int](s.b, "x") },
		"Lookup":          func(_ context.Context, s *stage) { broker.Lookup[string](s.b, "x") },
		"Publish":         func(ctx context.Context, s *stage) { broker.Publish(ctx, s.b, "x", 9) },
		"Publish other":   func(ctx context.Context, s *stage) { broker.Publish(ctx, s.b, "o", 9) },
		"Subscribe":       func(_ context.Context, s *stage) { broker.Match[any](s.b, ">").Subscribe("new") },
		"Handle":          func(_ context.Context, s *stage) { broker.Handle(s.b, "x", "new", ignore[int]) },
		"Attach":          func(_ context.Context, s *stage) { broker.Attach(s.b, match[int](s.t, s.b, ">", "new"), ignore) },
		"Unsubscribe":     func(_ context.Context, s *stage) { s.b.Unsubscribe("own") },
		"Unsub other":     func(_ context.Context, s *stage) { s.b.Unsubscribe("other") },
		"Delete":          func(_ context.Context, s *stage) { s.b.Delete("x") },
		"Delete other":    func(_ context.Context, s *stage) { s.b.Delete("o") },
		"Delete, Topic":   func(_ context.Context, s *stage) { s.b.Delete("x"); broker.Topic[string](s.b, "x") },
		"statistics":      func(_ context.Context, s *stage) { topics(s.b); names(s.b) },
		"Letters":         func(_ context.Context, s *stage) { printLetters(s.b) },
		"Replay":          func(ctx context.Context, s *stage) { s.b.DeadLetters().Replay(ctx, nil) },
		"Purge":           func(_ context.Context, s *stage) { s.b.DeadLetters().Purge(nil) },
		"Close":           func(_ context.Context, s *stage) { s.b.Close() },
		"WaitIdle":        wait((*broker.Broker).WaitIdle),
		"Drain":           wait((*broker.Broker).Drain),
		"topic.Subscribe": func(_ context.Context, s *stage) { topic[int](s.t, s.b, "o").Subscribe("new") },
		"topic.Close": func(_ context.Context, s *stage) {
			for _, name := range []string{"x", "o"} {
				topic[int](s.t, s.b, name).Close()
			}
		},
		"Run, if it isn't running": func(ctx context.Context, s *stage) {
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			s.b.Run(ctx)
		},
		"RunUntilIdle, if it isn't running": func(ctx context.Context, s *stage) { s.b.RunUntilIdle(ctx) },
	}
}

func printLetters(b *broker.Broker) {
	for l := range b.DeadLetters().All() {
		_ = l.String()
	}
}

var reentrantPlaces = []string{
	"filter", "key", "overflow", "retry", "put", "middleware", "handler",
	"loop over letters", "match of replay", "match of purge", "loop over topics", "loop over subscriptions",
}

// Every call may be made from inside all user code there is: it returns, and afterwards the broker works on (G18).
func TestG18_Matrix(t *testing.T) {
	for name, call := range reentrantCalls() {
		for _, place := range reentrantPlaces {
			for _, mode := range []string{"Run", "RunUntilIdle"} {
				t.Run(name+"/"+place+"/"+mode, func(t *testing.T) {
					bubble(t, func(t *testing.T) { testReentry(t, place, call, mode) })
				})
			}
		}
	}
}

func testReentry(t *testing.T, place string, call func(context.Context, *stage), mode string) {
	s := newStage(t, place, call)
	if mode == "Run" {
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error, 1)
		start := sync.OnceFunc(func() { go func() { result <- s.b.Run(ctx) }() }) // once the first messages are there
		s.perform(func() {
			start()
			time.Sleep(time.Hour)
			synctest.Wait()
		})
		cancel()
		<-result
	} else {
		s.perform(func() { s.b.RunUntilIdle(t.Context()) })
	}
	if !s.done.Load() {
		t.Fatalf("never came to the %s", place)
	}
	s.b.Close()
	untilIdle(t, s.b)
	for sub := range s.b.Subscriptions() {
		if sub.Accepted != sub.Delivered+sub.Dead+sub.Dropped+sub.Discarded+sub.Queued+sub.Delayed+sub.InFlight {
			t.Errorf("G4 does not hold: %+v", sub)
		}
	}
}
