package heraldslog

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// TestRunTakesUpWhatIsAdded, before it, while it runs, and after it was cancelled.
func TestRunTakesUpWhatIsAdded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		var before, during, between writer
		r.add("before", nil, &before)
		r.count(1, 1) // waits for Run
		ctx, cancel := context.WithCancelCause(t.Context())
		result := r.start(ctx)
		synctest.Wait()
		r.add("during", nil, &during)
		r.count(2, 2)
		synctest.Wait()
		wantWritten(t, &before, "1, 2")
		wantWritten(t, &during, "2")
		cancel(errDisk)
		wantErr(t, "Run", result(), errDisk)
		r.add("between", nil, &between)
		r.count(3, 3)
		synctest.Wait()
		wantWritten(t, &before, "1, 2")
		r.finish()
		wantWritten(t, &before, "1, 2, 3")
		wantWritten(t, &during, "2, 3")
		wantWritten(t, &between, "3")
	})
}

// TestRunTakesUpWhatIsAddedLast, though it's closed before Run has noticed.
func TestRunTakesUpWhatIsAddedLast(t *testing.T) {
	for range 100 {
		r := newRig(t)
		result := r.start(t.Context())
		var w writer
		r.add("last", nil, &w)
		r.count(1, 1)
		r.Close()
		wantErr(t, "Run", result(), nil)
		wantWritten(t, &w, "1")
	}
}

func TestRunIsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		result := r.start(t.Context())
		synctest.Wait()
		wantErr(t, "second Run", r.Run(t.Context()), herald.ErrBusy)
		wantErr(t, "Drain", r.Drain(t.Context()), nil)
		wantErr(t, "Run", result(), nil)
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errDisk)
		wantErr(t, "cancelled Run", r.Run(ctx), errDisk)
	})
}

// TestStop: an appender that says so ends Run, and what it had waits for the next.
func TestStop(t *testing.T) {
	for _, want := range []error{errDisk, nil} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			stopping := true
			w := &writer{on: func(context.Context, slog.Record) error {
				if stopping {
					return policy.Stop(want)
				}
				return nil
			}}
			r.add("a", nil, w)
			r.add("b", nil, &writer{})
			result := r.start(t.Context())
			r.count(1, 2)
			if err := result(); !errors.Is(err, want) {
				t.Errorf("Run = %v; want %v", err, want)
			}
			stopping = false
			r.finish()
			wantWritten(t, w, "1, 2")
		})
	}
}

// TestDisconnect ends the one that can't keep up, and nobody else.
func TestDisconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		tail, file := slowly(time.Second), &writer{}
		r.add("tail", nil, tail, herald.WithCapacity(1), herald.WithOverflow(policy.Disconnect()))
		r.add("file", nil, file)
		result := r.start(t.Context())
		for i := range 5 {
			r.count(i+1, i+1)
			synctest.Wait()
		}
		wantErr(t, "Drain", r.Drain(t.Context()), nil)
		wantErr(t, "Run", result(), herald.ErrDisconnected)
		wantWritten(t, tail, "1, 2, 1 record lost")
		wantWritten(t, file, "1, 2, 3, 4, 5")
		wantAccounts(t, r.of("tail"), "wanted 3, written 2, lost 1, waiting 0")
		wantDiff(t, 1, len(r.errs.texts()))
	})
}

// TestRunEndsWhenWritesHave: no goroutine outlives it.
func TestRunEndsWhenWritesHave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		slow := slowly(time.Minute)
		r.add("a", nil, slow)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		result := r.start(ctx)
		r.count(1, 2)
		begun := time.Now()
		wantErr(t, "Run", result(), context.DeadlineExceeded)
		wantDiff(t, time.Minute, time.Since(begun))
		wantWritten(t, slow, "1")
		wantAccounts(t, r.of("a"), "wanted 2, written 1, lost 0, waiting 1")
	})
}
