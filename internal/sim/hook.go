package sim

import (
	"runtime"
	"sync/atomic"
)

// active is the run under way; nil: hooks do nothing.
var active atomic.Pointer[run]

// Waking is a yield point before a send on a channel, or its closing.
func Waking() {
	if r := active.Load(); r != nil {
		r.waking(caller())
	}
}

// Select2 is a yield point in front of a select with two receiving cases,
// whose values nobody looks at. It returns what to receive from instead: the
// same channels if none is ready, else only the one that the scheduler chose.
func Select2[A, B any](a <-chan A, b <-chan B) (<-chan A, <-chan B) {
	r := active.Load()
	if r == nil {
		return a, b
	}
	r.yield(caller())
	isReady := []bool{ready(a), ready(b)}
	i := r.among(caller(), isReady)
	return only(i, 0, a), only(i, 1, b)
}

// Select3 is Select2 with three cases.
func Select3[A, B, C any](a <-chan A, b <-chan B, c <-chan C) (<-chan A, <-chan B, <-chan C) {
	r := active.Load()
	if r == nil {
		return a, b, c
	}
	r.yield(caller())
	isReady := []bool{ready(a), ready(b), ready(c)}
	i := r.among(caller(), isReady)
	return only(i, 0, a), only(i, 1, b), only(i, 2, c)
}

// ready reports whether a receive from c would not wait. From a channel
// without a buffer, a context's or a timer's, it receives: a closed one stays
// ready, and a timer's tick is lost, which may be as the timer is stopped or reset
// after each select.
func ready[V any](c <-chan V) bool {
	if cap(c) > 0 {
		return len(c) > 0
	}
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// only returns c as case number here of a select in which number chosen goes
// on; chosen < 0: whichever is ready first.
func only[V any](chosen, here int, c <-chan V) <-chan V {
	switch {
	case chosen < 0, chosen == here && cap(c) > 0:
		return c
	case chosen != here:
		return nil
	}
	closed := make(chan V)
	close(closed)
	return closed
}

// caller is where the hook was called.
func caller() uintptr {
	var pcs [1]uintptr
	runtime.Callers(3, pcs[:])
	return pcs[0]
}

// outer is where the caller of a hook, one call further out, was called.
func outer() uintptr {
	var pcs [1]uintptr
	runtime.Callers(4, pcs[:])
	return pcs[0]
}

// goroutine returns the number of the goroutine that calls it.
func goroutine() uint64 {
	var text [32]byte
	n := runtime.Stack(text[:], false) // "goroutine 123 [..."
	var id uint64
	for _, c := range text[len("goroutine "):n] {
		if c < '0' || c > '9' {
			break
		}
		id = 10*id + uint64(c-'0')
	}
	return id
}
