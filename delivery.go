package herald

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// A Delivery is a message on lease: whoever received it has it alone until
// the lease ends, and must settle it by one of Ack, Nack and Release. A lease
// that runs out is a failed attempt with [ErrLeaseLost]. All methods may be
// called by any goroutine; the first that settles counts, a later one is
// [ErrSettled], one after the end of the lease [ErrLeaseLost].
type Delivery[T any] struct {
	Message[T]
	core    *core
	item    *item
	lease   uint64
	settled atomic.Bool
}

// Ack says that the message has been handled.
func (d *Delivery[T]) Ack() error { return d.settle("ack", nil) }

// Nack says that the attempt failed with err, which the retry policy judges
// as it does the error of a handler. A nil err stands for [ErrUnsettled].
// policy.Stop means Release here.
func (d *Delivery[T]) Nack(err error) error {
	if err == nil {
		err = ErrUnsettled
	}
	return d.settle("nack", err)
}

// Release gives the message back to its place, as if it had not been
// received: no attempt is used.
func (d *Delivery[T]) Release() error {
	return d.end("release", func() { d.core.giveBack(d.item) })
}

// Extend makes the lease end dur from now, unless it ends later already.
func (d *Delivery[T]) Extend(dur time.Duration) error {
	switch {
	case d.core == nil:
		return &Error{Op: "extend", Err: errNoDelivery}
	case dur <= 0:
		return d.core.fail("extend", fmt.Errorf("%w: %v is not positive", ErrOption, dur))
	case d.settled.Load():
		return d.core.fail("extend", ErrSettled)
	case !d.core.extend(d.item, d.lease, later(clock(), dur)):
		return d.core.fail("extend", ErrLeaseLost)
	}
	return nil
}

func (d *Delivery[T]) settle(op string, err error) error {
	return d.end(op, func() { d.core.settle(context.Background(), d.item, err) })
}

// errNoDelivery is the error of a Delivery that no Receive made.
var errNoDelivery = fmt.Errorf("%w: a Delivery that was not received", ErrOption)

// end settles d by calling settle, if the caller is the first and in time.
func (d *Delivery[T]) end(op string, settle func()) error {
	switch {
	case d.core == nil:
		return &Error{Op: op, Err: errNoDelivery}
	case !d.settled.CompareAndSwap(false, true):
		return d.core.fail(op, ErrSettled)
	case !d.core.settleLease(d.item, d.lease, settle):
		d.settled.Store(false) // it's not settled but lost, now and later
		return d.core.fail(op, ErrLeaseLost)
	}
	return nil
}
