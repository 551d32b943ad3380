package sim

import "sync"

// A Mutex stands in for sync.Mutex. In a run its Lock is a yield point, and a
// thread that has a lock is not stopped before it has none, unless the run is
// deep: then one that wants the lock can't go on meanwhile.
type Mutex struct{ mu sync.Mutex }

// Lock locks m.
func (m *Mutex) Lock() {
	if r := active.Load(); r != nil {
		r.lock(m, caller())
	}
	m.mu.Lock()
}

// TryLock locks m if nobody has it.
func (m *Mutex) TryLock() bool {
	r := active.Load()
	if r != nil {
		r.yield(caller())
	}
	ok := m.mu.TryLock()
	if r != nil && ok {
		r.took(m)
	}
	return ok
}

// Unlock unlocks m.
func (m *Mutex) Unlock() {
	if r := active.Load(); r != nil {
		r.gave(m)
	}
	m.mu.Unlock()
}

// What the sources use of package sync besides; they're no yield points.
type (
	Once      = sync.Once
	WaitGroup = sync.WaitGroup
)
