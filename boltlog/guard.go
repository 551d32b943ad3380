package boltlog

import (
	"fmt"
	"runtime/debug"

	"github.com/heraldbus/herald/store"
)

// guard runs fn, which reads memory that is mapped from the file. If the file
// is damaged under our hands that memory faults, or bbolt panics on what it finds there; both
// become an error.
func guard(fn func() error) (err error) {
	before := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(before)
	defer func() {
		if p := recover(); p != nil {
			err = &store.CorruptError{What: fmt.Sprint("while using the file: ", p)}
		}
	}()
	return fn()
}
