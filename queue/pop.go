package queue

import (
	"context"
	"iter"
)

// Pop removes the next element and returns it: the oldest of the highest
// priority. If there is none it waits for one, behind those who came before,
// until ctx ends or the queue is closed.
//
// The error is nil if and only if an element was taken out. Else it is ctx's
// cause, also where ctx was done from the start; [ErrClosed] when the queue is
// closed and empty; or an [*ArgumentError] for a nil ctx.
func (q *Queue[E]) Pop(ctx context.Context) (E, error) {
	var none E
	if err := checkContext(ctx); err != nil {
		return none, err
	}
	q.mu.Lock()
	if e, pusher, ok := q.nextLocked(); ok {
		q.mu.Unlock()
		pusher.wake()
		return e, nil
	}
	if q.closed {
		q.mu.Unlock()
		return none, ErrClosed
	}
	w := newWaiter(none, 0)
	q.poppers.join(w)
	q.mu.Unlock()
	err := q.await(ctx, &q.poppers, w)
	return w.elem, err
}

// TryPop removes the next element, if there is one. It cannot tell a closed
// queue from an empty one; [Queue.Pop] does.
func (q *Queue[E]) TryPop() (e E, ok bool) {
	q.mu.Lock()
	e, pusher, ok := q.nextLocked()
	q.mu.Unlock()
	pusher.wake()
	return e, ok
}

// All pops elements for a range loop, waiting where it has to, until the queue
// is closed and empty or ctx ends. An element is out of the queue when the
// loop body gets it, so leaving the loop loses none. Several loops share the
// elements between them.
//
// After a loop that was not left, context.Cause(ctx) is nil only if the queue is
// closed and empty. A nil ctx yields nothing.
func (q *Queue[E]) All(ctx context.Context) iter.Seq[E] {
	return func(yield func(E) bool) {
		for {
			e, err := q.Pop(ctx)
			if err != nil || !yield(e) {
				return
			}
		}
	}
}

// nextLocked removes the next element, if there is one, and gives its room to
// the first pusher in line, whom the caller must wake after unlocking.
func (q *Queue[E]) nextLocked() (e E, pusher *waiter[E], ok bool) {
	if q.size == 0 { // then nobody waits for room, by invariant 2
		return e, nil, false
	}
	highest := levelCount - 1
	for q.levels[highest].empty() {
		highest--
	}
	e = q.pullLocked(highest)
	if pusher = q.pushers.take(); pusher != nil {
		q.putLocked(pusher.elem, pusher.priority)
	}
	return e, pusher, true
}
