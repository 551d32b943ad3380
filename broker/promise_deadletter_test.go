package broker_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/broker"
	"github.com/heraldbus/herald/policy"
)

// The dead letters of all subscriptions, however made, are in one place, in order of their deaths, with all that is known
// of them (G28).
func TestG28_LettersOfAll(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBroker(t)
		orders, ints := topic[order](t, b, "orders"), topic[int](t, b, "ints")
		direct, err := orders.Subscribe("direct", herald.WithRetry(never))
		if err != nil {
			t.Fatal(err)
		}
		broker.Attach(b, direct, noting[order](&journal{}, "", errBoom))
		handle(t, b, ">", "all", noting[any](&journal{}, "", policy.Permanent(errBoom)))
		handle(t, b, "orders", "events", noting[event](&journal{}, "", fmt.Errorf("two\nlines: %w", errBoom)))
		match[int](t, b, "ints", "full", herald.WithCapacity(1))
		orders.Publish(t.Context(), order{1}, herald.WithID("id 1"), herald.WithKey("k"), herald.WithHeader("a", "b"))
		publish(t, ints, 7, 8)
		untilIdle(t, b)

		var got []string
		for l := range b.DeadLetters().All() {
			got = append(got, fmt.Sprint(l.Topic(), "/", l.Subscription, " ", l.Payload, " ", l.Reason, " ", l.Seq, " ", l.Attempt, " ", errors.Is(l.Err, errBoom)))
		}
		wantEqual(t, []string{
			"ints/full 8 overflow 2 0 false",
			"orders/direct {1} retries exhausted 1 1 true",
			"orders/all {1} permanent 1 1 true",
			"ints/all 7 permanent 1 1 true",
			"ints/all 8 permanent 2 1 true",
			"orders/events {1} retries exhausted 1 3 true",
		}, got)
		for l := range b.DeadLetters().All() {
			if l.Subscription != "events" {
				continue
			}
			if l.ID() != "id 1" || l.Key != "k" || l.Headers().Get("a") != "b" || !l.At.Equal(time.Now()) || l.Replays() != 0 {
				t.Errorf("letter %+v", l)
			}
			const want = ` orders/events seq=1 id="id 1" key="k" attempts=3 replays=0 reason="retries exhausted" err="two\nlines: boom"`
			if s := l.String(); !strings.HasSuffix(s, want) || !strings.HasPrefix(s, "2000-") {
				t.Errorf("String() = %s", s)
			}
		}
	})
}

// A letter's error may be absent, huge or broken; String copes.
func TestG28_StringOfAnyError(t *testing.T) {
	b := newBroker(t)
	errs := []error{errors.New(strings.Repeat("é", 10_000)), brokenError{}}
	handle(t, b, "x", "s", func(_ context.Context, m herald.Message[int]) error { return policy.Permanent(errs[m.Payload]) })
	x := topic[int](t, b, "x")
	publish(t, x, 0, 1)
	x.Publish(t.Context(), 0, herald.WithTTL(1))
	untilIdle(t, b)
	var got []string
	for l := range b.DeadLetters().All() {
		got = append(got, l.String())
	}
	if len(got) != 3 || strings.Contains(got[0], "err=") || len(got[1]) > 5000 || !strings.Contains(got[2], "PANIC") {
		t.Errorf("%q", got)
	}
}

type brokenError struct{}

func (brokenError) Error() string { panic("broken") }

// Where the type is known, letters have it (G28).
func TestG28_TypedLetters(t *testing.T) {
	b := newBroker(t)
	handle(t, b, ">", "any", noting[any](&journal{}, "", policy.Permanent(errBoom)))
	handle(t, b, "orders", "orders", noting[order](&journal{}, "", policy.Permanent(errBoom)))
	publish(t, topic[order](t, b, "orders"), order{1}, order{2})
	untilIdle(t, b)
	var ids []int
	for d := range broker.DeadLettersOf[order](b) {
		ids = append(ids, d.Payload.ID)
		if d.Payload.ID == 1 {
			if err := d.Replay(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
	wantEqual(t, []int{1, 2}, ids)
	for d := range broker.DeadLettersOf[any](b) {
		ids = append(ids, d.Payload.(order).ID)
		break
	}
	wantEqual(t, []int{1, 2, 1}, ids)
	if n := b.DeadLetters().Len(); n != 3 { // the replayed one is gone
		t.Errorf("%d letters", n)
	}
	for range broker.DeadLettersOf[int](b) {
		t.Error("a letter of int")
	}
}

// Letters are replayed by topic, subscription or reason, or one by itself; each goes back where it failed and only there,
// once; what can't go stays (G29).
func TestG29_Replay(t *testing.T) {
	b := newBroker(t)
	var j journal
	fails := true
	flaky := func(name string) herald.Handler[int] {
		return func(ctx context.Context, m herald.Message[int]) error {
			if fails {
				return policy.Permanent(errBoom)
			}
			return noting[int](&j, name, nil)(ctx, m)
		}
	}
	for _, name := range []string{"a", "b", "c"} {
		handle(t, b, ">", name, flaky(name))
	}
	publish(t, topic[int](t, b, "x"), 1)
	publish(t, topic[int](t, b, "y"), 2)
	untilIdle(t, b)
	fails = false
	b.Unsubscribe("c")

	dead := b.DeadLetters()
	replay := func(want int, wantErr error, match func(broker.Letter) bool) {
		t.Helper()
		n, err := dead.Replay(t.Context(), match)
		if n != want || !errors.Is(err, wantErr) {
			t.Errorf("Replay = %d, %v", n, err)
		}
	}
	replay(1, nil, func(l broker.Letter) bool {
		return l.Topic() == "x" && l.Subscription == "a" && l.Reason == herald.Permanent
	})
	replay(0, nil, func(l broker.Letter) bool { return l.Reason == herald.Overflow })
	var copied broker.Letter
	for l := range dead.All() {
		if l.Subscription == "b" && l.Topic() == "y" {
			copied = l
		}
	}
	if err := copied.Replay(t.Context()); err != nil || !copied.Replayed() {
		t.Error(err)
	}
	wantErr(t, herald.ErrSettled, copied.Replay(t.Context()))
	if dead.Len() != 4 {
		t.Errorf("%d left", dead.Len())
	}
	untilIdle(t, b)
	wantEqual(t, []string{"a x 1", "b y 2"}, j.take())

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errBoom)
	if n, err := dead.Replay(ctx, nil); n != 0 || !errors.Is(err, errBoom) {
		t.Errorf("Replay = %d, %v", n, err)
	}
	replay(2, herald.ErrClosed, nil)
	untilIdle(t, b)
	wantEqual(t, []string{"a y 2", "b x 1"}, j.take())
	if n := dead.Purge(func(l broker.Letter) bool { return l.Topic() == "x" }); n != 1 || dead.Len() != 1 {
		t.Errorf("purged %d, left %d", n, dead.Len())
	}
	if n := dead.Purge(nil); n != 1 || dead.Len() != 0 || dead.Evicted() != 0 {
		t.Errorf("purged %d, left %d", n, dead.Len())
	}
}

// A replay wakes a broker that runs; after Close letters can be looked at, but not replayed (G29, G33).
func TestG29_ReplayWhileRunning(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBroker(t)
		calls := 0
		handle(t, b, "x", "s", func(_ context.Context, m herald.Message[int]) error {
			calls++
			if m.Replays() < 2 {
				return policy.Permanent(errBoom)
			}
			return nil
		})
		publish(t, topic[int](t, b, "x"), 1)
		result := start(t.Context(), b)
		for i := 1; i <= 2; i++ {
			if n, err := b.DeadLetters().Replay(t.Context(), nil); n != 1 || err != nil {
				t.Errorf("Replay = %d, %v", n, err)
			}
			synctest.Wait()
			if calls != 1+i {
				t.Errorf("%d calls", calls)
			}
		}
		publish(t, topic[int](t, b, "x"), 2)
		b.Close()
		<-result
		if n, err := b.DeadLetters().Replay(t.Context(), nil); n != 0 || !errors.Is(err, herald.ErrClosed) || b.DeadLetters().Len() != 1 {
			t.Errorf("Replay = %d, %v", n, err)
		}
	})
}
