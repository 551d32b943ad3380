package dlq

import (
	"context"
	"fmt"
	"iter"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/internal/letters"
	"github.com/heraldbus/herald/internal/seam"
)

// defaultCapacity is that of the zero Queue.
const defaultCapacity = 1000

// A Queue is a bounded store of dead letters, for any number of goroutines at
// once. The zero Queue is ready to use and holds 1000 letters. A Queue must not
// be copied after first use.
type Queue[T any] struct {
	capacity int // 0: the default
	store    letters.Store[herald.DeadLetter[T]]
}

// New makes a queue that holds at most capacity letters. A capacity below 1
// counts as 1. Capacity costs nothing until it's used.
func New[T any](capacity int) *Queue[T] {
	return &Queue[T]{capacity: max(capacity, 1)}
}

// Put stores d, in the place of the oldest letter if the queue is full. Its
// signature is that of DeadLetterTo; its error is always nil. A letter that was
// replayed before it came here isn't stored.
//
// A full queue looks for letters that were replayed by themselves before it
// evicts, but only among those that somebody may have got from it: the ones
// that an All, Replay or Purge has come upon. Put costs as much as these are,
// and next to nothing where there are none.
func (q *Queue[T]) Put(d herald.DeadLetter[T]) error {
	q.store.Put(d, q.limit())
	return nil
}

// Len returns how many letters there are. It looks at each of them.
func (q *Queue[T]) Len() int { return q.store.Len() }

// Evicted returns how many letters had to leave for others so far.
func (q *Queue[T]) Evicted() uint64 { return q.store.Evicted() }

// All yields the letters that are there when the loop begins, the oldest
// first. Those that are replayed before the loop comes to them are left out.
// The body may use the queue and replay the letters that it gets.
func (q *Queue[T]) All() iter.Seq[herald.DeadLetter[T]] { return q.store.All() }

// Purge removes the letters for which match returns true, and returns how many
// that were. A nil match means all. A letter that a concurrent Replay is about
// to move is that one's.
func (q *Queue[T]) Purge(match func(herald.DeadLetter[T]) bool) int { return q.store.Purge(match) }

// Replay sends the letters for which match returns true back to the
// subscriptions that they come from, the oldest first, and returns how many
// that were. A nil match means all. It doesn't wait, and looks only at the
// letters that are there when it begins.
//
// A nil error means that nothing that matched is left. Where a subscription is
// full or closed its letters stay, none overtaking another, those of others go
// on, and the error wraps [herald.ErrFull] or [herald.ErrClosed]. When ctx ends all the rest stays, and
// the error wraps its cause. The error says how many letters stayed, and of
// different errors keeps the first eight. That somebody else has replayed a
// letter meanwhile is no error.
func (q *Queue[T]) Replay(ctx context.Context, match func(herald.DeadLetter[T]) bool) (int, error) {
	if ctx == nil {
		return 0, fmt.Errorf("dlq: replay: %w: nil context", herald.ErrOption)
	}
	n, err := q.store.Replay(ctx, match, func(d herald.DeadLetter[T]) any { return seam.Home(d) })
	if err != nil {
		return n, fmt.Errorf("dlq: %w", err)
	}
	return n, nil
}

func (q *Queue[T]) limit() int {
	if q.capacity == 0 {
		return defaultCapacity
	}
	return q.capacity
}
