package store

import (
	"errors"
	"fmt"
)

// What can go wrong. They come wrapped in what says more: test with
// errors.Is.
var (
	ErrClosed      = errors.New("store: closed")
	ErrLocked      = errors.New("store: in use by somebody else")
	ErrNotFound    = errors.New("store: not found")
	ErrInvalid     = errors.New("store: invalid argument")
	ErrUnsupported = errors.New("store: not supported")
	ErrTrimmed     = errors.New("store: no longer retained")
	ErrCorrupt     = errors.New("store: corrupt")
	ErrFormat      = errors.New("store: unknown format")
	ErrFull        = errors.New("store: no space left")

	// ErrUncertain: the change may or may not have been made. A publisher that
	// gave its messages IDs may publish them again, see [Settings].
	ErrUncertain = errors.New("store: uncertain whether it was stored")

	// ErrFailed: an earlier write failed, so that nobody knows what the disk
	// holds. Nothing is written any more until the store is opened anew; reads
	// go on.
	ErrFailed = errors.New("store: failed, open it anew")
)

// A TrimmedError is the [ErrTrimmed] of reading below the first record.
type TrimmedError struct {
	Topic string
	From  uint64 // what was asked for
	First uint64 // what is there
}

// Lost returns the number of records that are no longer there.
func (e *TrimmedError) Lost() uint64 { return e.First - e.From }

func (e *TrimmedError) Error() string {
	return fmt.Sprintf("read %s at %d: %v: %d records lost, the first is %d", e.Topic, e.From, ErrTrimmed, e.Lost(), e.First)
}

func (e *TrimmedError) Unwrap() error { return ErrTrimmed }

// A CorruptError is the [ErrCorrupt] of data that isn't what was written.
type CorruptError struct {
	Topic string // empty: the store as a whole
	Seq   uint64 // offset of the record; 0: not one record
	What  string // is wrong
}

func (e *CorruptError) Error() string {
	switch {
	case e.Topic == "":
		return fmt.Sprintf("%v: %s", ErrCorrupt, e.What)
	case e.Seq == 0:
		return fmt.Sprintf("%v: topic %s: %s", ErrCorrupt, e.Topic, e.What)
	}
	return fmt.Sprintf("%v: topic %s, record %d: %s", ErrCorrupt, e.Topic, e.Seq, e.What)
}

func (e *CorruptError) Unwrap() error { return ErrCorrupt }
