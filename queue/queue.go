package queue

import (
	"sync"

	"github.com/heraldbus/herald/policy"
)

// levelCount is how many priorities there are; level 0 is the lowest.
const levelCount = int(policy.Critical-policy.Low) + 1

// A Queue is a bounded priority queue, for any number of goroutines at once.
// The zero Queue has capacity 1 and is ready to use. A Queue must not be
// copied after its first use.
//
// Whenever mu is free:
//
//  1. size is what the levels hold together, and at most Cap.
//  2. Goroutines wait in pushers only while size == Cap, so that whoever finds
//     room knows that nobody was there before.
//  3. Goroutines wait in poppers only while size == 0; so never in both lines.
//  4. Once closed, both lines are empty, and nothing enters any more.
//
// To keep 2 and 3, whoever makes room admits the first pusher, and whoever
// brings an element hands it to the first popper, before letting go of mu.
// There is no moment in which a third could come between.
type Queue[E any] struct {
	capacity int // as given to New; Cap has the last word

	// mu protects all below. It is a leaf: while it is held nothing is
	// called, sent, or waited for.
	mu      sync.Mutex
	levels  [levelCount]fifo[E]
	size    int
	spare   stock[E]
	pushers line[E] // for room
	poppers line[E] // for an element
	closed  bool
}

// New makes a queue that holds at most capacity elements. A capacity below 1
// counts as 1: no queue is without room for ever. Capacity costs nothing until
// it is used, so a generous one is fine.
func New[E any](capacity int) *Queue[E] {
	return &Queue[E]{capacity: capacity}
}

// Cap returns how many elements the queue can hold, at least 1.
func (q *Queue[E]) Cap() int { return max(q.capacity, 1) }

// Len returns how many elements the queue holds. Those of waiting pushes are
// not among them.
func (q *Queue[E]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.size
}

// Close ends the intake. Pushes fail with [ErrClosed] from now on, those that
// wait included; pops go on until the queue is empty and then fail with it,
// those that wait at once. Close does not wait for anything, may be called
// again, and returns nil always: the error makes a Queue an [io.Closer].
func (q *Queue[E]) Close() error {
	for _, w := range q.close() {
		w.wake()
	}
	return nil
}

// close marks the queue closed and returns all who waited, for the caller to wake.
func (q *Queue[E]) close() (released []*waiter[E]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.spare = stock[E]{}
	for _, l := range []*line[E]{&q.pushers, &q.poppers} {
		for w := l.take(); w != nil; w = l.take() {
			w.err = ErrClosed
			released = append(released, w)
		}
	}
	return released
}

// putLocked adds e, for which there must be room.
func (q *Queue[E]) putLocked(e E, p policy.Priority) {
	q.levels[p-policy.Low].push(e, &q.spare)
	q.size++
}

// pullLocked removes the oldest element of a level, which must have one. After
// Close, nothing is kept for later.
func (q *Queue[E]) pullLocked(level int) E {
	e := q.levels[level].pop(&q.spare)
	q.size--
	if q.closed {
		q.spare = stock[E]{}
	}
	return e
}
