package sim

import (
	"fmt"
	"slices"
	"sync"
	"testing/synctest"
	"time"
)

// A thread is a goroutine that the scheduler knows: one of the scenario, or
// one that the code under test started and that has come to a yield point.
type thread struct {
	number    int
	name      string
	goroutine uint64
	resume    chan struct{}
	parked    bool    // at point
	point     uintptr // of its latest yield; 0: it hasn't begun
	wants     *Mutex  // in a deep run: the lock that it's about to take
	done      bool
}

// A run is one schedule of one scenario. Of its threads only one runs at a
// time, and those that it wakes, each up to its next yield point.
type run struct {
	strategy strategy
	deep     bool          // threads are stopped with locks too
	ticks    int           // how often time may still pass while threads can go on
	tick     time.Duration // by so much; 0: never, also where nothing else is left
	waits    int           // how often it passed since a thread could go on
	scenario int           // threads of the scenario that haven't ended

	mu       sync.Mutex // protects all below, which hooks use
	threads  []*thread
	known    map[uint64]*thread // by goroutine
	fresh    []*thread          // met since the scheduler last looked
	owners   map[*Mutex]*thread // of the locks that are taken
	holder   *thread            // that has them, unless the run is deep
	crowd    bool               // the holder may have woken somebody
	released bool               // the run is over: hooks stop nobody
	steps    []Step
	current  *thread // who ran last
}

// maxSteps is more than any scenario takes, unless it goes round in circles.
const maxSteps = 50_000

// maxWaits is how often time passes for nothing before a run counts as stuck.
const maxWaits = 3

// yield stops the thread that calls it until the scheduler lets it go on,
// unless it has a lock and the run isn't deep.
func (r *run) yield(point uintptr) { r.stop(point, nil) }

// stop is yield, before it takes wants, unless that's nil.
func (r *run) stop(point uintptr, wants *Mutex) {
	r.mu.Lock()
	if r.released || r.holder != nil && !r.crowd {
		r.mu.Unlock()
		return
	}
	t := r.self()
	if t == r.holder {
		r.mu.Unlock()
		return
	}
	t.wants = wants
	r.park(t, point)
}

// waking is yield before something that may wake others.
func (r *run) waking(point uintptr) {
	r.yield(point)
	r.mu.Lock()
	r.crowd = r.holder != nil
	r.mu.Unlock()
}

// lock is yield before a Lock, which then doesn't wait: a thread that wants a
// lock that is taken can't go on.
func (r *run) lock(m *Mutex, point uintptr) {
	r.stop(point, m)
	r.took(m)
}

// took notes that the thread whose turn it is takes m.
func (r *run) took(m *Mutex) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.released {
		return
	}
	r.owners[m] = r.current
	if !r.deep {
		r.holder = r.current
	}
}

func (r *run) gave(m *Mutex) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.owners, m)
	if len(r.owners) == 0 {
		r.holder, r.crowd = nil, false
	}
}

// park stops t. r.mu is held, and freed.
func (r *run) park(t *thread, point uintptr) {
	t.point, t.parked = point, true
	r.mu.Unlock()
	<-t.resume
}

// self returns the calling thread. r.mu is held.
func (r *run) self() *thread {
	id := goroutine()
	t := r.known[id]
	if t == nil {
		t = &thread{goroutine: id, resume: make(chan struct{})}
		r.known[id] = t
		r.fresh = append(r.fresh, t)
	}
	return t
}

// start makes f a thread of the scenario.
func (r *run) start(name string, f func()) {
	t := &thread{number: len(r.threads), name: name, resume: make(chan struct{})}
	r.threads = append(r.threads, t)
	r.scenario++
	go func() {
		r.mu.Lock()
		t.goroutine = goroutine()
		r.known[t.goroutine] = t
		r.park(t, 0)
		defer r.end(t)
		f()
	}()
}

func (r *run) end(t *thread) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t.done = true
	r.scenario--
}

// schedule runs the threads until all of the scenario's have ended. The error
// says why that won't happen.
func (r *run) schedule() error {
	for {
		synctest.Wait()
		able, over, err := r.look()
		if over {
			return err
		}
		r.step(able)
	}
}

// look returns who can go on, or why nobody shall.
func (r *run) look() (able []*thread, over bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.meet()
	able = r.able()
	switch {
	case r.stuck() != nil:
		return nil, true, fmt.Errorf("%s waits with a lock", r.stuck().name)
	case len(able) == 0 && r.scenario == 0:
		return nil, true, nil
	case len(able) == 0 && (r.tick == 0 || r.waits == maxWaits):
		return nil, true, fmt.Errorf("blocked for ever: %v", r.left())
	case len(r.steps) > maxSteps:
		return nil, true, fmt.Errorf("no end after %d steps", maxSteps)
	}
	return able, false, nil
}

// meet gives names to the threads that the code under test has started.
func (r *run) meet() {
	slices.SortFunc(r.fresh, func(a, b *thread) int { return int(int64(a.goroutine - b.goroutine)) })
	for _, t := range r.fresh {
		t.number = len(r.threads)
		t.name = fmt.Sprintf("goroutine-%d", t.number)
		r.threads = append(r.threads, t)
	}
	r.fresh = r.fresh[:0]
}

// able returns who can go on: first who ran last, then the others by number.
func (r *run) able() []*thread {
	var able []*thread
	if r.current != nil && r.isAble(r.current) {
		able = append(able, r.current)
	}
	for _, t := range r.threads {
		if r.isAble(t) && t != r.current {
			able = append(able, t)
		}
	}
	return able
}

func (r *run) isAble(t *thread) bool { return t.parked && r.owners[t.wants] == nil }

// stuck returns a thread that waits for something else than its turn while it
// has a lock.
func (r *run) stuck() *thread {
	for _, t := range r.owners {
		if !t.parked {
			return t
		}
	}
	return nil
}

// left returns the names of the scenario's threads that haven't ended.
func (r *run) left() (names []string) {
	for _, t := range r.threads {
		if !t.done && t.name != "" {
			names = append(names, t.name)
		}
	}
	return names
}

// step lets one of able go on, or time.
func (r *run) step(able []*thread) {
	c := choice{kind: who, goesOn: len(able) > 0 && able[0] == r.current}
	for _, t := range able {
		c.add(t.number, t.point)
	}
	switch {
	case len(able) == 0:
		r.waits++
		r.pass()
		return
	case r.ticks > 0:
		c.add(-1, 0)
	}
	r.waits = 0
	i := r.strategy.choose(&c)
	if i == len(able) {
		r.ticks--
		r.pass()
		return
	}
	t := able[i]
	r.steps = append(r.steps, Step{Thread: t.name, point: t.point})
	r.mu.Lock()
	r.current, t.parked, t.wants = t, false, nil
	r.mu.Unlock()
	t.resume <- struct{}{}
}

// pass lets time pass.
func (r *run) pass() {
	r.steps = append(r.steps, Step{Thread: "time", tick: true})
	time.Sleep(r.tick)
}

// among lets the scheduler choose among the cases of a select that are ready;
// -1: none is. Only the thread whose turn it is comes here.
func (r *run) among(point uintptr, isReady []bool) int {
	r.mu.Lock()
	released := r.released
	r.mu.Unlock()
	c := choice{kind: which}
	var cases []int
	for i, ok := range isReady {
		if ok {
			c.add(i, point)
			cases = append(cases, i)
		}
	}
	switch {
	case len(cases) == 0:
		return -1
	case len(cases) == 1, released:
		return cases[0]
	}
	i := cases[r.strategy.choose(&c)]
	r.steps = append(r.steps, Step{Thread: r.current.name, point: point, which: i + 1})
	return i
}

// release lets all threads go, for the run is over.
func (r *run) release() {
	r.mu.Lock()
	r.released = true
	threads := r.threads
	r.mu.Unlock()
	for _, t := range threads {
		if t.parked {
			t.resume <- struct{}{}
		}
	}
}
