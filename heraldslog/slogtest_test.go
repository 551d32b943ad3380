package heraldslog

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"testing/slogtest"
)

// TestSlogtest logs everything first and writes it then: what the records say
// must have been fixed when they were logged.
func TestSlogtest(t *testing.T) {
	var b bytes.Buffer
	r := newRig(t)
	r.add("json", nil, slog.NewJSONHandler(&b, nil))
	if err := slogtest.TestHandler(r.Handler, func() []map[string]any {
		r.finish()
		return decode(t, b.Bytes())
	}); err != nil {
		t.Error(err)
	}
}

// TestSlogtestWhileRunning has one handler a case, written in the background.
func TestSlogtestWhileRunning(t *testing.T) {
	var r *rig
	var b *bytes.Buffer
	slogtest.Run(t, func(t *testing.T) slog.Handler {
		r, b = newRig(t), new(bytes.Buffer)
		r.add("json", slog.LevelInfo, slog.NewJSONHandler(b, nil))
		result := r.start(t.Context())
		t.Cleanup(func() { wantErr(t, "Run", result(), nil) })
		return r.Handler
	}, func(t *testing.T) map[string]any {
		if err := r.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		return decode(t, b.Bytes())[0]
	})
}

// TestSlogtestDirect looks at the records as Handle has made them, without an
// appender's handler having resolved anything.
func TestSlogtestDirect(t *testing.T) {
	var records collector
	r := newRig(t)
	r.add("records", nil, &records)
	if err := slogtest.TestHandler(r.Handler, func() []map[string]any {
		r.finish()
		return records.made
	}); err != nil {
		t.Error(err)
	}
}

// A collector is the simplest handler there can be: it resolves nothing, so
// what's right in its output was right when it came.
type collector struct{ made []map[string]any }

func (c *collector) Enabled(context.Context, slog.Level) bool { return true }

func (c *collector) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &collected{c, []pending{{"", attrs}}}
}

func (c *collector) WithGroup(name string) slog.Handler {
	return &collected{c, []pending{{name, nil}}}
}

func (c *collector) Handle(ctx context.Context, r slog.Record) error {
	return (&collected{collector: c}).Handle(ctx, r)
}

// A collected is a collector with calls of WithGroup and WithAttrs.
type collected struct {
	*collector
	calls []pending
}

type pending struct {
	group string
	attrs []slog.Attr
}

func (c *collected) WithAttrs(attrs []slog.Attr) slog.Handler { return c.with(pending{"", attrs}) }
func (c *collected) WithGroup(name string) slog.Handler       { return c.with(pending{name, nil}) }

func (c *collected) with(p pending) slog.Handler {
	return &collected{c.collector, append(c.calls[:len(c.calls):len(c.calls)], p)}
}

func (c *collected) Handle(_ context.Context, r slog.Record) error {
	var attrs []slog.Attr
	r.Attrs(func(a slog.Attr) bool {
		attrs = append(attrs, a)
		return true
	})
	for i := len(c.calls) - 1; i >= 0; i-- {
		if p := c.calls[i]; p.group != "" {
			attrs = []slog.Attr{{Key: p.group, Value: slog.GroupValue(attrs...)}}
		} else {
			attrs = append(p.attrs[:len(p.attrs):len(p.attrs)], attrs...)
		}
	}
	m := map[string]any{slog.LevelKey: r.Level, slog.MessageKey: r.Message}
	if !r.Time.IsZero() {
		m[slog.TimeKey] = r.Time
	}
	if s := r.Source(); s != nil {
		m[slog.SourceKey] = s
	}
	put(m, attrs)
	c.made = append(c.made, m)
	return nil
}

// put puts attrs into m, as they are.
func put(m map[string]any, attrs []slog.Attr) {
	for _, a := range attrs {
		switch {
		case a.Equal(slog.Attr{}):
		case a.Value.Kind() != slog.KindGroup:
			m[a.Key] = a.Value.Any()
		case a.Key == "":
			put(m, a.Value.Group())
		case len(a.Value.Group()) > 0:
			group := map[string]any{}
			put(group, a.Value.Group())
			m[a.Key] = group
		}
	}
}
