package main

import (
	"context"
	"fmt"
	"time"

	"github.com/heraldbus/herald"
)

const (
	framePause = 40 * time.Millisecond // between two live lines
	lineWidth  = 79                    // columns of the live line
)

// progress shows how far the run has come: a row for each package that ended and, on a terminal, a live line.
type progress struct {
	screen *screen
	titled bool // the table has its head
}

// row prints what is known of a package that ended.
func (p *progress) row(_ context.Context, m herald.Message[Package]) error {
	if !p.titled {
		p.titled = true
		p.screen.print("      time  passed  failed  skipped  package\n")
	}
	p.screen.print(p.format(m.Payload))
	return nil
}

func (p *progress) format(k Package) string {
	result, note := "ok  ", k.Note
	switch k.Result {
	case actionFail:
		result = p.screen.alarm("FAIL")
	case actionSkip:
		result = "none"
	}
	if note != "" {
		note = "  (" + printable(note) + ")"
	}
	return fmt.Sprintf("%s %9s %7s %7s %8s  %s%s\n", result, seconds(k.Elapsed), count(k.Passed), count(k.Failed),
		count(k.Skipped), printable(k.Name), note)
}

// draw shows a tally on the live line and then takes its time. Meanwhile its queue of one drops what has become old, so
// that the next line is the newest, and a slow terminal holds up nobody.
func (p *progress) draw(ctx context.Context, m herald.Message[Tally]) error {
	t := m.Payload
	line := fmt.Sprintf("%d packages  %d passed  %d failed  %d skipped  %s",
		t.PackagesPassed+t.PackagesFailed+t.PackagesEmpty, t.Passed, t.Failed, t.Skipped, printable(t.Latest))
	p.screen.draw(cut(line, lineWidth))
	pause := time.NewTimer(framePause)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
	}
	return nil
}
