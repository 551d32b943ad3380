package herald

import (
	"context"
	"log/slog"
	"time"
)

// What herald logs, and how loud. A failed attempt that will be retried is
// expected: debug, or a warning where the handler panicked. What nobody keeps
// is a warning; a dead letter that its store refused is an error.

func (c *core) logFailure(m Meta, err error, delay time.Duration) {
	level := slog.LevelDebug
	if _, panicked := err.(*PanicError); panicked {
		level = slog.LevelWarn
	}
	c.logMessage(level, "attempt failed", m, func() slog.Attr { return slog.String("error", errorText(err)) },
		slog.Duration("retry_in", delay))
}

func (c *core) logDead(m Meta, r Reason, cause error) {
	c.logMessage(slog.LevelWarn, "message dead, no dead-letter store", m,
		func() slog.Attr { return slog.String("error", errorText(cause)) }, slog.String("reason", r.String()))
}

func (c *core) logPutFailure(m Meta, r Reason, err error) {
	c.logMessage(slog.LevelError, "dead letter lost: the store did not take it", m,
		func() slog.Attr { return slog.String("error", errorText(err)) }, slog.String("reason", r.String()))
}

// logMessage logs what happened to a message; why is asked only if anybody
// listens.
func (c *core) logMessage(level slog.Level, msg string, m Meta, why func() slog.Attr, attrs ...slog.Attr) {
	c.logAttrs(level, msg, func() []slog.Attr {
		return append([]slog.Attr{
			slog.String("topic", c.topic),
			slog.String("subscription", c.name),
			slog.Uint64("seq", m.Seq),
			slog.Int("attempt", int(m.Attempt)),
			why(),
		}, attrs...)
	})
}

// logAttrs never lets a panic of the user's slog.Handler reach a dispatcher
// or publisher.
func (c *core) logAttrs(level slog.Level, msg string, attrs func() []slog.Attr) {
	_ = guard(func() error {
		if ctx := context.Background(); c.log.Enabled(ctx, level) {
			c.log.LogAttrs(ctx, level, "herald: "+msg, attrs()...)
		}
		return nil
	})
}
