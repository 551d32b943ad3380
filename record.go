package herald

import (
	"context"
	"fmt"
)

// record appends messages to the log, and offers them to the subscriptions
// that don't read from it. It returns how many were taken by all. What one
// of those refuses is in the log all the same.
func (h *hub[T]) record(ctx context.Context, op string, e *envelope, vs []T) (int, error) {
	if e.due != 0 {
		return 0, h.fail(op, fmt.Errorf("%w: WithDelay on a topic with a log", ErrOption))
	}
	if !h.log.append(&e.Meta, vs) {
		return 0, h.fail(op, ErrClosed)
	}
	r := h.roster.Load()
	if len(r.subs)+len(r.foreign) == 0 {
		return len(vs), nil
	}
	first := e.Seq + 1 - uint64(len(vs))
	for i := range vs {
		e.Seq = first + uint64(i)
		if err := h.publishRest(ctx, r, 0, e, &vs[i]); err != nil {
			return i, err
		}
	}
	return len(vs), nil
}

// maxRecord is how many messages of a batch are appended in one go.
const maxRecord = 256

// recordAll is record for a batch: in few steps where all is read from the
// log, else one by one, so that what follows a refusal isn't appended.
func (h *hub[T]) recordAll(ctx context.Context, e *envelope, vs []T) (accepted int, err error) {
	const op = "publish batch"
	for accepted < len(vs) {
		if ctx.Err() != nil {
			return accepted, h.fail(op, ended(ctx))
		}
		n := 1
		if r := h.roster.Load(); len(r.subs)+len(r.foreign) == 0 {
			n = min(maxRecord, len(vs)-accepted)
		}
		done, err := h.record(ctx, op, e, vs[accepted:accepted+n])
		accepted += done
		if err != nil {
			return accepted, err
		}
	}
	return accepted, nil
}

// published returns the last Seq given.
func (h *hub[T]) published() uint64 {
	if h.log != nil {
		return h.log.head.Load()
	}
	return h.seq.Load()
}

// start sets where r, if it's a cursor, begins to read. It comes before r is
// in the roster, so that what is published meanwhile is read too.
func (h *hub[T]) start(r receiver) error {
	c := r.base()
	if c.src == nil {
		return nil
	}
	next, err := h.log.find(c.cfg.start, 0, h.origin)
	if err == nil {
		c.src.place(next, 1)
	}
	return err
}
