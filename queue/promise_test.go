package queue

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/heraldbus/herald/policy"
)

var _ io.Closer = (*Queue[int])(nil)

// drain pops all there is.
func drain[E any](q *Queue[E]) (es []E) {
	for e, ok := q.TryPop(); ok; e, ok = q.TryPop() {
		es = append(es, e)
	}
	return es
}

func mustPush[E any](t *testing.T, q *Queue[E], p policy.Priority, es ...E) {
	t.Helper()
	for _, e := range es {
		if err := q.TryPush(e, p); err != nil {
			t.Fatalf("TryPush(%v, %v) = %v", e, p, err)
		}
	}
}

// G6: never early, never late, over all priorities together.
func TestG06_ExactCapacity(t *testing.T) {
	for _, capacity := range capacities {
		q := New[int](capacity)
		if q.Cap() != capacity {
			t.Errorf("Cap = %d, want %d", q.Cap(), capacity)
		}
		for i := range capacity {
			mustPush(t, q, priorities[i%len(priorities)], i)
		}
		for range 3 {
			if err := q.TryPush(-1, policy.Critical); err != ErrFull {
				t.Errorf("capacity %d: TryPush on a full queue = %v", capacity, err)
			}
			if _, ok := q.TryPop(); !ok || q.Len() != capacity-1 {
				t.Errorf("capacity %d: %d queued after a pop", capacity, q.Len())
			}
			mustPush(t, q, policy.Low, -1)
		}
		sound(t, q)
	}
}

func TestG06_CapacityBelowOneIsOne(t *testing.T) {
	for name, q := range map[string]*Queue[int]{"zero": New[int](0), "negative": New[int](-5), "zero Queue": {}} {
		mustPush(t, q, policy.Low, 1)
		if err := q.TryPush(2, policy.Low); err != ErrFull || q.Cap() != 1 {
			t.Errorf("%s: Cap = %d, and a second push %v", name, q.Cap(), err)
		}
	}
}

// G9: the line for room is first come, first served, whatever the priority,
// and neither a TryPush nor a PushEvict gets an element in before those who wait.
func TestG09_NobodyOvertakesWaitingPushers(t *testing.T) {
	for _, capacity := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			q := New[int](capacity)
			for range capacity {
				mustPush(t, q, policy.Critical, 0)
			}
			for i := range 4 {
				go q.Push(t.Context(), i+1, priorities[i])
				synctest.Wait()
			}
			var accepted []int
			for want := 1; want <= 4; want++ {
				if err := q.TryPush(-1, policy.Critical); err != ErrFull {
					t.Errorf("TryPush while others wait = %v", err)
				}
				if e, ok := q.TryPop(); ok && e != 0 {
					accepted = append(accepted, e)
				}
				synctest.Wait()
			}
			accepted = append(accepted, drain(q)...)
			want := []int{1, 2, 3, 4}
			if capacity == 2 {
				want = []int{2, 3, 4, 1} // 1 and 2 are in before the first of them is picked, and 1 is low
			}
			if diff := cmp.Diff(want, accepted); diff != "" {
				t.Errorf("capacity %d: order of acceptance (-want +got):\n%s", capacity, diff)
			}
		})
	}
}

func TestG09_PushEvictTakesNoRoomFromWaitingPushers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New[string](1)
		mustPush(t, q, policy.Normal, "old")
		go q.Push(t.Context(), "waiting", policy.Low)
		synctest.Wait()
		victim, evicted, err := q.PushEvict("new", policy.High)
		if victim != "old" || !evicted || err != nil {
			t.Errorf("PushEvict = %q, %t, %v", victim, evicted, err)
		}
		synctest.Wait()
		if diff := cmp.Diff([]string{"new", "waiting"}, drain(q)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

// G9: waiting pops are served in turn too.
func TestG09_PopsInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New[int](1)
		var got [3]int
		for i := range got {
			go func() { got[i], _ = q.Pop(t.Context()) }()
			synctest.Wait()
		}
		mustPush(t, q, policy.Low, 1, 2, 3) // past the capacity of 1: each is handed over
		synctest.Wait()
		if want := [3]int{1, 2, 3}; got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

// G8, G9: whoever leaves by its context swallows nothing, and one who has been
// served while its context ended has been served.
func TestG09_LeavingSwallowsNothing(t *testing.T) {
	for _, capacity := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			q := New[int](capacity)
			for i := range capacity {
				mustPush(t, q, policy.Normal, i)
			}
			var errs [3]error
			ctx, cancel := context.WithCancel(t.Context())
			for i, ctx := range []context.Context{t.Context(), ctx, t.Context()} {
				go func() { errs[i] = q.Push(ctx, 10+i, policy.Normal) }()
				synctest.Wait()
			}
			cancel()
			synctest.Wait()
			if !errors.Is(errs[1], context.Canceled) {
				t.Errorf("the one who left: %v", errs[1])
			}
			got := drain(q)
			synctest.Wait()
			if want := []int{10, 12}; !slices.Equal(got[capacity:], want) || errs[0] != nil || errs[2] != nil {
				t.Errorf("got %v, then want %v; errors %v", got, want, errs)
			}
		})
	}
}

func TestG08_ServedWhileTheContextEnds(t *testing.T) {
	for range 100 { // which of the two the select sees is random
		synctest.Test(t, func(t *testing.T) {
			q := New[int](1)
			ctx, cancel := context.WithCancel(t.Context())
			var e int
			var err error
			go func() { e, err = q.Pop(ctx) }()
			synctest.Wait()
			q.mu.Lock() // holds the popper up between the end of its context and its leaving
			cancel()
			popper, _ := q.acceptLocked(7, policy.Low)
			q.mu.Unlock()
			popper.wake()
			synctest.Wait()
			if e != 7 || err != nil {
				t.Errorf("Pop = %d, %v", e, err)
			}
		})
	}
}

// G8: a context that is done gets nothing done, room or not; it comes before Close.
func TestG08_ContextDoneBefore(t *testing.T) {
	cause := errors.New("because")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	q := New[int](2)
	mustPush(t, q, policy.Low, 1)
	for range 2 {
		if err := q.Push(ctx, 2, policy.Low); !errors.Is(err, cause) {
			t.Errorf("Push = %v", err)
		}
		if e, err := q.Pop(ctx); e != 0 || !errors.Is(err, cause) {
			t.Errorf("Pop = %d, %v", e, err)
		}
		for e := range q.All(ctx) {
			t.Errorf("All yielded %d", e)
		}
		q.Close()
	}
	if diff := cmp.Diff([]int{1}, drain(q)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// G11, G12: highest first, then oldest first, whatever is pushed in between.
func TestG11_HighestThenOldest(t *testing.T) {
	for _, capacity := range capacities[2:] {
		q := New[[2]int](capacity)
		var want [][2]int
		for i := range capacity {
			p := i * 7 % len(priorities)
			mustPush(t, q, priorities[p], [2]int{p, i})
			want = append(want, [2]int{p, i})
		}
		slices.SortStableFunc(want, func(a, b [2]int) int { return b[0] - a[0] })
		if diff := cmp.Diff(want, drain(q)); diff != "" {
			t.Errorf("capacity %d: -want +got:\n%s", capacity, diff)
		}
	}
}

// G25: a wait with a deadline ends exactly then; the queue itself reads no clock.
func TestG25_DeadlineIsExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := New[int](1).Pop(ctx)
		if took := time.Since(start); took != time.Minute || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Pop = %v after %v", err, took)
		}
	})
}

// G32: graceful, idempotent, and it wakes all who wait.
func TestG32_CloseReleasesAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full, empty := New[int](2), New[int](2)
		mustPush(t, full, policy.Low, 1, 2)
		var errs [6]error
		for i := range 3 {
			go func() { errs[i] = full.Push(t.Context(), 3, policy.Low) }()
			go func() { _, errs[3+i] = empty.Pop(t.Context()) }()
		}
		synctest.Wait()
		full.Close()
		empty.Close()
		synctest.Wait()
		if want := slices.Repeat([]error{ErrClosed}, 6); !slices.Equal(errs[:], want) {
			t.Errorf("got %v", errs)
		}
		if diff := cmp.Diff([]int{1, 2}, slices.Collect(full.All(t.Context()))); diff != "" {
			t.Errorf("what was queued (-want +got):\n%s", diff)
		}
		sound(t, full)
	})
}

// G34: afterwards everything is idempotent and nothing panics.
func TestG34_AfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New[int](1)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() { q.Close() })
		}
		wg.Wait()
		for range 2 {
			_, popErr := q.Pop(t.Context())
			_, evicted, evictErr := q.PushEvict(1, policy.High)
			_, ok := q.TryPop()
			errs := []error{q.Push(t.Context(), 1, policy.Low), q.TryPush(1, policy.Low), evictErr, popErr}
			if !slices.Equal(errs, slices.Repeat([]error{ErrClosed}, 4)) || evicted || ok || q.Len() != 0 {
				t.Errorf("after Close: %v, evicted %t, ok %t, Len %d", errs, evicted, ok, q.Len())
			}
		}
	})
}

// A call that makes no sense is a typed error and changes nothing.
func TestG02_ArgumentErrors(t *testing.T) {
	q := New[int](1)
	mustPush(t, q, policy.Low, 1)
	var nilCtx context.Context
	_, popErr := q.Pop(nilCtx)
	_, evicted, evictErr := q.PushEvict(2, policy.Critical+1)
	for i, test := range []struct {
		err  error
		want ArgumentError
	}{
		{q.Push(nilCtx, 2, policy.Low), ArgumentError{Name: "ctx"}},
		{popErr, ArgumentError{Name: "ctx"}},
		{q.Push(t.Context(), 2, policy.Low-1), ArgumentError{Name: "priority", Value: policy.Low - 1}},
		{q.TryPush(2, 127), ArgumentError{Name: "priority", Value: policy.Priority(127)}},
		{q.TryPush(2, -128), ArgumentError{Name: "priority", Value: policy.Priority(-128)}},
		{evictErr, ArgumentError{Name: "priority", Value: policy.Critical + 1}},
	} {
		got, ok := errors.AsType[*ArgumentError](test.err)
		if !ok || *got != test.want || got.Error() == "" {
			t.Errorf("%d: %v, want %+v", i, test.err, test.want)
		}
	}
	for e := range q.All(nilCtx) {
		t.Errorf("All(nil) yielded %d", e)
	}
	if diff := cmp.Diff([]int{1}, drain(q)); diff != "" || evicted {
		t.Errorf("changed (evicted %t): -want +got:\n%s", evicted, diff)
	}
}
