package main

import (
	"context"
	"errors"
	"io"

	"golang.org/x/sync/errgroup"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// The capacities of the queues. A line has at most 1 MiB and an event 64 KiB of output, so what waits is bounded in bytes
// too.
const (
	linesWaiting  = 32
	eventsWaiting = 256
)

// A watch is one run of testwatch, a pipeline of topics:
//
//	input → lines → decode → events ┬→ failures ──────────────┐
//	                  ↓             ├→ slowest ───────────────┼→ findings → report
//	              malformed ────────┼─────────────────────────┘
//	                                └→ summary ┬→ packages → rows
//	                                           └→ tallies  → live line
//
// Where nothing may be lost a full queue makes the publisher wait (policy.Block), back to the input: a watch is as fast
// as its slowest part. Only the live line drops what has become old (policy.DropOldest). The findings wait until the
// stream has ended; then their priorities say what comes first.
type watch struct {
	lines    herald.Topic[Line]
	events   herald.Topic[Event]
	packages herald.Topic[Package]
	tallies  herald.Topic[Tally]
	findings herald.Topic[Finding]

	screen    *screen
	decoder   *decoder
	malformed *malformed
	failures  *failures
	slowest   *slowest
	summary   *summary
	progress  *progress

	input   int   // lines read
	readErr error // why the input ended, if not at its end
}

func newWatch(out io.Writer, terminal bool) *watch {
	w := &watch{screen: &screen{out: out, terminal: terminal}}
	w.decoder = &decoder{events: &w.events}
	w.malformed = newMalformed(&w.findings)
	w.failures = newFailures(&w.findings)
	w.slowest = &slowest{findings: &w.findings}
	w.summary = newSummary(&w.packages, &w.tallies)
	w.progress = &progress{screen: w.screen}
	return w
}

// follow runs the pipeline until the input has ended, and prints everything but the totals.
func (w *watch) follow(ctx context.Context, in io.Reader) error {
	report, err := w.findings.Subscribe("report", herald.WithCapacity(reportLimit))
	if err != nil {
		return err
	}
	stages := w.connect()
	if stages.err != nil {
		return stages.err
	}
	g, gctx := errgroup.WithContext(ctx)
	stages.start(gctx, g)
	g.Go(func() error { return w.pump(gctx, in) })
	if err := g.Wait(); err != nil {
		return err
	}
	w.screen.draw("")
	w.findings.Close()
	return report.Run(ctx, (&reporter{screen: w.screen}).handle)
}

// connect makes the pipeline in the picture above.
func (w *watch) connect() *stages {
	wait := herald.WithOverflow(policy.Block(0))
	few, many := herald.WithCapacity(linesWaiting), herald.WithCapacity(eventsWaiting)

	s := new(stages)
	addStage(s, w.lines.DeadLetterTo(w.malformed.put), "decode", w.decoder.handle,
		[]finish{closing(&w.events), w.malformed.finish}, wait, few)
	addStage(s, &w.events, "failures", w.failures.handle,
		[]finish{w.failures.finish}, wait, many)
	addStage(s, w.events.Filter(isTestResult), "slowest", w.slowest.handle,
		[]finish{w.slowest.finish}, wait, many)
	addStage(s, w.events.Filter(concernsSummary), "summary", w.summary.handle,
		[]finish{w.summary.finish, closing(&w.packages), closing(&w.tallies)}, wait, many)
	addStage(s, &w.packages, "rows", w.progress.row, nil, wait)
	if w.screen.terminal {
		addStage(s, &w.tallies, "live line", w.progress.draw, nil,
			herald.WithOverflow(policy.DropOldest()), herald.WithCapacity(1))
	}
	return s
}

// closing returns a finish that closes t: what is queued there still arrives.
func closing[T any](t *herald.Topic[T]) finish {
	return func(context.Context) error { return t.Close() }
}

// pump publishes the input line by line, blank ones aside. An error ends the input as its end would: what was read
// until then is reported.
func (w *watch) pump(ctx context.Context, in io.Reader) error {
	for r := newLineReader(in); ; {
		line, err := r.next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				w.readErr = err
			}
			return w.lines.Close()
		}
		w.input = line.Number
		if line.isBlank() {
			continue
		}
		if err := w.lines.Publish(ctx, line); err != nil {
			return err
		}
	}
}
