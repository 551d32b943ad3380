package herald_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// TestG35_AMessageIsTheHandlersOwn: what a handler, a filter or a key function does to its Message stays there: the next
// attempt and other subscriptions get it as published. Headers can't be changed at all, and a batch's slice is free.
func TestG35_AMessageIsTheHandlersOwn(t *testing.T) {
	topic := newBus[[2]int](t)
	spoil := func(m *herald.Message[[2]int]) {
		*m = herald.Message[[2]int]{Payload: [2]int{-1, -1}}
		m.Key, m.Seq, m.Priority, m.Attempt = "spoilt", 99, herald.Low, 99
	}
	spoilt := subscribe(t, topic.
		Filter(func(m herald.Message[[2]int]) bool { spoil(&m); return true }).
		KeyBy(func(m herald.Message[[2]int]) string { spoil(&m); return "k" }), "spoilt", herald.WithRetry(policy.Schedule{0}))
	other := subscribe(t, topic, "other")

	given := map[string]string{"a": "1"}
	batch := [][2]int{{1, 2}, {3, 4}}
	_, err := topic.PublishBatch(t.Context(), batch, herald.WithKey("k"), herald.WithPriority(herald.High),
		herald.WithHeaders(herald.NewHeaders(given)))
	wantErr(t, "PublishBatch", err, nil)
	given["a"], batch[0], batch[1] = "2", [2]int{}, [2]int{}

	var got []herald.Message[[2]int]
	look := func(_ context.Context, m herald.Message[[2]int]) error {
		got = append(got, m)
		spoil(&m)
		if len(got) == 1 {
			return errBoom
		}
		return nil
	}
	for range 3 {
		stepWith(t, spoilt, look)
	}
	for range 2 {
		stepWith(t, other, look)
	}
	for i, want := range []string{
		"[1 2] k 1 1 high", "[1 2] k 1 2 high", "[3 4] k 2 1 high", // spoilt
		"[1 2] k 1 1 high", "[3 4] k 2 1 high", // other
	} {
		m := got[i]
		wantEqual(t, want, fmt.Sprint(m.Payload, " ", m.Key, " ", m.Seq, " ", m.Attempt, " ", m.Priority))
		wantEqual(t, herald.NewHeaders(map[string]string{"a": "1"}), m.Headers())
	}
}

// TestG35_HeadersAreImmutable: those that one publish gets and adds to serve the next one as they were.
func TestG35_HeadersAreImmutable(t *testing.T) {
	r := newRig(t)
	shared := herald.NewHeaders(map[string]string{"a": "1", "b": "1"})
	for _, o := range [][]herald.PublishOption{
		{herald.WithHeaders(shared), herald.WithHeader("a", "2")},
		{herald.WithHeaders(shared), herald.WithHeaders(herald.NewHeaders(map[string]string{"b": "2", "c": "2"}))},
		{herald.WithHeaders(shared)},
	} {
		r.publish("m", o...)
	}
	var got []string
	r.steps(func(_ context.Context, m herald.Message[string]) error {
		h := m.Headers()
		got = append(got, h.Get("a")+h.Get("b")+h.Get("c"))
		return nil
	})
	wantEqual(t, []string{"21", "122", "11"}, got)
}

// TestG35_ThePayloadIsShared: where it's a pointer, all subscriptions have the same one.
func TestG35_ThePayloadIsShared(t *testing.T) {
	topic := newBus[*int](t)
	a, b := subscribe(t, topic, "a"), subscribe(t, topic, "b")
	p := new(int)
	publishAll(t, topic, p)
	for _, s := range []*herald.Subscription[*int]{a, b} {
		if got := takeAll(t, s); len(got) != 1 || got[0] != p {
			t.Errorf("got %v, want %p", got, p)
		}
	}
}
