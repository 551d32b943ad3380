package heraldslog

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/heraldbus/herald"
)

// reportLost writes down how many records have been lost since it last did,
// if any were. It reports whether nothing is left to be said.
func (a *appender) reportLost(ctx context.Context) (done bool) {
	lost, before := lostOf(a.sub.Stats()), a.reported.Load()
	if lost <= before || !a.reported.CompareAndSwap(before, lost) {
		return true // where another worker was faster it's its business
	}
	n := lost - before
	defer func() { // also when the handler called runtime.Goexit
		if !done {
			a.reported.Add(-n) // to be said with the next ones
		}
	}()
	if err := a.writeLost(ctx, n); err != nil {
		a.core.report(fail(fmt.Sprintf("report %d lost records", n), a.name, err))
		return false
	}
	return true
}

// writeLost writes the line. A panic is an error, for the record that comes
// next is not to blame.
func (a *appender) writeLost(ctx context.Context, n uint64) (err error) {
	defer func() {
		if v := recover(); v != nil {
			stack := debug.Stack()
			err = &herald.PanicError{Value: v, Stack: stack[:min(len(stack), maxStack)]}
		}
	}()
	return a.handler.Handle(&appenderContext{ctx, nil, a}, lostRecord(n))
}

// maxStack is how much is kept of a panic's stack, as in package herald.
const maxStack = 4 << 10

// lostRecord has no source, as no line of the program logged it.
func lostRecord(n uint64) slog.Record {
	noun := "records"
	if n == 1 {
		noun = "record"
	}
	r := slog.NewRecord(time.Now(), slog.LevelWarn, fmt.Sprintf("%d %s lost", n, noun), 0)
	r.AddAttrs(slog.Uint64("lost", n))
	return r
}
