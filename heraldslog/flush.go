package heraldslog

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// Flush waits until every record whose Handle has returned is written or lost,
// in all appenders. What is logged meanwhile it doesn't wait for, so it ends
// also while others go on logging. It doesn't write itself: there has to be a Run.
// Buffers of the appenders' writers are theirs to flush.
//
// When ctx ends before, the error wraps a [*herald.DrainError] that says how much is
// left in which appender, later records included. With the context of an
// appender's handler it's [herald.ErrDeadlock].
func (h *Handler) Flush(ctx context.Context) error {
	if err := checkContext("flush", ctx); err != nil {
		return err
	}
	c := h.core
	last := c.topic.Stats().Published
	for _, a := range *c.appenders.Load() {
		err := a.flush(ctx, last)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return fail("flush", "", c.drainError(ctx))
		default:
			return err
		}
	}
	return nil
}

// errPassed is the cause of a flush's context when the appender has come to a
// later record.
var errPassed = errors.New("heraldslog: flushed")

// flush waits until a is quiet, or has begun with a record after last: that
// one was accepted after all for which the flush waits, and comes after them.
func (a *appender) flush(ctx context.Context, last uint64) error {
	ctx, cancel := context.WithCancelCause(ctx)
	f := &flush{last, cancel}
	a.flushes.add(f)
	defer a.flushes.remove(f)
	if err := a.sub.WaitIdle(ctx); err != errPassed {
		return err
	}
	return nil
}

// A flush waits for an appender to begin with a record after last.
type flush struct {
	last uint64
	done context.CancelCauseFunc
}

// flushes are those that wait for one appender.
type flushes struct {
	n  atomic.Int32 // in all; so that pass mostly needn't lock
	mu sync.Mutex   // protects all
	in map[*flush]struct{}
}

func (s *flushes) add(f *flush) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.in == nil {
		s.in = map[*flush]struct{}{}
	}
	s.in[f] = struct{}{}
	s.n.Store(int32(len(s.in)))
}

func (s *flushes) remove(f *flush) {
	s.mu.Lock()
	delete(s.in, f)
	s.n.Store(int32(len(s.in)))
	s.mu.Unlock()
	f.done(nil)
}

// pass lets those go that wait for nothing after the record with that Seq.
func (s *flushes) pass(seq uint64) {
	if s.n.Load() == 0 {
		return
	}
	for _, f := range s.before(seq) {
		f.done(errPassed)
	}
}

func (s *flushes) before(seq uint64) (fs []*flush) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for f := range s.in {
		if f.last < seq {
			fs = append(fs, f)
		}
	}
	return fs
}
