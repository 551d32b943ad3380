package herald

import (
	"context"
	"log/slog"
	"time"
)

// What herald logs, and how loud. A failed attempt that will be retried is
// expected: debug, or a warning where the handler panicked. What nobody keeps
// is a warning; a dead letter that its store refused is an error.

func (c *core) logFailure(it *item, delay time.Duration) {
	level := slog.LevelDebug
	if _, panicked := it.err.(*PanicError); panicked {
		level = slog.LevelWarn
	}
	if !c.log.Enabled(context.Background(), level) {
		return
	}
	c.logAt(level, "attempt failed", it, slog.Duration("retry_in", delay), slog.String("error", errorText(it.err)))
}

func (c *core) logDead(it *item, r Reason, cause error) {
	c.logAt(slog.LevelWarn, "message dead, no dead-letter store", it,
		slog.String("reason", r.String()), slog.String("error", errorText(cause)))
}

func (c *core) logPutFailure(it *item, r Reason, err error) {
	c.logAt(slog.LevelError, "dead letter lost: the store did not take it", it,
		slog.String("reason", r.String()), slog.String("error", errorText(err)))
}

// logAt never lets a panic of the user's slog.Handler reach a dispatcher.
func (c *core) logAt(level slog.Level, msg string, it *item, attrs ...slog.Attr) {
	attrs = append([]slog.Attr{
		slog.String("topic", c.topic),
		slog.String("subscription", c.name),
		slog.Uint64("seq", it.Seq),
		slog.Int("attempt", int(it.Attempt)),
	}, attrs...)
	c.logAttrs(level, msg, attrs...)
}

func (c *core) logAttrs(level slog.Level, msg string, attrs ...slog.Attr) {
	_ = guard(func() error {
		c.log.LogAttrs(context.Background(), level, "herald: "+msg, attrs...)
		return nil
	})
}
