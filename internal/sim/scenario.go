package sim

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// A Scenario is a few threads and what must be true whatever their schedule.
type Scenario struct {
	Name    string
	Promise string        // the numbers of the promises that it shows
	Bound   int           // how many preemptions Exhaust tries; Unbounded: any number
	Deep    bool          // atomic operations are yield points also inside critical sections
	Ticks   int           // how often time may pass while somebody could go on: a choice of the scheduler
	Tick    time.Duration // by how much it passes then, and where nobody can; 0: it stands still, and that's a fault
	Play    func(w *World)
}

// Unbounded is the bound of a scenario of which all schedules are tried.
const Unbounded = -1

// A World is one run of a scenario.
type World struct {
	Context context.Context // for all calls that wait: it ends with the run
	run     *run
	finally []func()
	faults  []string
}

// Go makes f a thread. A panic in it is a fault of the run.
func (w *World) Go(name string, f func()) {
	w.run.start(name, func() {
		defer func() {
			if v := recover(); v != nil {
				w.Errorf("%s: panic: %v", name, v)
			}
		}()
		f()
	})
}

// Finally calls f when all threads have ended, for it to check what must be
// true then.
func (w *World) Finally(f func()) { w.finally = append(w.finally, f) }

// Yield is a yield point in the scenario's own code, such as a handler that
// takes its time.
func (w *World) Yield() {
	if r := active.Load(); r != nil {
		r.yield(caller())
	}
}

// Errorf notes that something is not as it must be.
func (w *World) Errorf(format string, args ...any) {
	w.run.mu.Lock()
	defer w.run.mu.Unlock()
	w.faults = append(w.faults, fmt.Sprintf(format, args...))
}

// An Outcome is what one run came to.
type Outcome struct {
	Faults  []string
	Steps   []Step
	Choices []int // that repeat it
}

// once makes one run.
func once(t *testing.T, s Scenario, st strategy) Outcome {
	n := &noted{strategy: st}
	var w *World
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r := &run{strategy: n, deep: s.Deep, owners: map[*Mutex]*thread{}, ticks: s.Ticks, tick: s.Tick, known: map[uint64]*thread{}}
		w = &World{Context: ctx, run: r}
		s.Play(w)
		active.Store(r)
		err := r.schedule()
		r.release()
		active.Store(nil)
		if err != nil {
			w.Errorf("%v", err)
			cancel()
			synctest.Wait()
			return
		}
		for _, f := range w.finally {
			f()
		}
	})
	return Outcome{w.faults, w.run.steps, n.list}
}
