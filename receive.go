package herald

import (
	"context"
	"errors"
	"iter"
	"log/slog"
)

// Receive waits for a message and returns it on lease. Several may wait at a
// time; as many deliveries as the concurrency may be out, so with the default
// of 1 settle one before receiving the next. ctx bounds the wait, not the lease.
// The error is the cause of ctx, [ErrBusy] while a Run or Step is under way,
// and [ErrClosed] or [ErrDisconnected] once the subscription is closed and
// quiet.
func (s *Subscription[T]) Receive(ctx context.Context) (*Delivery[T], error) {
	if err := s.core.checkCall("receive", ctx, false); err != nil {
		return nil, err
	}
	it, lease, err := s.core.receive(ctx)
	if err != nil {
		return nil, err
	}
	return s.deliver(it, lease), nil
}

// TryReceive is Receive for those who don't wait: false means that no
// message is ready or that the subscription is busy.
func (s *Subscription[T]) TryReceive() (*Delivery[T], bool) {
	if s.core.owner == nil {
		return nil, false
	}
	it, lease, ok := s.core.tryReceive()
	if !ok {
		return nil, false
	}
	return s.deliver(it, lease), true
}

func (s *Subscription[T]) deliver(it *item, lease uint64) *Delivery[T] {
	return &Delivery[T]{Message: nodeOf[T](it).message(), core: &s.core, item: it, lease: lease}
}

// Messages yields deliveries as Receive returns them, until ctx ends or the
// subscription is closed and quiet; Err then says which. A delivery that the
// loop's body leaves unsettled is a failed attempt with [ErrUnsettled]. Leaving
// the loop by break or return gives the current one back, without using an
// attempt. A panic in the body is a failed attempt and goes on; so does
// runtime.Goexit.
func (s *Subscription[T]) Messages(ctx context.Context) iter.Seq[*Delivery[T]] {
	return func(yield func(*Delivery[T]) bool) {
		s.core.setEnd(nil)
		for {
			d, err := s.Receive(ctx)
			if err != nil {
				s.core.setEnd(err)
				return
			}
			if !d.yieldTo(yield) {
				return
			}
		}
	}
}

// Err returns why the latest loop over Messages ended: nil if by leaving it, or
// if it hasn't ended, else the cause of its context, [ErrClosed], [ErrBusy] or
// [ErrDisconnected].
func (s *Subscription[T]) Err() error {
	s.core.mu.Lock()
	defer s.core.unlock()
	return s.core.endErr
}

func (c *core) setEnd(err error) {
	c.mu.Lock()
	defer c.unlock()
	c.endErr = err
}

// yieldTo runs the body of a loop over Messages and settles what it left.
// It reports whether the loop goes on.
func (d *Delivery[T]) yieldTo(yield func(*Delivery[T]) bool) (more bool) {
	returned := false
	defer func() {
		switch {
		case returned && more:
			d.unlessSettled(d.Nack(ErrUnsettled))
		case returned:
			d.unlessSettled(d.Release())
		case goexiting():
			d.unlessSettled(d.Nack(ErrHandlerExited))
		default:
			v := recover()
			d.unlessSettled(d.Nack(newPanicError(v)))
			panic(v)
		}
	}()
	more = yield(d)
	returned = true
	return more
}

// unlessSettled takes note that the body has settled its delivery itself, or
// lost it: nothing is left to do.
func (d *Delivery[T]) unlessSettled(err error) {
	if err != nil && !errors.Is(err, ErrSettled) && !errors.Is(err, ErrLeaseLost) {
		d.core.logMessage(slog.LevelError, "delivery not settled", d.Meta,
			func() slog.Attr { return slog.String("error", errorText(err)) })
	}
}
