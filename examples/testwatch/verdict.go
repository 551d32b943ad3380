package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
)

// The exit statuses.
const (
	statusPassed   = 0
	statusFailed   = 1
	statusUnusable = 2
)

// run reads in to its end and writes the report to out, and to diag what kept it from doing so. It returns the exit
// status. When ctx ends it stops without a report, as soon as the read under way returns.
func run(ctx context.Context, in io.Reader, out, diag io.Writer, terminal bool) int {
	w := newWatch(out, terminal)
	err := w.follow(ctx, in)
	if err == nil {
		w.screen.print(w.totals())
		err = w.unusable()
	}
	switch {
	case err != nil:
		fmt.Fprintf(diag, "testwatch: %v\n", err)
		return statusUnusable
	case w.failed():
		return statusFailed
	}
	return statusPassed
}

// failed reports whether tests failed, or may have in a part of the stream that is missing.
func (w *watch) failed() bool { return w.summary.tally.failed() || w.malformed.torn }

// unusable returns why the report can't be relied on, nil if it can. A reader of the output who has gone away is no
// reason: nobody misses the rest.
func (w *watch) unusable() error {
	writeErr := w.screen.failed()
	switch {
	case w.readErr != nil:
		return fmt.Errorf("reading after line %d: %w", w.input, w.readErr)
	case w.decoder.decoded == 0:
		return errors.New("no test events in the input")
	case writeErr != nil && !errors.Is(writeErr, syscall.EPIPE):
		return fmt.Errorf("writing: %w", writeErr)
	}
	return nil
}

// totals returns the last section: how many there were of everything, and the verdict.
func (w *watch) totals() string {
	t := w.summary.tally
	var b strings.Builder
	b.WriteString("\nSUMMARY\n\n")
	fmt.Fprintf(&b, "  packages %8d passed %6d failed %6d without tests\n",
		t.PackagesPassed, t.PackagesFailed, t.PackagesEmpty)
	fmt.Fprintf(&b, "  tests    %8d passed %6d failed %6d skipped %6d unfinished\n",
		t.Passed, t.Failed, t.Skipped, t.Unfinished)
	fmt.Fprintf(&b, "  lines    %8d read   %6d malformed\n", w.input, w.malformed.count())
	if d := t.elapsed(); d > 0 {
		fmt.Fprintf(&b, "  time     %8.2f seconds\n", d.Seconds())
	}
	return b.String() + "\n" + w.verdict() + "\n"
}

func (w *watch) verdict() string {
	switch {
	case w.unusable() != nil:
		return w.screen.alarm("UNUSABLE")
	case w.malformed.torn:
		return w.screen.alarm("FAIL") + ": the input ends inside a line"
	case w.failed():
		return w.screen.alarm("FAIL")
	}
	return "PASS"
}
