package heraldslog

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heraldbus/herald"
)

// TestFlush returns when the last record before it is written by the slowest
// appender, though others go on logging, so that it's never idle.
func TestFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		slow := slowly(time.Second)
		r.add("fast", nil, &writer{})
		r.add("slow", nil, slow)
		ctx, cancel := context.WithCancel(t.Context())
		result := r.start(ctx)
		r.count(1, 3)
		synctest.Wait()
		go func() {
			for i := 4; ctx.Err() == nil; i++ {
				r.count(i, i)
				time.Sleep(time.Second / 2)
			}
		}()
		synctest.Wait()
		begun := time.Now()
		wantErr(t, "Flush", r.Flush(t.Context()), nil)
		wantDiff(t, 4*time.Second, time.Since(begun)) // 1 to 4
		cancel()
		wantErr(t, "Run", result(), context.Canceled)
	})
}

func TestFlushIdle(t *testing.T) {
	r := newRig(t)
	r.add("a", nil, &writer{})
	wantErr(t, "Flush", r.Flush(t.Context()), nil)
}

// TestFlushWithDeadline says at the deadline what is left where.
func TestFlushWithDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		slow := slowly(time.Minute)
		r.add("fast", nil, &writer{})
		r.add("slow", nil, slow)
		result := r.start(t.Context())
		r.count(1, 3)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		err := r.Flush(ctx)
		wantDiff(t, time.Second, time.Since(begun))
		wantErr(t, "Flush", err, context.DeadlineExceeded)
		left, ok := errors.AsType[*herald.DrainError](err)
		if !ok || len(left.Left) != 1 || left.Left[0].Name != "slow" {
			t.Errorf("Flush = %v", err)
		}
		r.log.Info("it isn't closed")
		wantErr(t, "Flush", r.Flush(t.Context()), nil)
		wantDiff(t, 4*time.Minute, time.Since(begun))
		r.Close()
		wantErr(t, "Run", result(), nil)
	})
}

// TestFlushWaitsForWhatIsBeingWritten: losses behind a record under way must
// not be taken for it.
func TestFlushWaitsForWhatIsBeingWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		slow := slowly(time.Second)
		r.add("slow", nil, slow, herald.WithCapacity(1))
		result := r.start(t.Context())
		r.count(1, 1)
		synctest.Wait()
		flushed := make(chan time.Time)
		begun := time.Now()
		go func() {
			wantErr(t, "Flush", r.Flush(t.Context()), nil)
			flushed <- time.Now()
		}()
		synctest.Wait()
		r.count(2, 100)
		wantDiff(t, time.Second, (<-flushed).Sub(begun))
		wantDiff(t, []string{"1"}, slow.written())
		r.Close()
		wantErr(t, "Run", result(), nil)
	})
}

// TestFlushByMany: every flush ends when what it waits for is written.
func TestFlushByMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.add("slow", slog.LevelInfo, slowly(time.Second), herald.WithCapacity(100))
		result := r.start(t.Context())
		begun := time.Now()
		took := make([]time.Duration, 5)
		for i := range took {
			r.count(i, i)
			go func() {
				wantErr(t, "Flush", r.Flush(t.Context()), nil)
				took[i] = time.Since(begun)
			}()
			synctest.Wait() // it waits
		}
		wantErr(t, "Drain", r.Drain(t.Context()), nil)
		synctest.Wait()
		for i := range took {
			wantDiff(t, time.Duration(i+1)*time.Second, took[i])
		}
		wantErr(t, "Run", result(), nil)
	})
}
