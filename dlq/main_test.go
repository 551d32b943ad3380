package dlq

import (
	"context"
	"errors"
	"flag"
	"strconv"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type letter = herald.DeadLetter[int]

var errNo = errors.New("no")

func fail[T any](context.Context, herald.Message[T]) error    { return errNo }
func succeed[T any](context.Context, herald.Message[T]) error { return nil }

// A fixture is a topic with one subscription that gives up at the first
// failure, and its dead letters.
type fixture[T any] struct {
	topic herald.Topic[T]
	sub   *herald.Subscription[T]
	tap   func(herald.DeadLetter[T]) // where not nil, gets a copy of each letter
	*Queue[T]
}

func (f *fixture[T]) put(d herald.DeadLetter[T]) error {
	if f.tap != nil {
		f.tap(d)
	}
	return f.Put(d)
}

func newFixture[T any](t testing.TB, capacity int, opts ...herald.SubOption) *fixture[T] {
	t.Helper()
	f := &fixture[T]{Queue: New[T](capacity)}
	var err error
	f.sub, err = f.topic.DeadLetterTo(f.put).Subscribe("s", append(opts, herald.WithRetry(policy.Never()))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.topic.Close() })
	return f
}

// die makes dead letters of vs.
func (f *fixture[T]) die(t testing.TB, vs ...T) {
	t.Helper()
	for _, v := range vs {
		if err := f.topic.Publish(context.Background(), v); err != nil {
			t.Fatal(err)
		}
		f.step(t, fail[T])
	}
}

// step handles what is queued.
func (f *fixture[T]) step(t testing.TB, h herald.Handler[T]) {
	t.Helper()
	for ok := true; ok; {
		var err error
		if ok, err = f.sub.Step(context.Background(), h); err != nil {
			t.Fatal(err)
		}
	}
}

func payloads[T any](q *Queue[T]) []T {
	var vs []T
	for d := range q.All() {
		vs = append(vs, d.Payload)
	}
	return vs
}

func payloadIs(v int) func(letter) bool {
	return func(d letter) bool { return d.Payload == v }
}

// find returns the letter with payload v.
func find(t testing.TB, q *Queue[int], v int) letter {
	t.Helper()
	for d := range q.All() {
		if d.Payload == v {
			return d
		}
	}
	t.Fatalf("no letter %d", v)
	panic("unreachable")
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
	t.Logf("%d checks", ran)
}

// sound fails unless the inside of q is as it should be.
func sound[T any](t rapid.TB, q *Queue[T]) {
	t.Helper()
	if err := q.store.Check(q.limit()); err != nil {
		t.Fatal(err)
	}
}
