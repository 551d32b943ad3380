package dlq

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/heraldbus/herald"
)

// Replay sends the letters for which match returns true back to the
// subscriptions that they come from, the oldest first, and returns how many
// that were. A nil match means all. It doesn't wait, and looks only at the
// letters that are there when it begins.
//
// A nil error means that nothing that matched is left. Where a subscription is
// full or closed its letters stay, those of others go on, and the error wraps
// [herald.ErrFull] or [herald.ErrClosed]. When ctx ends all the rest stays, and
// the error wraps its cause. The error says how many letters stayed, and of
// different errors keeps the first eight. That somebody else has replayed a
// letter meanwhile is no error.
func (q *Queue[T]) Replay(ctx context.Context, match func(herald.DeadLetter[T]) bool) (int, error) {
	if ctx == nil {
		return 0, fmt.Errorf("dlq: replay: %w: nil context", herald.ErrOption)
	}
	n, left := 0, &leftError{}
	for s := range q.slots() {
		if match != nil && !match(s.letter) {
			continue
		}
		switch moved, err := q.move(ctx, s); {
		case moved:
			n++
		case err == nil || errors.Is(err, herald.ErrSettled):
			// evicted, purged or replayed by somebody else meanwhile
		default:
			left.add(err)
			if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
				left.ended = true
				return n, left
			}
		}
	}
	if left.letters == 0 {
		return n, nil
	}
	return n, left
}

// move replays the letter of s and takes it out of the store. Where it has
// left the store before, nothing happens.
func (q *Queue[T]) move(ctx context.Context, s *slot[T]) (moved bool, err error) {
	if !q.beginMove(s) {
		return false, nil
	}
	defer q.endMove(s)
	if err := s.letter.Replay(ctx); err != nil {
		return false, err
	}
	return true, nil
}

// beginMove makes the caller one of the movers of s, if it's still stored.
func (q *Queue[T]) beginMove(s *slot[T]) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if s.stored {
		s.movers++
	}
	return s.stored
}

// endMove notes what came of it. The store may have evicted the letter
// meanwhile; that is an eviction unless it was replayed.
func (q *Queue[T]) endMove(s *slot[T]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s.movers--
	replayed := s.letter.Replayed()
	switch {
	case s.stored && replayed:
		q.removeLocked(s)
	case s.pushedOut && s.movers == 0 && !replayed:
		q.evicted++
	}
}

// maxErrors is how many errors a leftError keeps.
const maxErrors = 8

// A leftError says why a Replay left letters where they were.
type leftError struct {
	letters int     // how many failed
	ended   bool    // the context did, so the rest was not tried
	errs    []error // the first of each kind
}

func (e *leftError) add(err error) {
	e.letters++
	for _, kept := range e.errs {
		if alike(err, kept) {
			return
		}
	}
	if len(e.errs) < maxErrors {
		e.errs = append(e.errs, err)
	}
}

// alike reports whether two errors are about the same subscription and say
// the same.
func alike(a, b error) bool {
	x, ok := errors.AsType[*herald.Error](a)
	if !ok {
		return false
	}
	y, ok := errors.AsType[*herald.Error](b)
	return ok && x.Topic == y.Topic && x.Subscription == y.Subscription && errors.Is(x.Err, y.Err)
}

func (e *leftError) Error() string {
	var b strings.Builder
	if e.ended {
		fmt.Fprintf(&b, "dlq: at least %d left: ", e.letters)
	} else {
		fmt.Fprintf(&b, "dlq: %d left: ", e.letters)
	}
	for i, err := range e.errs {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(err.Error())
	}
	return b.String()
}

func (e *leftError) Unwrap() []error { return e.errs }
