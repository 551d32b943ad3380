package herald_test

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heraldbus/herald"
)

// What the tests of publishing, overflow, deadlocks and lifecycle share.

// silent is a topic option: what the test provokes is not logged.
func silent() herald.TopicOption { return herald.WithLogger(slog.New(slog.DiscardHandler)) }

// newBus makes a silent topic named "bus" that is closed when the test ends.
func newBus[T any](t testing.TB, opts ...herald.TopicOption) *herald.Topic[T] {
	t.Helper()
	return newBusNamed[T](t, "bus", opts...)
}

func newBusNamed[T any](t testing.TB, name string, opts ...herald.TopicOption) *herald.Topic[T] {
	t.Helper()
	topic, err := herald.NewTopic[T](name, append([]herald.TopicOption{silent()}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { topic.Close() })
	return topic
}

// A viewed is a Topic or a View.
type viewed[T any] interface {
	Subscribe(name string, opts ...herald.SubOption) (*herald.Subscription[T], error)
}

func subscribe[T any](t testing.TB, v viewed[T], name string, opts ...herald.SubOption) *herald.Subscription[T] {
	t.Helper()
	s, err := v.Subscribe(name, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// publishAll publishes each of vs, and all must be accepted by all.
func publishAll[T any](t testing.TB, topic *herald.Topic[T], vs ...T) {
	t.Helper()
	for _, v := range vs {
		if err := topic.Publish(context.Background(), v); err != nil {
			t.Fatalf("Publish(%v) = %v", v, err)
		}
	}
}

// takeAll handles, with success, what is ready in s, and returns the payloads in order.
func takeAll[T any](t testing.TB, s *herald.Subscription[T]) []T {
	t.Helper()
	var got []T
	for {
		ok, err := s.Step(context.Background(), func(_ context.Context, m herald.Message[T]) error {
			got = append(got, m.Payload)
			return nil
		})
		if err != nil {
			t.Errorf("Step = %v", err)
		}
		if !ok || err != nil {
			return got
		}
	}
}

// stepWith handles one message, which must be there, with h.
func stepWith[T any](t testing.TB, s *herald.Subscription[T], h herald.Handler[T]) {
	t.Helper()
	if ok, err := s.Step(context.Background(), h); !ok || err != nil {
		t.Errorf("Step = %v, %v", ok, err)
	}
}

// inFlight begins to handle one message of s, which must be ready, with h on a goroutine of its own. It returns once
// the handler runs; the function that it returns waits until the handler has ended.
func inFlight[T any](t testing.TB, s *herald.Subscription[T], h herald.Handler[T]) (wait func()) {
	t.Helper()
	begun, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		stepWith(t, s, func(ctx context.Context, m herald.Message[T]) error {
			close(begun)
			return h(ctx, m)
		})
	}()
	<-begun
	return func() { <-done }
}

// held is inFlight with a handler that succeeds when the function returned is called, which waits for its end.
func held[T any](t testing.TB, s *herald.Subscription[T]) (open func()) {
	t.Helper()
	gate := make(chan struct{})
	wait := inFlight(t, s, func(context.Context, herald.Message[T]) error { <-gate; return nil })
	return func() {
		close(gate)
		wait()
	}
}

// background calls f on a goroutine of its own; the channel returned gets its result.
func background[R any](f func() R) <-chan R {
	c := make(chan R, 1)
	go func() { c <- f() }()
	return c
}

// running runs s with h; the channel returned gets Run's result.
func running[T any](ctx context.Context, s *herald.Subscription[T], h herald.Handler[T]) <-chan error {
	return background(func() error { return s.Run(ctx, h) })
}

// pending reports whether c has no result yet.
func pending[R any](c <-chan R) bool { return len(c) == 0 }

// A tape records payloads from any goroutine.
type tape[T any] struct {
	mu  sync.Mutex
	all []T
}

func (r *tape[T]) add(v T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, v)
}

func (r *tape[T]) list() []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}

// handler is a handler that records and succeeds.
func (r *tape[T]) handler(_ context.Context, m herald.Message[T]) error {
	r.add(m.Payload)
	return nil
}

// A letterBox keeps dead letters.
type letterBox[T any] struct{ tape[herald.DeadLetter[T]] }

func (b *letterBox[T]) put(d herald.DeadLetter[T]) error {
	b.add(d)
	return nil
}

// bubble runs f as a subtest with a virtual clock. The context that f gets ends after an hour of it, so that what
// waits for ever fails instead of hanging: a waiting publish logs now and then, and so is never at rest.
func bubble(t *testing.T, name string, f func(ctx context.Context, t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { inBubble(t, f) })
}

func inBubble(t *testing.T, f func(ctx context.Context, t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		f(ctx, t)
	})
}

// settle waits, in a bubble, until nothing moves any more without time going on.
func settle() { synctest.Wait() }

// patience is how long a call outside a bubble may take before it counts as hanging; once one has, the others are
// given less, so that a fault costs seconds and not minutes.
const (
	patience     = 10 * time.Second
	lessPatience = 3 * time.Second
)

var hasHung atomic.Bool

// returns fails if f, on a goroutine of its own, does not come to an end: for what might hang on a mutex, which a
// bubble doesn't see.
func returns(t testing.TB, what string, f func()) (ok bool) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	limit := patience
	if hasHung.Load() {
		limit = lessPatience
	}
	select {
	case <-done:
		return true
	case <-time.After(limit):
		hasHung.Store(true)
		t.Errorf("%s hangs", what)
		return false
	}
}
