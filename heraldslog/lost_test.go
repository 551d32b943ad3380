package heraldslog

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// slowly makes a writer that takes d for each line.
func slowly(d time.Duration) *writer {
	return &writer{on: func(context.Context, slog.Record) error {
		time.Sleep(d)
		return nil
	}}
}

// TestSlowWriterDoesNotStall: a thousand records cost the caller no time on a writer
// that takes a second for each. What is kept are the latest, and the line
// between says how many are missing. (G7, G10)
func TestSlowWriterDoesNotStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		slow := slowly(time.Second)
		var fast writer
		r.add("slow", nil, slow, herald.WithCapacity(4))
		r.add("fast", nil, &fast, herald.WithCapacity(1000))
		result := r.start(t.Context())
		r.count(1, 1)
		synctest.Wait() // 1 is being written
		begun := time.Now()
		r.count(2, 1000)
		wantDiff(t, time.Duration(0), time.Since(begun))
		wantErr(t, "Drain", r.Drain(t.Context()), nil)
		wantErr(t, "Run", result(), nil)
		wantWritten(t, slow, "1, 995 records lost, 997, 998, 999, 1000")
		wantDiff(t, 6*time.Second, time.Since(begun))
		wantDiff(t, 1000, len(fast.written()))
		wantAccounts(t, r.of("slow"), "wanted 1000, written 5, lost 995, waiting 0")
		wantAccounts(t, r.of("fast"), "wanted 1000, written 1000, lost 0, waiting 0")
	})
}

// TestLostLine is exact about its form: level, time, number, no source, no
// groups, whatever the level of the appender.
func TestLostLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		r := newRig(t)
		r.add("json", slog.LevelError, slog.NewJSONHandler(&b, nil), herald.WithCapacity(2))
		log := r.log.WithGroup("g").With("a", 1)
		for i := range 3 {
			log.Error(fmt.Sprint(i))
		}
		time.Sleep(time.Minute)
		when := time.Now()
		r.finish()
		lines := decode(t, b.Bytes())
		wantDiff(t, 3, len(lines))
		wantDiff(t, map[string]any{
			"time": when.Format(time.RFC3339Nano), "level": "WARN", "msg": "1 record lost", "lost": 1.0,
		}, lines[0])
	})
}

// TestLostLinesOfOverload: each line tells of what was lost since the one
// before, and there's at most one for each record.
func TestLostLinesOfOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		slow := slowly(10 * time.Second)
		r.add("slow", nil, slow, herald.WithCapacity(1))
		result := r.start(t.Context())
		for i := range 10 { // one each 5 s
			r.count(i, i)
			time.Sleep(5 * time.Second)
		}
		wantErr(t, "Drain", r.Drain(t.Context()), nil)
		wantErr(t, "Run", result(), nil)
		lines := slow.written()
		sum, previous := 0, ""
		for _, line := range lines {
			if n, ok := lostIn(line); ok {
				sum += n
				if _, twice := lostIn(previous); twice {
					t.Errorf("two lines in a row: %v", lines)
				}
			}
			previous = line
		}
		s := r.of("slow")
		if uint64(sum) != s.Lost || s.Written+s.Lost != 10 || sum == 0 {
			t.Errorf("%s, but lines tell of %d: %v", accounts(s), sum, lines)
		}
	})
}

// lostIn returns how many records a line says were lost.
func lostIn(line string) (n int, ok bool) {
	if !strings.HasSuffix(line, " lost") {
		return 0, false
	}
	_, err := fmt.Sscan(line, &n)
	return n, err == nil
}

// TestLossesAtTheEnd are written down too, once everything else is.
func TestLossesAtTheEnd(t *testing.T) {
	for _, o := range []policy.Overflow{policy.DropNewest(), policy.Reject(), policy.DeadLetter()} {
		r := newRig(t)
		var w writer
		r.add("a", nil, &w, herald.WithCapacity(2), herald.WithOverflow(o))
		r.count(1, 5)
		r.finish()
		wantWritten(t, &w, "1, 2, 3 records lost")
		wantAccounts(t, r.of("a"), "wanted 5, written 2, lost 3, waiting 0")
		reported := 0
		if o == policy.DeadLetter() {
			reported = 3
		}
		wantDiff(t, reported, len(r.errs.texts()))
	}
}

// TestLossesByFailure count as any other.
func TestLossesByFailure(t *testing.T) {
	r := newRig(t)
	full := true
	w := &writer{on: func(_ context.Context, r slog.Record) error {
		switch {
		case r.Message == "3":
			full = false
		case full:
			return errDisk
		}
		return nil
	}}
	r.add("a", nil, w)
	r.count(1, 4)
	r.finish()
	// Before 2 and 3 came the line about what was lost so far, which failed as well.
	wantWritten(t, w, "3, 2 records lost, 4")
	wantDiff(t, []string{
		"retries exhausted log/a: disk full",
		"report 1 lost records log/a: disk full", "retries exhausted log/a: disk full",
		"report 2 lost records log/a: disk full",
	}, r.errs.texts())
}

// TestLineThatFails: neither a panic nor an exit loses the number, and a panic
// costs the next record nothing.
func TestLineThatFails(t *testing.T) {
	for name, f := range map[string]func() error{
		"error": func() error { return errDisk },
		"panic": func() error { panic("boom") },
		"exit":  func() error { runtime.Goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				lines := 0
				w := &writer{on: func(_ context.Context, r slog.Record) error {
					if _, ok := lostIn(r.Message); ok {
						if lines++; lines == 1 {
							return f()
						}
					}
					return nil
				}}
				r.add("a", nil, w, herald.WithCapacity(2))
				r.count(1, 4)
				result := r.start(t.Context())
				wantErr(t, "Drain", r.Drain(t.Context()), nil)
				if name == "exit" { // it took the record along whose turn it was
					wantWritten(t, w, "3 records lost, 4")
				} else {
					wantWritten(t, w, "3, 2 records lost, 4")
				}
				wantErr(t, "Run", result(), nil)
			})
		})
	}
}

// TestFilteredIsNotLost: what an appender doesn't want makes a gap in the
// numbers, but no line.
func TestFilteredIsNotLost(t *testing.T) {
	r := newRig(t)
	var w writer
	r.add("a", slog.LevelWarn, &w)
	r.add("all", slog.LevelDebug, &writer{})
	for range 3 {
		r.logEveryLevel()
	}
	r.finish()
	wantWritten(t, &w, "WARN, ERROR, WARN, ERROR, WARN, ERROR")
	wantAccounts(t, r.of("a"), "wanted 6, written 6, lost 0, waiting 0")
	wantDiff(t, uint64(6), r.of("a").Sub.Filtered)
}
