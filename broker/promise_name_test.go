package broker_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/broker"
)

func ignore[V any](context.Context, herald.Message[V]) error { return nil }

// A topic is made once, by its name, and has one type (G1).
func TestG01_TopicsByName(t *testing.T) {
	b := newBroker(t)
	first := topic[order](t, b, "orders.eu")
	if again := topic[order](t, b, "orders.eu"); again != first {
		t.Error("the second Topic is another one")
	}
	if found, err := broker.Lookup[order](b, "orders.eu"); found != first || err != nil {
		t.Errorf("Lookup = %v, %v", found, err)
	}
	for what, err := range map[string]error{
		"Topic":   second(broker.Topic[int](b, "orders.eu")),
		"Lookup":  second(broker.Lookup[int](b, "orders.eu")),
		"Publish": broker.Publish(t.Context(), b, "orders.eu", 1),
	} {
		typed, ok := errors.AsType[*broker.TypeError](err)
		if !ok || typed.Topic != "orders.eu" || !strings.Contains(err.Error(), "broker_test.order, not int") {
			t.Errorf("%s = %v", what, err)
		}
		wantPlace(t, err, "orders.eu", "")
	}
	for what, err := range map[string]error{
		"Lookup":      second(broker.Lookup[int](b, "nowhere")),
		"Lookup of a": second(broker.Lookup[int](b, "a..b")),
		"Publish":     broker.Publish(t.Context(), b, "nowhere", 1),
		"Delete":      b.Delete("nowhere"),
	} {
		if !errors.Is(err, broker.ErrNotFound) {
			t.Errorf("%s = %v", what, err)
		}
	}
	wantEqual(t, []string{"orders.eu"}, topics(b))
	if err := broker.Publish(t.Context(), b, "orders.eu", order{1}, herald.WithKey("k")); err != nil {
		t.Error(err)
	}
	if n := first.Stats().Published; n != 1 {
		t.Errorf("published %d", n)
	}
}

func second[V any](_ V, err error) error { return err }

// Types of one name in packages of one name are told apart.
func TestG01_TypeErrorOfLikeNames(t *testing.T) {
	b := newBroker(t)
	topic[slog.Handler](t, b, "x")
	type Handler interface{ Other() }
	_, err := broker.Lookup[Handler](b, "x")
	if err == nil || !strings.Contains(err.Error(), "slog.Handler, not broker_test.Handler") {
		t.Errorf("Lookup = %v", err)
	}
	if _, err := broker.Lookup[[]int](b, "x"); err == nil || !strings.Contains(err.Error(), "not []int") {
		t.Errorf("Lookup = %v", err)
	}
}

// Subscription names are unique in the broker, whoever makes the subscription, and free again when it's closed (G1).
func TestG01_NamesAreUniqueInTheBroker(t *testing.T) {
	b := newBroker(t)
	one, two := topic[int](t, b, "one"), topic[int](t, b, "two")
	var elsewhere herald.Topic[int]
	stray, err := elsewhere.Subscribe("s")
	if err != nil {
		t.Fatal(err)
	}
	ways := []struct {
		name string
		make func() error
	}{
		{"topic", func() error { return second(one.Subscribe("s")) }},
		{"other topic", func() error { return second(two.Subscribe("s")) }},
		{"view", func() error {
			return second(two.Filter(func(herald.Message[int]) bool { return true }).Subscribe("s"))
		}},
		{"match", func() error { return second(broker.Match[int](b, "*").Subscribe("s")) }},
		{"match of nothing", func() error { return second(broker.Match[string](b, "x").Subscribe("s")) }},
		{"handle", func() error { return broker.Handle(b, ">", "s", ignore[int]) }},
		{"attach", func() error { return broker.Attach(b, stray, ignore) }},
	}
	for _, first := range ways {
		for _, other := range ways {
			if err := first.make(); err != nil {
				t.Fatalf("%s: %v", first.name, err)
			}
			if first.name == "attach" && other.name == "attach" {
				wantErr(t, herald.ErrBusy, other.make())
			} else if err := other.make(); !errors.Is(err, herald.ErrDuplicate) {
				t.Errorf("%s after %s: %v", other.name, first.name, err)
			}
			wantEqual(t, []string{"s"}, names(b))
			if err := b.Unsubscribe("s"); err != nil {
				t.Error(err)
			}
			wantErr(t, broker.ErrNotFound, b.Unsubscribe("s"))
			wantEqual(t, nil, names(b))
			if first.name == "attach" { // it's closed now
				if stray, err = elsewhere.Subscribe("s"); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// Closing a subscription itself, or its topic, or deleting that, frees its name (G1).
func TestG01_NamesAreFreeAfterClose(t *testing.T) {
	b := newBroker(t)
	for i := range 4 {
		x := topic[int](t, b, "x")
		direct, err := x.Subscribe("direct")
		if err != nil {
			t.Fatal(err)
		}
		pattern := match[int](t, b, ">", "pattern")
		switch i {
		case 0:
			direct.Close()
		case 1:
			x.Close()
			if again := topic[int](t, b, "x"); again != x { // still known, as it isn't deleted
				t.Error("a closed topic was replaced")
			}
			wantErr(t, herald.ErrClosed, broker.Publish(t.Context(), b, "x", 1))
			fallthrough
		case 2:
			b.Delete("x")
			wantEqual(t, nil, topics(b))
			topic[string](t, b, "x") // of another type
			b.Delete("x")
		case 3:
			direct.Drain(t.Context())
		}
		wantEqual(t, []string{"pattern"}, names(b))
		pattern.Close()
		pattern.Close()
		wantEqual(t, nil, names(b))
	}
}

// A topic that its user has closed is in nobody's way (G1).
func TestG01_ClosedTopicDoesNotMatter(t *testing.T) {
	b := newBroker(t)
	topic[int](t, b, "a.closed").Close()
	open := topic[int](t, b, "a.open")
	sub := match[int](t, b, "a.*", "s")
	match[int](t, b, "a.closed", "exact")
	publish(t, open, 1)
	wantEqual(t, []int{1}, drain(t, sub, func(v int) int { return v }))
	if err := b.Drain(t.Context()); err != nil {
		t.Error(err)
	}
}

// What is wrong is an error at once that says what and where, and nothing has changed (G1, G15).
func TestG01_BadArguments(t *testing.T) {
	b := newBroker(t)
	x := topic[int](t, b, "x")
	sub := match[int](t, b, "x", "sub")
	if err := broker.Attach(b, sub, ignore); err != nil {
		t.Fatal(err)
	}
	closed := match[int](t, b, "x", "closed")
	closed.Close()
	for what, c := range map[string]struct {
		want error
		err  error
	}{
		"topic name":        {herald.ErrName, second(broker.Topic[int](b, "a.*"))},
		"topic option":      {herald.ErrOption, second(broker.Topic[int](b, "y", herald.WithSubscriptionLimit(0)))},
		"zero topic option": {herald.ErrOption, second(broker.Topic[int](b, "y", herald.TopicOption{}))},
		"pattern":           {herald.ErrName, second(broker.Match[int](b, "a.>.b").Subscribe("y"))},
		"empty pattern":     {herald.ErrName, broker.Handle(b, "", "y", ignore[int])},
		"name":              {herald.ErrName, broker.Handle(b, ">", "a\nb", ignore[int])},
		"option":            {herald.ErrOption, broker.Handle(b, ">", "y", ignore[int], herald.WithCapacity(0))},
		"nil handler":       {herald.ErrOption, broker.Handle[int](b, ">", "y", nil)},
		"nil filter":        {herald.ErrOption, second(broker.Match[int](b, ">").Filter(nil).Subscribe("y"))},
		"attach nothing":    {herald.ErrOption, broker.Attach[int](b, nil, ignore)},
		"attach nil":        {herald.ErrOption, broker.Attach(b, closed, nil)},
		"attach twice":      {herald.ErrBusy, broker.Attach(b, sub, ignore)},
		"limit":             {herald.ErrOption, second(broker.New(broker.WithTopicLimit(0)))},
		"pattern limit":     {herald.ErrOption, second(broker.New(broker.WithPatternLimit(-1)))},
		"capacity":          {herald.ErrOption, second(broker.New(broker.WithDeadLetterCapacity(0)))},
		"logger":            {herald.ErrOption, second(broker.New(broker.WithLogger(nil)))},
		"zero option":       {herald.ErrOption, second(broker.New(broker.Option{}))},
		"nil ctx, publish":  {herald.ErrOption, broker.Publish(nil, b, "x", 1)},           //lint:ignore SA1012 on purpose
		"nil ctx, run":      {herald.ErrOption, b.Run(nil)},                               //lint:ignore SA1012 on purpose
		"nil ctx, idle":     {herald.ErrOption, second(b.RunUntilIdle(nil))},              //lint:ignore SA1012 on purpose
		"nil ctx, wait":     {herald.ErrOption, b.WaitIdle(nil)},                          //lint:ignore SA1012 on purpose
		"nil ctx, drain":    {herald.ErrOption, b.Drain(nil)},                             //lint:ignore SA1012 on purpose
		"nil ctx, replay":   {herald.ErrOption, second(b.DeadLetters().Replay(nil, nil))}, //lint:ignore SA1012 on purpose
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", what, c.err, c.want)
		}
		if e, ok := errors.AsType[*herald.Error](c.err); !ok || e.Op == "" {
			t.Errorf("%s: %#v is no *herald.Error", what, c.err)
		}
	}
	wantEqual(t, []string{"x"}, topics(b))
	wantEqual(t, []string{"sub"}, names(b))
	publish(t, x, 1)
	if n := untilIdle(t, b); n != 1 {
		t.Errorf("handled %d", n)
	}
}

// A closed subscription may be attached, to be emptied, and needs no name.
func TestG01_AttachOfAClosedOne(t *testing.T) {
	b := newBroker(t)
	var j journal
	old := match[int](t, b, "x", "s")
	publish(t, topic[int](t, b, "x"), 1)
	old.Close()
	handleNoting[int](t, b, &j, "x", "s")
	if err := broker.Attach(b, old, noting[int](&j, "old", nil)); err != nil {
		t.Fatal(err)
	}
	publish(t, topic[int](t, b, "x"), 2)
	untilIdle(t, b)
	wantEqual(t, []string{"s x 2", "old x 1"}, j.take())
	wantEqual(t, []string{"s"}, names(b))
}

// The zero broker works (G1).
func TestG01_ZeroBroker(t *testing.T) {
	var b broker.Broker
	if err := b.Unsubscribe("s"); !errors.Is(err, broker.ErrNotFound) {
		t.Error(err)
	}
	if n, err := b.RunUntilIdle(t.Context()); n != 0 || err != nil {
		t.Errorf("RunUntilIdle = %d, %v", n, err)
	}
	var j journal
	handleNoting[int](t, &b, &j, ">", "s")
	publish(t, topic[int](t, &b, "x"), 1)
	untilIdle(t, &b)
	wantEqual(t, []string{"s x 1"}, j.take())
	if err := b.Drain(t.Context()); err != nil || b.DeadLetters().Len() != 0 {
		t.Error(err)
	}
}

// An error's text names the topic once.
func TestG3_ErrorsNameTheTopicOnce(t *testing.T) {
	b := newBroker(t)
	topic[int](t, b, "orders.eu")
	match[int](t, b, "later", "waits")
	_, wrongType := broker.Lookup[string](b, "orders.eu")
	_, asString := broker.Topic[string](b, "orders.eu")
	_, unknown := broker.Lookup[string](b, "none")
	_, byPattern := broker.Match[string](b, "orders.eu").Subscribe("s")
	for _, c := range []struct {
		name string
		err  error
	}{{"orders.eu", wrongType}, {"orders.eu", asString}, {"orders.eu", byPattern}, {"none", unknown}} {
		if n := strings.Count(fmt.Sprint(c.err), c.name); n != 1 {
			t.Errorf("%q names the topic %d times", c.err, n)
		}
	}
}
