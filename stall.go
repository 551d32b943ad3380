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
// ready. Such a state can only begin when a publish starts to wait, when a
// worker goes to sleep, or when the last thing due later has come; so these
// look for it, the last by the publishes that wait.
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

// check looks for deadlocks and ends each by refusing one publish.
func (r *stallRegistry) check() {
	if r.waiting.Load() == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	set := lockAll(r.waits)
	var a answers
	for c := set.circle(r.waits); c != nil; c = set.circle(r.waits) {
		c.refuse(&a)
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

// A link of a circle: p, published in a handler of from, waits for room in to.
type link struct {
	from, to *core
	p        *publishing
}

// circle returns a circle of waits in s, or nil. It begins with the latest
// publish to wait, if that is on it.
func (s coreSet) circle(ps []*publishing) circle {
	stuck := s.stuck()
	for _, p := range slices.Backward(ps) {
		l, ok := stuck.link(p.worker.core, p)
		if !ok || !stuck[l.from] {
			continue
		}
		path := circle{l}
		for {
			if i := slices.IndexFunc(path, func(on link) bool { return on.from == l.to }); i >= 0 {
				return path[i:]
			}
			l = stuck.next(l.to)
			path = append(path, l)
		}
	}
	return nil
}

// link returns what p, published in from, waits for in s.
func (s coreSet) link(from *core, p *publishing) (link, bool) {
	i := slices.IndexFunc(p.waiters, s.holdsWaiter)
	if i < 0 {
		return link{}, false
	}
	return link{from, p.waiters[i].core, p}, true
}

// next returns a wait for room in s of a handler of c, which is in s too. As
// somebody waits for room in c it's full, so not all its workers are asleep:
// there's one.
func (s coreSet) next(c *core) link {
	for _, w := range c.consumer.workers {
		for _, p := range w.blocked {
			if l, ok := s.link(c, p); ok {
				return l
			}
		}
	}
	panic("herald: stuck without waiting")
}

// A circle is a deadlock: the first link's to is the second's from, and so
// on round to the first again.
type circle []link

// refuse ends the wait of the first link's publish.
func (c circle) refuse(a *answers) {
	names := make([]string, 0, len(c)+1)
	on := coreSet{}
	for _, l := range c {
		names = append(names, place(l.from.topic, l.from.name))
		on[l.from] = true
	}
	err := &DeadlockError{Chain: append(names, names[0])}
	for _, w := range c[0].p.waiters {
		if on.holdsWaiter(w) {
			it := w.item
			a.add(w.core.waiting.remove(w, refused, err))
			w.core.refuse(it)
		}
	}
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
