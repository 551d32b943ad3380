package middleware

import (
	"context"
	"log/slog"
	"time"

	"github.com/heraldbus/herald"
)

// Log writes one record for each attempt, when it's over: at level debug if
// it succeeded, info if it failed, since it's mostly tried again, and warn if it
// didn't return, but panicked or called runtime.Goexit. The panic goes on
// untouched; what it was is in the record that herald itself writes.
//
// A record has the message's topic, id, seq, key, attempt and priority, the
// attempt's duration, its error if it failed, and replays if the message came back
// from a dead-letter queue. It never has the payload. It doesn't have the
// subscription, of which a middleware doesn't know: give it a logger that says
// so,
//
//	middleware.Log(logger.With("subscription", "fraud"))
//
// A nil logger stands for what slog.Default returns at the time of each record.
// The record is made with the context of the attempt, and only if the logger
// is enabled for its level. A logger that panics loses the record, and changes
// nothing else.
func Log(logger *slog.Logger) herald.Middleware {
	return func(next herald.Next) herald.Next {
		return func(ctx context.Context, m herald.Meta) error {
			a := attempt{logger, ctx, m, time.Now()}
			returned := false
			defer func() {
				if !returned { // no recover: who is outside shall find the panic as it was
					a.log(slog.LevelWarn, "herald: attempt did not return", nil)
				}
			}()
			err := next(ctx, m)
			returned = true
			if err != nil {
				a.log(slog.LevelInfo, "herald: attempt failed", err)
			} else {
				a.log(slog.LevelDebug, "herald: attempt succeeded", nil)
			}
			return err
		}
	}
}

// An attempt is what a record is made of.
type attempt struct {
	logger *slog.Logger // nil: the default
	ctx    context.Context
	meta   herald.Meta
	start  time.Time
}

func (a *attempt) log(level slog.Level, msg string, err error) {
	defer func() { _ = recover() }() // the logger's
	took := time.Since(a.start)
	logger := a.logger
	if logger == nil {
		logger = slog.Default()
	}
	if !logger.Enabled(a.ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("topic", a.meta.Topic()),
		slog.String("id", a.meta.ID()),
		slog.Uint64("seq", a.meta.Seq),
		slog.String("key", a.meta.Key),
		slog.Int("attempt", int(a.meta.Attempt)),
		slog.String("priority", a.meta.Priority.String()),
		slog.Duration("duration", took),
	}
	if n := a.meta.Replays(); n > 0 {
		attrs = append(attrs, slog.Int("replays", n))
	}
	if err != nil {
		attrs = append(attrs, slog.Any("error", err))
	}
	logger.LogAttrs(a.ctx, level, msg, attrs...)
}
