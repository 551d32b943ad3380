package heraldslog

import (
	"context"

	"github.com/heraldbus/herald"
)

// Close ends logging: Handle and Add are [herald.ErrClosed] from now on, and what
// is logged is counted as Late. Calls of Handle that wait for room in an appender
// under policy.Block give up. What waits is still written, by the Run under way
// or to come. Close doesn't wait, and returns nil however often it's called.
func (h *Handler) Close() error {
	h.core.gate.close()
	return nil
}

// Drain is Close, then a wait until each appender has written what it has, the
// line about its last losses included, and the Run under way has returned: after
// a nil nothing is written any more, and files may be closed. It doesn't
// write itself, so there has to be a Run.
//
// When ctx ends before, it returns a [*herald.DrainError] that says how much is left
// in which appender, and may be called again. With the context of an appender's
// handler it's [herald.ErrDeadlock].
func (h *Handler) Drain(ctx context.Context) error {
	if err := checkContext("drain", ctx); err != nil {
		return err
	}
	c := h.core
	c.gate.close()
	if !await(ctx, c.gate.sealed) {
		return c.drainError(ctx)
	}
	if err := c.topic.Drain(ctx); err != nil {
		return err
	}
	if running := c.underWay(); running != nil && !await(ctx, running) {
		return c.drainError(ctx)
	}
	return nil
}

// await waits until done is closed. It reports whether it was, rather than ctx
// ended.
func await(ctx context.Context, done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
	}
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}

func (c *core) underWay() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running
}

// drainError says what is left now that ctx has ended.
func (c *core) drainError(ctx context.Context) error {
	e := &herald.DrainError{Err: context.Cause(ctx)}
	for _, a := range *c.appenders.Load() {
		if s := a.sub.Stats(); waiting(s) > 0 {
			e.Left = append(e.Left, s)
		}
	}
	return e
}
