package middleware

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// TestG30_Model publishes few IDs with random outcomes through a subscription,
// and compares what is handled with a slice of the IDs remembered.
func TestG30_Model(t *testing.T) {
	check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "n")
		topic, sub := subscribe(t, []herald.Middleware{Dedupe(n)}, attempts(1))
		var window []string // last seen first
		for range rapid.IntRange(1, 50).Draw(t, "messages") {
			id := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"}).Draw(t, "id")
			ok := rapid.Bool().Draw(t, "ok")
			i := slices.Index(window, id)
			if i >= 0 {
				window = slices.Delete(window, i, i+1)
			}
			if i >= 0 || ok {
				window = slices.Insert(window, 0, id)
				window = window[:min(len(window), n)]
			}
			handled := false
			publish(t, topic, 0, herald.WithID(id))
			sub.Step(context.Background(), func(context.Context, herald.Message[int]) error {
				handled = true
				if !ok {
					return errNo
				}
				return nil
			})
			if handled != (i < 0) {
				t.Fatalf("%s handled: %t; remembered before: %t; now %v", id, handled, i >= 0, window)
			}
		}
	})
}

// The window is a ring of exactly what the map has.
func TestG30_Window(t *testing.T) {
	check(t, func(t *rapid.T) {
		w := newWindow(rapid.IntRange(1, 5).Draw(t, "n"))
		for range rapid.IntRange(0, 100).Draw(t, "calls") {
			id := strconv.Itoa(rapid.IntRange(0, 9).Draw(t, "id"))
			if rapid.Bool().Draw(t, "add") {
				w.add(id)
			} else {
				w.see(id)
			}
			n := 0
			for e := w.root.next; e != w.root; e = e.next {
				if w.entries[e.id] != e || e.next.prev != e {
					t.Fatalf("broken at %q", e.id)
				}
				n++
			}
			if n != len(w.entries) || n > w.n {
				t.Fatalf("%d in the ring, %d in the map, limit %d", n, len(w.entries), w.n)
			}
		}
	})
}

// A duplicate counts as delivered, and the handler doesn't see it.
func TestG30_DuplicateIsDelivered(t *testing.T) {
	topic, sub := subscribe(t, []herald.Middleware{Dedupe(1)})
	for v := range 3 {
		publish(t, topic, v, herald.WithID("1"))
	}
	calls := 0
	runAll(t, topic, sub, func(context.Context, herald.Message[int]) error {
		calls++
		return nil
	})
	if s := sub.Stats(); calls != 1 || s.Delivered != 3 {
		t.Errorf("%d calls, %+v", calls, s)
	}
}

// IDs that herald makes are no duplicates of each other.
func TestG30_MadeIDs(t *testing.T) {
	topic, sub := subscribe(t, []herald.Middleware{Dedupe(math.MaxInt)})
	for v := range 10 {
		publish(t, topic, v)
	}
	calls := 0
	runAll(t, topic, sub, func(context.Context, herald.Message[int]) error {
		calls++
		return nil
	})
	if calls != 10 {
		t.Errorf("%d calls", calls)
	}
}

// One Dedupe given to two subscriptions has a window for each.
func TestG30_SubscriptionsHaveTheirOwn(t *testing.T) {
	shared := herald.WithMiddleware(Dedupe(10))
	var topic herald.Topic[int]
	var subs []*herald.Subscription[int]
	for i := range 2 {
		sub, err := topic.Subscribe(strconv.Itoa(i), shared)
		if err != nil {
			t.Fatal(err)
		}
		subs = append(subs, sub)
	}
	publish(t, &topic, 1, herald.WithID("1"))
	publish(t, &topic, 2, herald.WithID("1"))
	for _, sub := range subs {
		var got []int
		runAll(t, &topic, sub, func(_ context.Context, m herald.Message[int]) error {
			got = append(got, m.Payload)
			return nil
		})
		if diff := cmp.Diff([]int{1}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", sub.Name(), diff)
		}
	}
}

// A Meta that wasn't published has no ID to go by.
func TestG30_NoID(t *testing.T) {
	calls := 0
	next := Dedupe(10)(func(context.Context, herald.Meta) error {
		calls++
		return nil
	})
	for range 2 {
		if err := next(t.Context(), herald.Meta{}); err != nil {
			t.Error(err)
		}
	}
	if calls != 2 {
		t.Errorf("%d calls", calls)
	}
}

// Particular/NServiceBus PR#5557, apache/pulsar#5218: the ID is recorded before
// success, so that the retry is dropped. However the attempt failed.
func TestB70_RetryIsNoDuplicate(t *testing.T) {
	for name, failure := range map[string]func() error{
		"error": func() error { return errNo },
		"panic": func() error { panic("no") },
		"goexit": func() error {
			runtime.Goexit()
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			topic, sub := subscribe(t, []herald.Middleware{Dedupe(10)}, attempts(3))
			publish(t, topic, 1, herald.WithID("1"))
			topic.Close()
			var got []int32
			done := make(chan struct{})
			go func() { // a Goexit ends this goroutine as well
				defer close(done)
				sub.Run(context.Background(), func(_ context.Context, m herald.Message[int]) error {
					got = append(got, m.Attempt)
					if m.Attempt < 3 {
						return failure()
					}
					return nil
				})
			}()
			<-done
			if diff := cmp.Diff([]int32{1, 2, 3}, got); diff != "" || sub.Stats().Delivered != 1 {
				t.Errorf("%+v (-want +got):\n%s", sub.Stats(), diff)
			}
		})
	}
}

// An attempt that doesn't count, as Run's context ended, leaves no trace either.
func TestG30_AttemptGivenBack(t *testing.T) {
	topic, sub := subscribe(t, []herald.Middleware{Dedupe(10)})
	publish(t, topic, 1, herald.WithID("1"))
	ctx, cancel := context.WithCancel(t.Context())
	sub.Run(ctx, func(ctx context.Context, _ herald.Message[int]) error {
		cancel()
		return ctx.Err()
	})
	calls := 0
	runAll(t, topic, sub, func(context.Context, herald.Message[int]) error {
		calls++
		return nil
	})
	if calls != 1 {
		t.Errorf("%d calls", calls)
	}
}

// A replayed letter is handled, for its ID was never recorded; unless a
// message with the same ID succeeded meanwhile, the other of two letters included.
func TestG30_Replay(t *testing.T) {
	var topic herald.Topic[int]
	var dead []herald.DeadLetter[int]
	sub, err := topic.DeadLetterTo(func(d herald.DeadLetter[int]) error {
		dead = append(dead, d)
		return nil
	}).Subscribe("s", herald.WithMiddleware(Dedupe(10)), attempts(1))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a publisher that sends all twice, and a handler that is down
		publish(t, &topic, 1, herald.WithID("1"))
		publish(t, &topic, 2, herald.WithID("2"))
	}
	for range 4 {
		sub.Step(t.Context(), fail)
	}
	if len(dead) != 4 {
		t.Fatalf("%d dead", len(dead))
	}
	for _, d := range dead {
		if err := d.Replay(t.Context()); err != nil {
			t.Error(err)
		}
	}
	var got []string
	runAll(t, &topic, sub, func(_ context.Context, m herald.Message[int]) error {
		got = append(got, fmt.Sprint(m.ID(), " replays ", m.Replays()))
		return nil
	})
	if diff := cmp.Diff([]string{"1 replays 1", "2 replays 1"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if s := sub.Stats(); s.Delivered != 4 {
		t.Errorf("%+v", s)
	}
}

// Above concurrency 1: while one of two attempts at an ID is under way the
// other one steps back, and is a duplicate or takes its turn, as the first ends.
func TestG30_SameIDAtOnce(t *testing.T) {
	for name, test := range map[string]struct {
		first error
		want  []int
	}{
		"first succeeds": {nil, []int{1}},
		"first fails":    {policy.Permanent(errNo), []int{1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				topic, sub := subscribe(t, []herald.Middleware{Dedupe(10)}, herald.WithConcurrency(2), attempts(1))
				publish(t, topic, 1, herald.WithID("x"))
				publish(t, topic, 2, herald.WithID("x"))
				var handled []int
				var ended time.Duration
				begin := time.Now()
				runAll(t, topic, sub, func(_ context.Context, m herald.Message[int]) error {
					handled = append(handled, m.Payload)
					ended = time.Since(begin)
					if len(handled) > 1 {
						return nil
					}
					time.Sleep(10 * time.Second)
					return test.first
				})
				if len(handled) > 0 && handled[0] == 2 { // either may be the first
					handled = []int{1, 2}[:len(handled)]
				}
				if diff := cmp.Diff(test.want, handled); diff != "" {
					t.Errorf("handled (-want +got):\n%s", diff)
				}
				if took := time.Since(begin); took < 10*time.Second || took > 11*time.Second {
					t.Errorf("took %v", took)
				}
				if s := sub.Stats(); s.Delivered+s.Dead != 2 || s.Retried < 10 || s.Retried > 25 {
					t.Errorf("last began at %v, %+v", ended, s)
				}
			})
		})
	}
}

// Many workers, few IDs, random failures: no two attempts at an ID overlap, and
// each succeeds once.
func TestG30_ConcurrentSuccessOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ids, copies = 20, 5
		topic, sub := subscribe(t, []herald.Middleware{Dedupe(ids)}, herald.WithConcurrency(8), attempts(50))
		for i := range ids * copies {
			publish(t, topic, i, herald.WithID(strconv.Itoa(i%ids)))
		}
		var mu sync.Mutex
		under, succeeded := map[string]bool{}, map[string]int{}
		runAll(t, topic, sub, func(_ context.Context, m herald.Message[int]) error {
			mu.Lock()
			if under[m.ID()] {
				t.Errorf("two attempts at %s at once", m.ID())
			}
			under[m.ID()] = true
			mu.Unlock()
			time.Sleep(time.Duration(m.Payload%7) * time.Millisecond)
			mu.Lock()
			defer mu.Unlock()
			under[m.ID()] = false
			if m.Payload%3 == 0 {
				return errors.New("this copy never succeeds")
			}
			succeeded[m.ID()]++
			return nil
		})
		if len(succeeded) != ids {
			t.Errorf("%d of %d succeeded", len(succeeded), ids)
		}
		for id, n := range succeeded {
			if n != 1 {
				t.Errorf("%s succeeded %d times", id, n)
			}
		}
	})
}

func TestG21_PauseIsTotal(t *testing.T) {
	last := time.Duration(0)
	for _, attempt := range []int32{math.MinInt32, -1, 0, 1, 2, 3, 10, 11, 12, 100, math.MaxInt32} {
		d := pause(attempt)
		if d < last || d < time.Millisecond || d > time.Second {
			t.Errorf("pause(%d) = %v after %v", attempt, d, last)
		}
		last = d
	}
	if pause(1) != time.Millisecond || pause(2) != 2*time.Millisecond || last != time.Second {
		t.Errorf("pauses %v, %v, …, %v", pause(1), pause(2), last)
	}
}
