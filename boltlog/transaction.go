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
			w.stuck = true // it may have panicked with bbolt's lock
			return failure(err)
		}
		if applyAll(c, batch) && finishAll(c, batch) {
			return w.commit(c, batch)
		}
		if !c.rollback() {
			w.stuck = true
			return failure(errStuck)
		}
		if err := w.broken(batch); err != nil {
			return failure(err)
		}
	}
}

var errStuck = errors.New("boltlog: a transaction can't be ended, the file is damaged")

// broken returns the error of an op that others build on: it was acknowledged, or others were with
// places behind it.
func (w *writer) broken(batch []*op) error {
	for _, o := range batch {
		if w.relaxed && o.places > 0 && o.err != nil {
			return o.err
		}
	}
	return nil
}

// applyAll applies the ops that have no error yet, up to the first that gets one; then it's false.
func applyAll(c *changes, batch []*op) bool {
	for _, o := range batch {
		if o.err != nil || o.apply == nil {
			continue
		}
		if o.err = guard(func() error { return o.apply(c) }); o.err != nil {
			return false
		}
	}
	return true
}

// finishAll writes what is written once per transaction. If that fails for a topic it's the error of all ops of
// the topic, and false.
func finishAll(c *changes, batch []*op) bool {
	for _, e := range c.edits {
		err := guard(e.finish)
		if err == nil {
			continue
		}
		for _, o := range batch {
			if o.log == e.log && o.err == nil {
				o.err = err
			}
		}
		return false
	}
	return true
}

func (w *writer) commit(c *changes, batch []*op) *failedError {
	if c.empty() {
		c.rollback()
		return nil
	}
	err := guard(c.tx.Commit)
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
