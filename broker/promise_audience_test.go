package broker_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/broker"
)

// A subscription by pattern gets what is published after it was made, and nothing after it was closed (G3).
func TestG03_BeforeAndAfter(t *testing.T) {
	b := newBroker(t)
	x := topic[int](t, b, "x")
	publish(t, x, 1)
	sub := match[int](t, b, "*", "s")
	publish(t, x, 2)
	y := topic[int](t, b, "y")
	publish(t, y, 3)
	sub.Close()
	publish(t, x, 4)
	publish(t, y, 5)
	publish(t, topic[int](t, b, "z"), 6)
	wantEqual(t, []int{2, 3}, drain(t, sub, func(v int) int { return v }))
	if s := sub.Stats(); s.Offered != 2 {
		t.Errorf("offered %d", s.Offered)
	}
}

// A handler that subscribes doesn't get the message being dispatched, and one that unsubscribes keeps it from nobody (G3).
func TestG03_OneSnapshotForAPublish(t *testing.T) {
	b := newBroker(t)
	var j journal
	handle(t, b, "a.*", "maker", func(_ context.Context, m herald.Message[int]) error {
		j.note("maker %d", m.Payload)
		return broker.Handle(b, "a.>", fmt.Sprintf("made %d", m.Payload), noting[int](&j, "made", nil))
	})
	handle(t, b, "a.*", "leaver", func(_ context.Context, m herald.Message[int]) error {
		j.note("leaver %d", m.Payload)
		return b.Unsubscribe("leaver")
	})
	handleNoting[int](t, b, &j, ">", "last")
	x := topic[int](t, b, "a.x")
	for v := 1; v <= 2; v++ {
		publish(t, x, v)
		untilIdle(t, b)
		j.note("-")
	}
	wantEqual(t, []string{"maker 1", "leaver 1", "last a.x 1", "-", "maker 2", "last a.x 2", "made a.x 2", "-"}, j.take())
}

// A publish that overlaps with the making of topics and subscriptions is offered or not; one that begins after is (G3). A
// topic that two make at once is one topic.
func TestG03_ConcurrentMaking(t *testing.T) {
	const topicCount, subs, rounds = 8, 4, 20
	for range rounds {
		b := newBroker(t)
		var all sync.WaitGroup
		var published atomic.Int64
		for i := range topicCount * 2 {
			all.Go(func() {
				name := fmt.Sprintf("t.%d", i/2)
				publish(t, topic[int](t, b, name), i)
				published.Add(1)
			})
		}
		for i := range subs {
			all.Go(func() {
				sub := match[int](t, b, "t.*", fmt.Sprintf("s%d", i))
				before := sub.Stats().Offered
				for k := range topicCount {
					publish(t, topic[int](t, b, fmt.Sprintf("t.%d", k)), -1)
				}
				published.Add(topicCount)
				if n := sub.Stats().Offered; n < before+topicCount {
					t.Errorf("offered %d of %d published after it was made", n-before, topicCount)
				}
			})
		}
		all.Wait()
		if n := len(topics(b)); n != topicCount {
			t.Errorf("%d topics", n)
		}
		late := match[int](t, b, "t.*", "late")
		for k := range topicCount {
			publish(t, topic[int](t, b, fmt.Sprintf("t.%d", k)), -2)
		}
		if n := late.Stats().Offered; n != topicCount {
			t.Errorf("offered %d", n)
		}
		var total uint64
		for s := range b.Topics() {
			total += s.Published
		}
		if want := uint64(published.Load()) + topicCount; total != want {
			t.Errorf("published %d, want %d", total, want)
		}
		b.Close()
	}
}

// Delete takes a topic and its own subscriptions away; those by pattern just lose it, and get the next one of that name
// (G3, G32).
func TestG03_DeleteAndMakeAgain(t *testing.T) {
	b := newBroker(t)
	var j journal
	old := topic[int](t, b, "x")
	direct, err := old.Subscribe("direct")
	if err != nil {
		t.Fatal(err)
	}
	handleNoting[any](t, b, &j, ">", "any")
	handleNoting[string](t, b, &j, "*", "strings")
	publish(t, old, 1)
	if err := b.Delete("x"); err != nil {
		t.Fatal(err)
	}
	wantErr(t, herald.ErrClosed, old.Publish(t.Context(), 2))
	wantErr(t, broker.ErrNotFound, b.Delete("x"))
	wantErr(t, broker.ErrNotFound, broker.Publish(t.Context(), b, "x", 2))
	wantEqual(t, []string{"any", "strings"}, names(b))
	publish(t, topic[string](t, b, "x"), "new")
	untilIdle(t, b)
	wantEqual(t, []string{"any x 1", "strings x new", "any x new"}, j.take())
	wantEqual(t, []int{1}, drain(t, direct, func(v int) int { return v })) // its user's business
}
