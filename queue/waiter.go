package queue

import (
	"context"

	"github.com/heraldbus/herald/policy"
)

// A waiter is a goroutine that waits for room or for an element.
//
// While it stands in its line it belongs to the queue's mutex. Whoever takes it
// out decides its fate under that mutex, by filling in elem or err, and wakes it
// after unlocking. From then on it belongs to the goroutine that waited, which
// also finds its fate settled if it gets hold of the mutex first.
type waiter[E any] struct {
	elem     E               // a pusher's from the start; a popper's once handed over
	priority policy.Priority // of a pusher's element
	err      error           // set if the queue was closed instead

	woken      chan struct{} // closed by wake
	standing   bool          // in a line
	prev, next *waiter[E]
}

// newWaiter allocates, and with purpose: a pool would carry channels from one
// testing/synctest bubble into another.
func newWaiter[E any](e E, p policy.Priority) *waiter[E] {
	return &waiter[E]{elem: e, priority: p, woken: make(chan struct{})}
}

// wake lets the goroutine go on. A nil waiter is nobody: nothing happens.
func (w *waiter[E]) wake() {
	if w != nil {
		close(w.woken)
	}
}

// await waits until w, which stands in l, has been taken out by somebody, or ctx
// ends and w leaves by itself. If both happen, being taken out counts, for that
// cannot be undone: an element has changed hands.
func (q *Queue[E]) await(ctx context.Context, l *line[E], w *waiter[E]) error {
	select {
	case <-w.woken:
		return w.err
	case <-ctx.Done():
	}
	q.mu.Lock()
	left := l.leave(w)
	q.mu.Unlock()
	if left {
		return context.Cause(ctx)
	}
	return w.err
}

// A line is waiters in the order in which they came. It needs the queue's mutex.
type line[E any] struct {
	first, last *waiter[E]
}

// join puts w at the end.
func (l *line[E]) join(w *waiter[E]) {
	w.standing = true
	if w.prev = l.last; w.prev == nil {
		l.first = w
	} else {
		w.prev.next = w
	}
	l.last = w
}

// take takes out the first, or nil.
func (l *line[E]) take() *waiter[E] {
	w := l.first
	if w != nil {
		l.leave(w)
	}
	return w
}

// leave takes out w, wherever it stands, and reports whether it was still there.
func (l *line[E]) leave(w *waiter[E]) bool {
	if !w.standing {
		return false
	}
	if w.prev == nil {
		l.first = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		l.last = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.prev, w.next, w.standing = nil, nil, false
	return true
}
