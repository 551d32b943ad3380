package heraldslog

import (
	"context"
	"log/slog"
)

// An entry is a record on its way, shared by all appenders and never changed
// once it's published.
type entry struct {
	record  slog.Record
	chain   *chain
	publish callerContext
	within  *appenderContext // the appender in whose handler it was logged; nil: in none
}

func (c *core) newEntry(ctx context.Context, r slog.Record, ch *chain) *entry {
	if ctx == nil {
		ctx = context.Background()
	}
	e := &entry{record: resolveRecord(r), chain: ch, publish: callerContext{ctx, c.gate}}
	e.within, _ = ctx.Value(appenderKey{}).(*appenderContext)
	return e
}

// cameThrough reports whether e goes back to something that a's handler logged.
func (e *entry) cameThrough(a *appender) bool {
	for ctx := e.within; ctx != nil; ctx = ctx.entry.within {
		if ctx.appender == a {
			return true
		}
		if ctx.entry == nil {
			return false
		}
	}
	return false
}

// resolveRecord returns a copy of r that shares nothing with it that may
// change, but for what values point to.
func resolveRecord(r slog.Record) slog.Record {
	fixed := true
	r.Attrs(func(a slog.Attr) bool {
		fixed = isFixed(a.Value)
		return fixed
	})
	if fixed {
		return r.Clone()
	}
	var buf [8]slog.Attr
	attrs := buf[:0]
	r.Attrs(func(a slog.Attr) bool {
		attrs = append(attrs, resolveAttr(a))
		return true
	})
	resolved := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	resolved.AddAttrs(attrs...)
	return resolved
}

// isFixed reports whether v will not change: it's no LogValuer, and no group,
// whose attributes may stand in a slice of the caller's.
func isFixed(v slog.Value) bool {
	return v.Kind() != slog.KindLogValuer && v.Kind() != slog.KindGroup
}

func resolveAttrs(attrs []slog.Attr) []slog.Attr {
	resolved := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		resolved[i] = resolveAttr(a)
	}
	return resolved
}

func resolveAttr(a slog.Attr) slog.Attr {
	if isFixed(a.Value) {
		return a
	}
	v := a.Value.Resolve() // a panic in LogValue becomes an error value
	switch {
	case v.Kind() != slog.KindGroup:
		a.Value = v
	case len(v.Group()) > 0:
		a.Value = slog.GroupValue(resolveAttrs(v.Group())...)
	case a.Value.Kind() == slog.KindLogValuer:
		a.Value = slog.AnyValue(emptyGroup{})
	}
	return a
}

// An emptyGroup is a LogValuer that turned out to be an empty group. Package
// slog leaves out empty groups where it sees them, but not valuers, so it
// makes a difference to handlers whether there was one.
type emptyGroup struct{}

func (emptyGroup) LogValue() slog.Value { return slog.GroupValue() }
