package boltlog

import (
	"errors"
	"fmt"
	"syscall"

	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/heraldbus/herald/store"
)

// write writes a batch in one transaction. Ops that fail are left out and know
// why. An error is the disk's: nobody knows what is on it.
func (w *writer) write(batch []*op) *failedError {
	for {
		c := &changes{}
		if err := guard(func() (err error) { c.tx, err = w.db.Begin(true); return err }); err != nil {
			return failure(err)
		}
		failed := applyAll(c, batch)
		if failed == nil {
			return w.commit(c, batch)
		}
		if !c.rollback() {
			w.stuck = true
			return failure(failed.err)
		}
		if w.relaxed && failed.places > 0 {
			return failure(failed.err) // it was acknowledged, or others were, with places behind it
		}
	}
}

// applyAll applies the ops that have no error yet, up to the first that gets one, which it
// returns.
func applyAll(c *changes, batch []*op) (failed *op) {
	for _, o := range batch {
		if o.err != nil || o.apply == nil {
			continue
		}
		if o.err = guard(func() error { return o.apply(c) }); o.err != nil {
			return o
		}
	}
	return nil
}

func (w *writer) commit(c *changes, batch []*op) *failedError {
	if c.empty() {
		c.rollback()
		return nil
	}
	err := guard(func() error {
		if err := c.finish(); err != nil {
			return err
		}
		return c.tx.Commit()
	})
	if err == nil {
		c.publish()
		return nil
	}
	w.stuck = !c.rollback()
	if errors.Is(err, bolterrors.ErrMaxSizeReached) {
		return w.refuseAll(batch, fmt.Errorf("%w: the file has the size it's limited to", store.ErrFull))
	}
	return failure(err)
}

// refuseAll gives all ops an error that left nothing written. If records were
// acknowledged already it's a failure all the same.
func (w *writer) refuseAll(batch []*op, err error) *failedError {
	for _, o := range batch {
		if w.relaxed && o.places > 0 {
			return failure(err)
		}
		if o.err == nil {
			o.err = err
		}
	}
	return nil
}

// failure is what a write that failed is to those who waited for it.
func failure(err error) *failedError {
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		if errors.Is(err, full) {
			err = fmt.Errorf("%w: %w", store.ErrFull, err)
			break
		}
	}
	return &failedError{err}
}

// A failedError is [store.ErrFailed] and, to those who waited, [store.ErrUncertain].
type failedError struct{ cause error }

func (e *failedError) Error() string {
	return fmt.Sprintf("%v, and %v: %v", store.ErrFailed, store.ErrUncertain, e.cause)
}

func (e *failedError) Unwrap() []error { return []error{store.ErrFailed, store.ErrUncertain, e.cause} }
