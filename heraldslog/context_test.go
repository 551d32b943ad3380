package heraldslog

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

type key string

// TestContextOfAnAppender has the values of the record's, then those of Run's,
// and the end of Run's. (G17)
func TestContextOfAnAppender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		checked := 0
		checking := &writer{on: func(ctx context.Context, _ slog.Record) error {
			checked++
			for k, want := range map[key]any{"both": "record", "record": "record", "run": "run", "none": nil} {
				if got := ctx.Value(k); got != want {
					t.Errorf("value of %s: %v; want %v", k, got, want)
				}
			}
			if got := ctx.Value(nil); got != nil {
				t.Errorf("value of nil: %v", got)
			}
			if err := ctx.Err(); err != nil {
				t.Errorf("Err = %v", err)
			}
			if _, ok := ctx.Deadline(); ok {
				t.Error("has the record's deadline")
			}
			child, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			<-child.Done()
			wantErr(t, "child", context.Cause(child), context.DeadlineExceeded)
			return nil
		}}
		r.add("a", nil, checking)
		run := context.WithValue(context.WithValue(t.Context(), key("both"), "run"), key("run"), "run")
		run, end := context.WithCancelCause(run)
		result := r.start(run)

		logging := context.WithValue(context.WithValue(t.Context(), key("both"), "record"), key("record"), "record")
		logging, cancel := context.WithTimeout(logging, time.Minute)
		r.log.InfoContext(logging, "1")
		cancel()
		r.log.InfoContext(logging, "2")
		wantErr(t, "Flush", r.Flush(t.Context()), nil)
		wantDiff(t, 2, checked)

		checking.on = func(ctx context.Context, _ slog.Record) error {
			<-ctx.Done()
			wantErr(t, "cause", context.Cause(ctx), errDisk)
			return nil
		}
		r.log.InfoContext(logging, "3")
		synctest.Wait()
		end(errDisk)
		wantErr(t, "Run", result(), errDisk)
	})
}

// TestContextOfEnabled is the caller's.
func TestContextOfEnabled(t *testing.T) {
	r := newRig(t)
	r.add("a", nil, &byValue{})
	wanted := context.WithValue(t.Context(), key("debug"), true)
	r.log.InfoContext(t.Context(), "unwanted")
	r.log.InfoContext(wanted, "wanted")
	r.finish()
	wantAccounts(t, r.of("a"), "wanted 1, written 1, lost 0, waiting 0")
	wantDiff(t, uint64(1), r.Stats().Logged)
}

type byValue struct{ writer }

func (*byValue) Enabled(ctx context.Context, _ slog.Level) bool {
	return ctx.Value(key("debug")) != nil
}
