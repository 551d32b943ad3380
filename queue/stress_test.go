package queue

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heraldbus/herald/policy"
)

// An origin is who made an element, and which of its own it is.
type origin struct{ producer, n int }

// A tally is what one goroutine did. Each keeps its own, so that counting
// orders nothing.
type tally struct{ accepted, popped, evicted []origin }

// How many producers and consumers there are, and how much each of the first makes.
const producers, consumers, each = 4, 3, 1500

func (o origin) priority() policy.Priority { return priorities[(o.producer*7+o.n/3)%len(priorities)] }

// TestG05_ConservationUnderLoad lets producers push in every way, with contexts
// that end at any moment, beside consumers that pop in every way. Each accepted
// element must be popped or evicted exactly once, others never, and one consumer
// must see what one producer made at one priority in order (G12).
func TestG05_ConservationUnderLoad(t *testing.T) {
	for _, capacity := range []int{1, 2, 100} {
		q := New[origin](capacity)
		made, taken := make([]tally, producers), make([]tally, consumers)
		var pushing, popping sync.WaitGroup
		for i := range made {
			pushing.Go(func() { produce(t, q, i, &made[i]) })
		}
		for i := range taken {
			popping.Go(func() { consume(t, q, &taken[i]) })
		}
		pushing.Wait()
		q.Close()
		popping.Wait()
		sound(t, q)
		if q.Len() != 0 {
			t.Errorf("capacity %d: %d left over", capacity, q.Len())
		}
		for i := range taken {
			inOrder(t, taken[i].popped)
		}
		conserved(t, append(made, taken...))
	}
}

func produce(t *testing.T, q *Queue[origin], producer int, mine *tally) {
	for n := range each {
		o := origin{producer, n}
		var err error
		switch rand.IntN(4) {
		case 0:
			err = q.TryPush(o, o.priority())
		case 1:
			var victim origin
			var evicted bool
			if victim, evicted, err = q.PushEvict(o, o.priority()); evicted {
				mine.evicted = append(mine.evicted, victim)
			}
		case 2:
			err = q.Push(t.Context(), o, o.priority())
		case 3:
			ctx, cancel := context.WithCancel(t.Context())
			wg := sync.WaitGroup{}
			wg.Go(cancel)
			err = q.Push(ctx, o, o.priority())
			wg.Wait()
		}
		switch {
		case err == nil:
			mine.accepted = append(mine.accepted, o)
		case err != ErrFull && !errors.Is(err, context.Canceled):
			t.Errorf("push: %v", err)
		}
	}
}

func consume(t *testing.T, q *Queue[origin], mine *tally) {
	for {
		ctx, cancel := context.WithCancel(t.Context())
		wg := sync.WaitGroup{}
		if rand.IntN(2) == 0 {
			wg.Go(cancel)
		}
		o, err := q.Pop(ctx)
		wg.Wait()
		cancel()
		switch {
		case err == nil:
			mine.popped = append(mine.popped, o)
		case err == ErrClosed:
			return
		case !errors.Is(err, context.Canceled):
			t.Errorf("pop: %v", err)
		}
		if o, ok := q.TryPop(); ok {
			mine.popped = append(mine.popped, o)
		}
	}
}

func inOrder(t *testing.T, popped []origin) {
	type kind struct {
		producer int
		priority policy.Priority
	}
	last := map[kind]int{}
	for _, o := range popped {
		k := kind{o.producer, o.priority()}
		if n, seen := last[k]; seen && o.n <= n {
			t.Errorf("%v %d came after %d", k, o.n, n)
		}
		last[k] = o.n
	}
}

func conserved(t *testing.T, tallies []tally) {
	t.Helper()
	balance := map[origin]int{}
	var accepted, popped, evicted int
	for _, y := range tallies {
		accepted, popped, evicted = accepted+len(y.accepted), popped+len(y.popped), evicted+len(y.evicted)
		for _, o := range y.accepted {
			balance[o]++
		}
		for _, o := range slices.Concat(y.popped, y.evicted) {
			balance[o]--
		}
	}
	for o, n := range balance {
		if n != 0 {
			t.Errorf("%v: accepted less taken out is %d", o, n)
		}
	}
	t.Logf("%d accepted = %d popped + %d evicted", accepted, popped, evicted)
	if accepted == 0 || popped == 0 || evicted == 0 {
		t.Error("vacuous: not everything happened")
	}
}

// TestG09_NoLostWakeup has more goroutines than room push and pop exactly
// as often as each other, with others joining the lines only to leave them again.
// A lost wake-up leaves all of them waiting, which the bubble reports at once.
func TestG09_NoLostWakeup(t *testing.T) {
	for _, capacity := range []int{1, 2, 3} {
		synctest.Test(t, func(t *testing.T) {
			const rounds = 2000
			q := New[int](capacity)
			var pushed, popped [5]int
			var wg sync.WaitGroup
			for i := range pushed {
				wg.Go(func() { pushed[i] = pushRounds(t, q, rounds) })
				wg.Go(func() { popped[i] = popRounds(t, q, rounds) })
			}
			wg.Wait()
			if pushed != popped || q.Len() != 0 {
				t.Errorf("pushed %v, popped %v, left %d", pushed, popped, q.Len())
			}
			sound(t, q)
		})
	}
}

// fickle is a context that ends, in every third round, after a time so short
// that it does so before, while, or after one waits.
func fickle(ctx context.Context, round int) (context.Context, context.CancelFunc) {
	if round%3 > 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, time.Duration(round%5))
}

func pushRounds(t *testing.T, q *Queue[int], rounds int) (done int) {
	for round := 0; done < rounds; round++ {
		ctx, cancel := fickle(t.Context(), round)
		if q.Push(ctx, done, priorities[round%len(priorities)]) == nil {
			done++
		}
		cancel()
	}
	return done
}

func popRounds(t *testing.T, q *Queue[int], rounds int) (done int) {
	for round := 0; done < rounds; round++ {
		ctx, cancel := fickle(t.Context(), round)
		if _, err := q.Pop(ctx); err == nil {
			done++
		}
		cancel()
	}
	return done
}

// TestG32_CloseAmidTraffic closes while all others are busy: what a push was
// told is what happened.
func TestG32_CloseAmidTraffic(t *testing.T) {
	for round := range 300 {
		synctest.Test(t, func(t *testing.T) {
			q := New[int](1 + round%2)
			var accepted, popped [4]int
			for i := range accepted {
				go func() {
					for q.Push(t.Context(), 1, priorities[i]) == nil {
						accepted[i]++
					}
				}()
				go func() {
					for range q.All(t.Context()) {
						popped[i]++
					}
				}()
			}
			for range rand.IntN(50) {
				q.Len()
			}
			q.Close()
			synctest.Wait()
			in, out := 0, 0
			for i := range accepted {
				in, out = in+accepted[i], out+popped[i]
			}
			if in != out || q.Len() != 0 {
				t.Errorf("accepted %d, popped %d, left %d", in, out, q.Len())
			}
		})
	}
}
