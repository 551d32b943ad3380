package heraldslog

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/middleware"
	"github.com/heraldbus/herald/policy"
)

var everyLevel = []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError}

func (r *rig) logEveryLevel() {
	for _, level := range everyLevel {
		r.log.Log(context.Background(), level, level.String())
	}
}

func TestLevels(t *testing.T) {
	r := newRig(t)
	var atWarn, own, below writer
	var changing slog.LevelVar
	var varying writer
	r.add("warn", slog.LevelWarn, &atWarn)
	r.add("own", nil, &leveled{&own, slog.LevelError})
	r.add("below its own", slog.LevelInfo, &leveled{&below, slog.LevelError})
	r.add("varying", &changing, &varying)
	changing.Set(slog.LevelError + 1)
	r.logEveryLevel()
	changing.Set(slog.LevelError)
	r.log.Error("after the change")
	r.finish()
	wantWritten(t, &atWarn, "WARN, ERROR, after the change")
	wantWritten(t, &own, "ERROR, after the change")
	wantWritten(t, &below, "INFO, WARN, ERROR, after the change")
	wantWritten(t, &varying, "after the change")
}

// A leveled is a writer with a level of its own.
type leveled struct {
	*writer
	level slog.Level
}

func (l *leveled) Enabled(_ context.Context, level slog.Level) bool { return level >= l.level }

func TestEnabled(t *testing.T) {
	r := newRig(t)
	enabled := func(ctx context.Context) (levels []slog.Level) {
		for _, level := range everyLevel {
			if r.Enabled(ctx, level) {
				levels = append(levels, level)
			}
		}
		return levels
	}
	want := func(want ...slog.Level) {
		t.Helper()
		wantDiff(t, want, enabled(t.Context()))
	}
	want()
	r.add("error", slog.LevelError, &writer{})
	want(slog.LevelError)
	r.add("info", slog.LevelInfo, &writer{})
	want(everyLevel[1:]...)
	r.Close()
	want(everyLevel[1:]...) // so that what is lost is counted
	wantDiff(t, everyLevel[1:], enabled(nil))
}

// TestPanickingEnabled makes the record lost for its appender, counted, and
// hurts neither the caller nor others. (G15)
func TestPanickingEnabled(t *testing.T) {
	r := newRig(t)
	var good writer
	r.add("bad", nil, &fickle{})
	r.add("good", nil, &good)
	r.log.Info("m")
	r.finish()
	wantWritten(t, &good, "m")
	wantAccounts(t, r.of("bad"), "wanted 1, written 0, lost 1, waiting 0")
	wantDiff(t, []string{"filter failed log/bad: panic: fickle"}, r.errs.texts())
}

type fickle struct{ writer }

func (*fickle) Enabled(context.Context, slog.Level) bool { panic("fickle") }

// TestBadAppendersAreIsolated: one that fails, panics, exits or is stuck changes
// nothing for another, nor for what it gets itself afterwards. (G10, G16)
func TestBadAppendersAreIsolated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		on := func(message string, f func() error) *writer {
			return &writer{on: func(_ context.Context, r slog.Record) error {
				if r.Message == message {
					return f()
				}
				return nil
			}}
		}
		failing := on("2", func() error { return errDisk })
		panicking := on("2", func() error { panic("boom") })
		exiting := on("2", func() error { runtime.Goexit(); return nil })
		slow := on("2", func() error { time.Sleep(time.Hour); return nil })
		var good writer
		r.add("failing", nil, failing)
		r.add("panicking", nil, panicking)
		r.add("exiting", nil, exiting)
		r.add("slow", nil, slow)
		r.add("good", nil, &good)
		result := r.start(t.Context())
		r.count(1, 3)
		synctest.Wait()
		wantWritten(t, &good, "1, 2, 3")
		for _, w := range []*writer{failing, panicking, exiting} {
			wantWritten(t, w, "1, 1 record lost, 3")
		}
		wantWritten(t, slow, "1")
		wantErr(t, "Drain", r.Drain(t.Context()), nil)
		wantErr(t, "Run", result(), nil)
		wantWritten(t, slow, "1, 2, 3")
		for _, name := range []string{"failing", "panicking", "exiting"} {
			wantAccounts(t, r.of(name), "wanted 3, written 2, lost 1, waiting 0")
		}
		texts := strings.Join(r.errs.texts(), "\n")
		for _, want := range []string{
			"retries exhausted log/failing: disk full",
			"retries exhausted log/panicking: panic: boom",
			"retries exhausted log/exiting: herald: handler called runtime.Goexit",
		} {
			if strings.Count(texts, want) != 1 {
				t.Errorf("reported:\n%s\nwant once: %s", texts, want)
			}
		}
	})
}

// TestErrors: what the error function gets can be asked for its cause, and its
// own panics hurt nobody.
func TestErrors(t *testing.T) {
	var got error
	h := New(WithErrorFunc(func(err error) {
		got = err
		panic("in the error function")
	}), Option{})
	failing := &writer{on: func(context.Context, slog.Record) error { return errDisk }}
	if err := h.Add("disk", nil, failing); err != nil {
		t.Fatal(err)
	}
	slog.New(h).Info("m")
	h.Close()
	wantErr(t, "Run", h.Run(t.Context()), nil)
	wantErr(t, "reported", got, errDisk)
	if e, ok := errors.AsType[*herald.Error](got); !ok || e.Subscription != "disk" {
		t.Errorf("reported %#v", got)
	}
	s := h.Stats().Appenders[0]
	wantAccounts(t, s, "wanted 1, written 0, lost 1, waiting 0")
	wantDiff(t, uint64(0), s.Sub.PutFailed)
}

func TestAddErrors(t *testing.T) {
	r := newRig(t)
	r.add("a", nil, &writer{})
	for name, c := range map[string]struct {
		err  error
		want error
	}{
		"nil handler":   {r.Add("b", nil, nil), herald.ErrOption},
		"duplicate":     {r.Add("a", nil, &writer{}), herald.ErrDuplicate},
		"name":          {r.Add("", nil, &writer{}), herald.ErrName},
		"option":        {r.Add("c", nil, &writer{}, herald.WithCapacity(0)), herald.ErrOption},
		"zero option":   {r.Add("d", nil, &writer{}, herald.SubOption{}), herald.ErrOption},
		"still usable":  {r.Add("e", nil, &writer{}), nil},
		"nil to finish": {r.Drain(nil), herald.ErrOption}, //lint:ignore SA1012 that's the test
		"nil to flush":  {r.Flush(nil), herald.ErrOption}, //lint:ignore SA1012 that's the test
		"nil to run":    {r.Run(nil), herald.ErrOption},   //lint:ignore SA1012 that's the test
	} {
		wantErr(t, name, c.err, c.want)
	}
	r.Close()
	wantErr(t, "Add after Close", r.Add("f", nil, &writer{}), herald.ErrClosed)
	wantDiff(t, 2, len(r.Stats().Appenders))
}

// TestRetry: with a policy of its own an appender tries again, in order.
func TestRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		failures := 2
		w := &writer{on: func(context.Context, slog.Record) error {
			if failures--; failures >= 0 {
				return errDisk
			}
			return nil
		}}
		r.add("a", nil, w, herald.WithRetry(policy.Schedule{time.Second, time.Minute}))
		r.count(1, 3)
		begun := time.Now()
		r.finish()
		wantWritten(t, w, "1, 2, 3")
		wantDiff(t, time.Second+time.Minute, time.Since(begun))
		wantDiff(t, []string(nil), r.errs.texts())
	})
}

// TestSubOptions: the rest of herald's options do what they do.
func TestSubOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		var w writer
		var attempts int
		counting := func(next herald.Next) herald.Next {
			return func(ctx context.Context, m herald.Meta) error {
				attempts++
				return next(ctx, m)
			}
		}
		r.add("a", nil, &w, herald.WithMaxAge(time.Minute), herald.WithMiddleware(counting, middleware.Timeout(time.Second)))
		r.log.Info("too old")
		time.Sleep(time.Hour)
		r.log.Info("fresh")
		r.finish()
		wantWritten(t, &w, "1 record lost, fresh")
		wantDiff(t, 1, attempts)
		wantDiff(t, []string{"expired log/a: record 1"}, r.errs.texts())
	})
}
