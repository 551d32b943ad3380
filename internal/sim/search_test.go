package sim

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// lostUpdate is two threads that each add 1 to a number, in two steps.
var lostUpdate = Scenario{
	Name: "lost-update", Bound: Unbounded,
	Play: func(w *World) {
		var n Int32
		for _, name := range []string{"a", "b"} {
			w.Go(name, func() { n.Store(n.Load() + 1) })
		}
		w.Finally(func() {
			if v := n.Load(); v != 2 {
				w.Errorf("n is %d", v)
			}
		})
	},
}

func TestExhaustFindsALostUpdateAndReplayRepeatsIt(t *testing.T) {
	r := Exhaust(t, lostUpdate, 100)
	if r.Failed == nil || r.Diverged != 0 {
		t.Fatal(r)
	}
	again := Replay(t, lostUpdate, r.Failed.Choices)
	if diff := cmp.Diff(*r.Failed, again, cmp.AllowUnexported(Step{})); diff != "" {
		t.Errorf("-first +again:\n%s", diff)
	}
	if trace := r.Failed.Trace("lost-update"); !strings.Contains(trace, "-scenario lost-update -choices ") ||
		!strings.Contains(trace, "search_test.go") {
		t.Errorf("trace:\n%s", trace)
	}
}

func TestSampleFindsALostUpdateAndItsSeedRepeatsIt(t *testing.T) {
	r := Sample(t, lostUpdate, 100, 0)
	if r.Failed == nil || r.Diverged != 0 {
		t.Fatal(r)
	}
	if again := Seeded(t, lostUpdate, r.Seed); !slices.Equal(again.Choices, r.Failed.Choices) {
		t.Errorf("first %v, again %v", r.Failed.Choices, again.Choices)
	}
}

// TestExhaustTriesEveryOrder counts the orders: two threads of three steps
// each, the first of which is to begin, can go C(6,3) ways, and with a lock
// around the rest, one step less.
func TestExhaustTriesEveryOrder(t *testing.T) {
	for _, c := range []struct {
		name       string
		bound      int
		locked     bool
		want       int
		wantOrders int
	}{
		{name: "all", bound: Unbounded, want: 20, wantOrders: 6},
		{name: "no preemption", bound: 0, want: 2, wantOrders: 2},
		{name: "locked", bound: Unbounded, locked: true, want: 6, wantOrders: 2},
	} {
		orders := map[string]bool{}
		r := Exhaust(t, twoByTwo(c.bound, c.locked, func(order string) { orders[order] = true }), 100)
		if !r.Exhausted || r.Schedules != c.want || len(orders) != c.wantOrders || r.Diverged != 0 {
			t.Errorf("%s: %v, orders %v", c.name, r, orders)
		}
	}
}

// twoByTwo is two threads that do two things each; seen is told in which order
// they were done.
func twoByTwo(bound int, locked bool, seen func(order string)) Scenario {
	return Scenario{Name: "two-by-two", Bound: bound, Play: func(w *World) {
		var order string
		var mu Mutex
		var n Int32
		for _, name := range []string{"a", "b"} {
			w.Go(name, func() {
				if locked {
					mu.Lock()
					defer mu.Unlock()
				}
				for range 2 {
					n.Add(1)
					order += name
				}
			})
		}
		w.Finally(func() { seen(order) })
	}}
}

func TestExhaustNoticesChance(t *testing.T) {
	runs := 0
	r := Exhaust(t, Scenario{Name: "chance", Bound: Unbounded, Play: func(w *World) {
		var n Int32
		runs++
		for _, name := range []string{"a", "b"} {
			w.Go(name, func() {
				for range runs % 3 { // what chance might do
					n.Add(1)
				}
			})
		}
	}}, 10_000)
	if r.Diverged == 0 {
		t.Errorf("%v", r)
	}
}

func TestRunNoticesWhoIsLeftBlocked(t *testing.T) {
	wait := Scenario{Name: "wait", Bound: Unbounded, Play: func(w *World) {
		w.Go("waiter", func() { <-w.Context.Done() })
	}}
	r := Exhaust(t, wait, 10)
	if r.Failed == nil || !strings.Contains(r.Failed.Faults[0], "blocked for ever: [waiter]") {
		t.Errorf("%v", r)
	}
}

// TestTimeIsAChoice shows that time passes before, between and after what
// threads do, and that a wait ends where nothing else is left.
func TestTimeIsAChoice(t *testing.T) {
	took := map[time.Duration]bool{}
	r := Exhaust(t, Scenario{Name: "time", Bound: Unbounded, Ticks: 2, Tick: time.Second, Play: func(w *World) {
		w.Go("a", func() {
			began := time.Now()
			w.Yield()
			took[time.Since(began)] = true
			time.Sleep(time.Second)
		})
	}}, 100)
	want := map[time.Duration]bool{0: true, time.Second: true, 2 * time.Second: true}
	if diff := cmp.Diff(want, took); diff != "" || !r.Exhausted {
		t.Errorf("%v, -want +got:\n%s", r, diff)
	}
}

// TestSelectIsAChoice shows that a select with two cases ready goes both ways.
func TestSelectIsAChoice(t *testing.T) {
	got := map[string]int{}
	r := Exhaust(t, Scenario{Name: "select", Bound: Unbounded, Play: func(w *World) {
		token, done := make(chan struct{}, 1), make(chan struct{})
		token <- struct{}{}
		close(done)
		w.Go("a", func() {
			token, done := Select2(token, done)
			select {
			case <-token:
				got["token"]++
			case <-done:
				got["done"]++
			}
		})
	}}, 100)
	if diff := cmp.Diff(map[string]int{"token": 1, "done": 1}, got); diff != "" || !r.Exhausted {
		t.Errorf("%v, -want +got:\n%s", r, diff)
	}
}
