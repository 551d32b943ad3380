package broker_test

import (
	"context"
	"encoding/csv"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/broker"
)

// vectors reads testdata/wildcard_vectors.tsv: style, pattern, topic, result, …
func vectors(t *testing.T) [][]string {
	t.Helper()
	f, err := os.Open("testdata/wildcard_vectors.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma, r.Comment, r.LazyQuotes = '\t', '#', true
	r.FieldsPerRecord = 6
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// All vectors of the style nats, and nats-set, hold (G31). Those of nats-collide and nats-subset aren't ours: they
// compare two patterns, and the broker never does that, as it only joins patterns with topics.
func TestG31_Vectors(t *testing.T) {
	ran := map[string]int{}
	for _, row := range vectors(t) {
		style, pattern, name, result := row[0], row[1], row[2], row[3]
		switch style {
		case "nats":
			testVector(t, pattern, name, result)
		case "nats-set":
			testSet(t, strings.Split(pattern, " | "), name, strings.Split(result, ","))
		case "nats-collide", "nats-subset":
		default:
			t.Errorf("unknown style %q", style)
		}
		ran[style]++
	}
	wantEqual(t, map[string]int{"nats": 82, "nats-set": 1, "nats-collide": 7, "nats-subset": 7}, ran)
}

func testVector(t *testing.T, pattern, name, result string) {
	t.Helper()
	b := newBroker(t)
	switch result {
	case "valid-topic":
		topic[int](t, b, name)
	case "invalid-topic":
		topic, err := broker.Topic[int](b, name)
		if topic != nil || !errors.Is(err, herald.ErrName) {
			t.Errorf("Topic(%q) = %v, %v", name, topic, err)
		}
	case "invalid-pattern":
		sub, err := broker.Match[int](b, pattern).Subscribe("s")
		if sub != nil || !errors.Is(err, herald.ErrName) {
			t.Errorf("Match(%q).Subscribe = %v, %v", pattern, sub, err)
		}
	default:
		got := meets(t, pattern, name)
		if want := result == "1"; got != [2]bool{want, want} {
			t.Errorf("%q and %q: %t if the pattern is first, %t if the topic is; want %t", pattern, name, got[0], got[1], want)
		}
	}
}

// meets reports whether a subscription gets a message of the topic, made before and after it.
func meets(t *testing.T, pattern, name string) (got [2]bool) {
	t.Helper()
	for i := range got {
		b := newBroker(t)
		if i == 1 {
			broker.Topic[int](b, name)
		}
		sub := match[int](t, b, pattern, "s")
		topic, err := broker.Topic[int](b, name)
		if err != nil {
			wantErr(t, herald.ErrName, err) // a malformed name is refused, so it meets nothing
			continue
		}
		publish(t, topic, 1)
		got[i] = sub.Stats().Accepted == 1
	}
	return got
}

func testSet(t *testing.T, patterns []string, name string, want []string) {
	t.Helper()
	b := newBroker(t)
	for _, p := range patterns {
		match[int](t, b, p, p)
	}
	publish(t, topic[int](t, b, name), 1)
	var got []string
	for s := range b.Subscriptions() {
		if s.Accepted > 0 {
			got = append(got, s.Name)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	wantEqual(t, want, got)
}

// A pattern of an interface type takes the topics whose values implement it, of a type with pointer receivers too, and no
// others (G31).
func TestG31_InterfaceTypes(t *testing.T) {
	b := newBroker(t)
	orders := topic[order](t, b, "x.orders")
	events, all := match[event](t, b, "x.*", "events"), match[any](t, b, ">", "all")
	only := match[order](t, b, "x.*", "only orders")
	refunds := topic[*refund](t, b, "x.refunds")
	values := topic[refund](t, b, "x.values") // a refund is no event, a *refund is
	ints := topic[int](t, b, "x.ints")
	events2 := topic[event](t, b, "x.events")

	publish(t, orders, order{7})
	publish(t, refunds, &refund{"r"})
	publish(t, values, refund{"v"})
	publish(t, ints, 3)
	publish[event](t, events2, order{8}, nil)

	wantEqual(t, []string{"order 7", "refund r", "order 8", "nil"}, drain(t, events, func(e event) string {
		if e == nil {
			return "nil"
		}
		return e.Event()
	}))
	wantEqual(t, []any{order{7}, &refund{"r"}, refund{"v"}, 3, order{8}, nil}, drain(t, all, func(v any) any { return v }))
	wantEqual(t, []order{{7}}, drain(t, only, func(o order) order { return o }))
}

// drain steps through what sub holds.
func drain[V, R any](t T, sub *herald.Subscription[V], f func(V) R) (rs []R) {
	t.Helper()
	for ok := true; ok; {
		var err error
		ok, err = sub.Step(context.Background(), func(_ context.Context, m herald.Message[V]) error {
			rs = append(rs, f(m.Payload))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return rs
}

// A view over a pattern filters, keys and dead-letters like any other; and may be reused (G31).
func TestG31_ViewsWorkAsEver(t *testing.T) {
	b := newBroker(t)
	var letters []int
	view := broker.Match[int](b, "a.*").
		Filter(func(m herald.Message[int]) bool { return m.Payload > 0 }).
		KeyBy(func(m herald.Message[int]) string { return m.Topic() }).
		DeadLetterTo(func(d herald.DeadLetter[int]) error {
			letters = append(letters, d.Payload)
			return nil
		})
	one, err := view.Subscribe("one", herald.WithCapacity(2))
	if err != nil {
		t.Fatal(err)
	}
	two, err := view.Filter(func(m herald.Message[int]) bool { return m.Payload%2 == 0 }).Subscribe("two")
	if err != nil {
		t.Fatal(err)
	}
	publish(t, topic[int](t, b, "a.x"), -1, 1, 2, 3)
	var keys []string
	one.Step(t.Context(), func(_ context.Context, m herald.Message[int]) error {
		keys = append(keys, m.Key)
		return nil
	})
	wantEqual(t, []string{"a.x"}, keys)
	wantEqual(t, []int{3}, letters)
	wantEqual(t, []int{2}, drain(t, one, func(v int) int { return v }))
	wantEqual(t, []int{2}, drain(t, two, func(v int) int { return v }))
	if n := b.DeadLetters().Len(); n != 0 {
		t.Errorf("%d letters in the broker, which the view takes", n)
	}
}

// A topic that is made has its subscriptions before its first message, in order of their making (G31).
func TestG31_LaterTopicsAreMatchedFirst(t *testing.T) {
	b := newBroker(t)
	var j journal
	for _, pattern := range []string{"a.>", "a.b", "*.b", ">"} {
		handleNoting[int](t, b, &j, pattern, pattern)
	}
	if err := broker.Publish(t.Context(), b, "a.b", 1); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("publishing to a topic that isn't there: %v", err)
	}
	publish(t, topic[int](t, b, "a.b"), 1)
	untilIdle(t, b)
	wantEqual(t, []string{"a.> a.b 1", "a.b a.b 1", "*.b a.b 1", "> a.b 1"}, j.take())
}

// The subject of the wildcard is decided by name and type when the topic is made: its own name as a pattern of another
// type is an error if the topic is there, and matches nothing if it comes later (G31).
func TestG31_ExactNameOfAnotherType(t *testing.T) {
	b := newBroker(t)
	topic[order](t, b, "orders")
	sub, err := broker.Match[int](b, "orders").Subscribe("s")
	typed, ok := errors.AsType[*broker.TypeError](err)
	if sub != nil || !ok || typed.Topic != "orders" || typed.Has.Name() != "order" || typed.Asked.Name() != "int" {
		t.Errorf("Subscribe = %v, %v", sub, err)
	}
	wantPlace(t, err, "orders", "s")
	err = broker.Handle(b, "orders", "h", func(context.Context, herald.Message[string]) error { return nil })
	if _, ok := errors.AsType[*broker.TypeError](err); !ok {
		t.Errorf("Handle = %v", err)
	}
	wantEqual(t, nil, names(b))
	match[event](t, b, "orders", "events")
	later := match[int](t, b, "later", "ints")
	publish(t, topic[order](t, b, "later"), order{1})
	if s := later.Stats(); s.Offered != 0 {
		t.Errorf("a subscription for int was offered an order: %+v", s)
	}
}
