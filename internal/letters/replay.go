package letters

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/heraldbus/herald"
)

// Replay sends the letters for which match returns true back, the oldest
// first, and returns how many that were. A nil match means all. It doesn't
// wait, and looks only at the letters that are there when it begins. What
// can't go back stays, and err, if not nil, is a [*LeftError] that says why;
// when ctx ends all the rest stays. ctx must not be nil. home identifies where
// a letter goes back to: once that is full its other letters stay too, so that
// none overtakes one that has to wait for room.
func (s *Store[L]) Replay(ctx context.Context, match func(L) bool, home func(L) any) (n int, err error) {
	left := &LeftError{}
	full := map[any]error{}
	for l := range s.slots() {
		if match != nil && !match(l.letter) {
			continue
		}
		if err := full[home(l.letter)]; err != nil {
			left.add(err)
			continue
		}
		switch moved, err := s.move(ctx, l); {
		case moved:
			n++
		case err == nil || errors.Is(err, herald.ErrSettled):
			// evicted, purged or replayed by somebody else meanwhile
		default:
			left.add(err)
			if errors.Is(err, herald.ErrFull) {
				full[home(l.letter)] = err
			}
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

// move replays the letter of l and takes it out of the store. Where it has
// left the store before, nothing happens.
func (s *Store[L]) move(ctx context.Context, l *slot[L]) (moved bool, err error) {
	if !s.beginMove(l) {
		return false, nil
	}
	defer s.endMove(l)
	if err := l.letter.Replay(ctx); err != nil {
		return false, err
	}
	return true, nil
}

// beginMove makes the caller one of the movers of l, if it's still stored.
func (s *Store[L]) beginMove(l *slot[L]) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.stored {
		l.movers++
	}
	return l.stored
}

// endMove notes what came of it. The store may have evicted the letter
// meanwhile; that is an eviction unless it was replayed.
func (s *Store[L]) endMove(l *slot[L]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.movers--
	replayed := l.letter.Replayed()
	switch {
	case l.stored && replayed:
		s.removeLocked(l)
	case l.pushedOut && l.movers == 0 && !replayed:
		s.evicted++
	}
}

// maxErrors is how many errors a LeftError keeps.
const maxErrors = 8

// A LeftError says why a Replay left letters where they were.
type LeftError struct {
	letters int     // how many failed
	ended   bool    // the context did, so the rest was not tried
	errs    []error // the first of each kind
}

func (e *LeftError) add(err error) {
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

func (e *LeftError) Error() string {
	var b strings.Builder
	if e.ended {
		b.WriteString("at least ")
	}
	fmt.Fprintf(&b, "%d left: ", e.letters)
	for i, err := range e.errs {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(err.Error())
	}
	return b.String()
}

func (e *LeftError) Unwrap() []error { return e.errs }
