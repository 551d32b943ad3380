package broker_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/broker"
	"github.com/heraldbus/herald/policy"
)

// A T is what both testing.T and rapid.T are.
type T interface {
	Helper()
	Cleanup(func())
	Fatal(...any)
	Errorf(string, ...any)
}

var errBoom = errors.New("boom")

// An order and a refund are types of values; both are events.
type (
	order  struct{ ID int }
	refund struct{ Name string }
	event  interface{ Event() string }
)

func (o order) Event() string   { return "order " + strconv.Itoa(o.ID) }
func (r *refund) Event() string { return "refund " + r.Name }

// newBroker makes a broker that is closed when the test ends, so that nothing hangs.
func newBroker(t T, opts ...broker.Option) *broker.Broker {
	t.Helper()
	quiet := broker.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil)))
	b, err := broker.New(append([]broker.Option{quiet}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func topic[V any](t T, b *broker.Broker, name string, opts ...herald.TopicOption) *herald.Topic[V] {
	t.Helper()
	topic, err := broker.Topic[V](b, name, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return topic
}

func match[V any](t T, b *broker.Broker, pattern, name string, opts ...herald.SubOption) *herald.Subscription[V] {
	t.Helper()
	sub, err := broker.Match[V](b, pattern).Subscribe(name, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return sub
}

func publish[V any](t T, topic *herald.Topic[V], vs ...V) {
	t.Helper()
	for _, v := range vs {
		if err := topic.Publish(context.Background(), v); err != nil {
			t.Errorf("publishing %v to %s: %v", v, topic.Name(), err)
		}
	}
}

// A journal notes what handlers get, as "subscription topic payload".
type journal struct {
	mu    sync.Mutex // protects lines
	lines []string
}

func (j *journal) note(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

// take returns what was noted since it was last asked.
func (j *journal) take() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	lines := j.lines
	j.lines = nil
	return lines
}

// noting returns a handler that notes what it gets and then returns err.
func noting[V any](j *journal, sub string, err error) herald.Handler[V] {
	return func(_ context.Context, m herald.Message[V]) error {
		j.note("%s %s %v", sub, m.Topic(), m.Payload)
		return err
	}
}

func handle[V any](t T, b *broker.Broker, pattern, name string, h herald.Handler[V], opts ...herald.SubOption) {
	t.Helper()
	if err := broker.Handle(b, pattern, name, h, opts...); err != nil {
		t.Fatal(err)
	}
}

// handleNoting handles with a noting handler.
func handleNoting[V any](t T, b *broker.Broker, j *journal, pattern, name string, opts ...herald.SubOption) {
	t.Helper()
	handle(t, b, pattern, name, noting[V](j, name, nil), opts...)
}

func untilIdle(t T, b *broker.Broker) int {
	t.Helper()
	n, err := b.RunUntilIdle(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// start runs b in a bubble until the test ends; the result is on its way once it does.
func start(ctx context.Context, b *broker.Broker) <-chan error {
	result := make(chan error, 1)
	go func() { result <- b.Run(ctx) }()
	synctest.Wait()
	return result
}

func names(b *broker.Broker) []string {
	var names []string
	for s := range b.Subscriptions() {
		names = append(names, s.Name)
	}
	return names
}

func topics(b *broker.Broker) []string {
	var names []string
	for s := range b.Topics() {
		names = append(names, s.Name)
	}
	return names
}

func statsOf(t T, b *broker.Broker, name string) herald.SubStats {
	t.Helper()
	for s := range b.Subscriptions() {
		if s.Name == name {
			return s
		}
	}
	t.Fatal("no subscription", name)
	panic("unreachable")
}

func wantEqual[V any](t T, want, got V) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func wantErr(t T, want, got error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("error %v, want %v", got, want)
	}
}

// wantPlace fails unless err names the topic and the subscription.
func wantPlace(t T, err error, topic, sub string) {
	t.Helper()
	e, ok := errors.AsType[*herald.Error](err)
	if !ok || e.Op == "" || e.Topic != topic || e.Subscription != sub {
		t.Errorf("error %#v does not name %q, %q and the call", err, topic, sub)
	}
}

// check is rapid.Check that fails where rapid, short of time, ran fewer checks than asked.
func check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	ran := 0
	rapid.Check(t, func(t *rapid.T) {
		ran++
		property(t)
	})
	asked, err := strconv.Atoi(flag.Lookup("rapid.checks").Value.String())
	if err != nil {
		t.Fatal(err)
	}
	if !testing.Short() && ran < asked {
		t.Errorf("rapid ran %d of %d checks", ran, asked)
	}
}

var never = policy.Never()
