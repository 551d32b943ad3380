package queue

import (
	"context"

	"github.com/heraldbus/herald/policy"
)

// Push adds e and waits for room as long as it has to: until there is some and
// everybody who came before has been served, until ctx ends, or until the
// queue is closed.
//
// The error is nil if and only if e was accepted. Else it is ctx's cause, also
// where ctx was done from the start and there was room; [ErrClosed]; or an
// [*ArgumentError] for a nil ctx or a priority that does not exist.
func (q *Queue[E]) Push(ctx context.Context, e E, p policy.Priority) error {
	if err := checkPriority(p); err != nil {
		return err
	}
	if err := checkContext(ctx); err != nil {
		return err
	}
	q.mu.Lock()
	popper, err := q.acceptLocked(e, p)
	if err != ErrFull {
		q.mu.Unlock()
		popper.wake()
		return err
	}
	w := newWaiter(e, p)
	q.pushers.join(w)
	q.mu.Unlock()
	return q.await(ctx, &q.pushers, w)
}

// TryPush adds e if that needs no waiting, and reports [ErrFull] if it would.
// Other errors are those of [Queue.Push].
func (q *Queue[E]) TryPush(e E, p policy.Priority) error {
	if err := checkPriority(p); err != nil {
		return err
	}
	q.mu.Lock()
	popper, err := q.acceptLocked(e, p)
	q.mu.Unlock()
	popper.wake()
	return err
}

// PushEvict adds e without ever waiting: where the queue is full, an element
// has to go, and is handed back with evicted true. It is the oldest of the
// lowest priority queued, or e itself where e's priority is lower still.
//
// With an error, [ErrClosed] or an [*ArgumentError], e was not accepted and
// nothing was evicted.
func (q *Queue[E]) PushEvict(e E, p policy.Priority) (victim E, evicted bool, err error) {
	if err := checkPriority(p); err != nil {
		return victim, false, err
	}
	q.mu.Lock()
	popper, err := q.acceptLocked(e, p)
	if err == ErrFull {
		victim, evicted, err = q.replaceLocked(e, p), true, nil
	}
	q.mu.Unlock()
	popper.wake()
	return victim, evicted, err
}

// acceptLocked takes e in if that is possible now: by handing it to the first
// popper in line, whom the caller must wake after unlocking, or by queueing it.
func (q *Queue[E]) acceptLocked(e E, p policy.Priority) (popper *waiter[E], err error) {
	if q.closed {
		return nil, ErrClosed
	}
	if w := q.poppers.take(); w != nil {
		w.elem = e
		return w, nil
	}
	if q.size >= q.Cap() { // always so when pushers wait, by invariant 2
		return nil, ErrFull
	}
	q.putLocked(e, p)
	return nil, nil
}

// replaceLocked puts e in the place of the least of a full queue and returns
// that, or e where e is less. It makes no room, so nobody in line is due.
func (q *Queue[E]) replaceLocked(e E, p policy.Priority) (victim E) {
	lowest := 0
	for q.levels[lowest].empty() {
		lowest++
	}
	if int(p-policy.Low) < lowest {
		return e
	}
	victim = q.pullLocked(lowest)
	q.putLocked(e, p)
	return victim
}
