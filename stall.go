package herald

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// stalls knows of every publish that waits for room inside a handler, in
// the whole program, since a circle of waits may lead through any number of
// topics. It's the only state of the package that isn't a topic's own.
var stalls stallRegistry

// A stallRegistry finds deadlocks (G19): sets of subscriptions of which each
// is full and each worker waits for room in the set, or sleeps with nothing
// ready. Such a state can only begin when a publish starts to wait or a worker
// goes to sleep, so these two look for it.
//
// mu is taken before any core's mutex, and only the holder of mu takes more
// than one of those.
type stallRegistry struct {
	mu      sync.Mutex
	waits   []*publishing
	waiting atomic.Int32 // len(waits), to be read without mu
}

// enter notes that p, in a handler of w, begins to wait.
func (r *stallRegistry) enter(p *publishing) {
	if p.worker == nil {
		return
	}
	r.mu.Lock()
	r.waits = append(r.waits, p)
	r.waiting.Add(1)
	for w := p.worker; w != nil; w = w.parent {
		w.blocked = append(w.blocked, p)
	}
	r.mu.Unlock()
	r.check()
}

// leave notes that p waits no more.
func (r *stallRegistry) leave(p *publishing) {
	if p.worker == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waits, _ = without(r.waits, p)
	r.waiting.Add(-1)
	for w := p.worker; w != nil; w = w.parent {
		w.blocked, _ = without(w.blocked, p)
	}
}

// check looks for a deadlock and ends it by refusing one publish.
func (r *stallRegistry) check() {
	if r.waiting.Load() == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	set := lockAll(r.waits)
	var a answers
	stuck := set.stuck()
	if p := stuck.victim(r.waits); p != nil {
		a = stuck.refuse(p)
	}
	for c := range set {
		c.mu.Unlock() // a message less that waits for room: nothing for unlock to do
	}
	a.answered()
}

// A coreSet is a set of cores whose mutexes are held.
type coreSet map[*core]bool

// lockAll locks every subscription that one of ps waits for, or is handled by.
// All that a worker there waits for is among them, as it's in ps too.
func lockAll(ps []*publishing) coreSet {
	set := coreSet{}
	add := func(c *core) {
		if !set[c] {
			set[c] = true
			c.mu.Lock()
		}
	}
	for _, p := range ps {
		for w := p.worker; w != nil; w = w.parent {
			add(w.core)
		}
		for _, w := range p.waiters {
			add(w.core)
		}
	}
	return set
}

// stuck returns the largest part of s in which nothing can move: it takes
// out, again and again, whatever can.
func (s coreSet) stuck() coreSet {
	rest := coreSet{}
	for c := range s {
		rest[c] = true
	}
	for moved := true; moved; {
		moved = false
		for c := range rest {
			if !c.isStuck(rest) {
				delete(rest, c)
				moved = true
			}
		}
	}
	return rest
}

// isStuck reports whether c can't move as long as those in set can't.
func (c *core) isStuck(set coreSet) bool {
	if c.consumer.kind == nobody || c.consumer.ending || c.paused || c.closed || c.lane.NextEvent() != 0 || c.consumer.want > 1 {
		return false
	}
	for _, w := range c.consumer.workers {
		idle := w.asleep && !c.due()
		if !idle && !slices.ContainsFunc(w.blocked, set.holds) {
			return false
		}
	}
	return true
}

// holds reports whether p waits for room in s with nothing else to come: a
// Block that has an Else, or a policy that will be asked again, ends by itself.
func (s coreSet) holds(p *publishing) bool { return slices.ContainsFunc(p.waiters, s.holdsWaiter) }

func (s coreSet) holdsWaiter(w *waiter) bool {
	if !w.waits || !s[w.core] {
		return false
	}
	_, more := w.plan.Then()
	return w.until == 0 || !more && !w.core.asks
}

// victim picks the publish that gets the error: the latest to wait.
func (s coreSet) victim(ps []*publishing) *publishing {
	for _, p := range slices.Backward(ps) {
		if s[p.worker.core] && s.holds(p) {
			return p
		}
	}
	return nil
}

// refuse ends the waits of p in s with a DeadlockError.
func (s coreSet) refuse(p *publishing) (a answers) {
	for _, w := range p.waiters {
		if !s.holdsWaiter(w) {
			continue
		}
		c, it := w.core, w.item
		err := &DeadlockError{Chain: s.chain(p.worker.core, c)}
		a.add(c.waiting.remove(w, refused, err))
		c.refuse(it)
	}
	return a
}

// chain names the circle that begins with from waiting for to.
func (s coreSet) chain(from, to *core) []string {
	names := []string{place(from.topic, from.name)}
	seen := map[*core]bool{from: true}
	for c := to; c != nil; c = s.next(c) {
		names = append(names, place(c.topic, c.name))
		if seen[c] {
			break
		}
		seen[c] = true
	}
	return names
}

// next returns a core of s that a worker of c waits for.
func (s coreSet) next(c *core) *core {
	for _, w := range c.consumer.workers {
		for _, p := range w.blocked {
			for _, wt := range p.waiters {
				if s.holdsWaiter(wt) {
					return wt.core
				}
			}
		}
	}
	return nil
}

// checkOwn returns ErrDeadlock if ctx comes from a handler of c: it would
// wait for itself.
func (c *core) checkOwn(ctx context.Context) error {
	if !c.within(ctx) {
		return nil
	}
	name := place(c.topic, c.name)
	return &DeadlockError{Chain: []string{name, name}}
}
