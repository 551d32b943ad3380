package main

import (
	"context"

	"github.com/heraldbus/herald"
)

// telemetry is a dashboard with a small screen.
type telemetry struct {
	sub     *herald.Subscription[Order]
	journal journal
}

// redraw shows what has come since the last redraw, as far as there was room
// for it. A dashboard has its own rhythm, so it has no Run: it takes the
// messages on its own goroutine, by Step, which never waits.
func (t *telemetry) redraw(ctx context.Context) error {
	for {
		ok, err := t.sub.Step(ctx, t.sample)
		if !ok || err != nil {
			return err
		}
	}
}

func (t *telemetry) sample(_ context.Context, m herald.Message[Order]) error {
	t.journal.note(m, "sampled")
	return nil
}
