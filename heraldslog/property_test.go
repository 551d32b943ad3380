package heraldslog

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestPropertySameOutput lets random programs log to a plain handler and, by
// way of two appenders, to handlers made like it: they write the same bytes,
// source location included.
func TestPropertySameOutput(t *testing.T) {
	check(t, func(t *rapid.T) {
		var plain, async [2]bytes.Buffer
		opts := drawOptions(t)
		newHandlers := func(b *[2]bytes.Buffer) (json, text slog.Handler) {
			return slog.NewJSONHandler(&b[0], opts), slog.NewTextHandler(&b[1], opts)
		}
		h := New()
		defer h.Close()
		json, text := newHandlers(&async)
		for name, appender := range map[string]slog.Handler{"json": json, "text": text} {
			if err := h.Add(name, nil, appender); err != nil {
				t.Fatal(err)
			}
		}
		json, text = newHandlers(&plain)
		drawProgram(t, []slog.Handler{json, text, h})
		h.Close()
		if err := h.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		for i := range plain {
			if got, want := async[i].String(), plain[i].String(); got != want {
				t.Fatalf("written: %s\nwant: %s", got, want)
			}
		}
	})
}

// drawProgram makes the same calls on all handlers: it goes back to earlier
// loggers, gives them attributes and groups, and logs.
func drawProgram(t *rapid.T, roots []slog.Handler) {
	loggers := [][]slog.Handler{roots}
	for range rapid.IntRange(1, 12).Draw(t, "calls") {
		from := rapid.SampledFrom(loggers).Draw(t, "logger")
		switch rapid.IntRange(0, 3).Draw(t, "call") {
		case 0:
			attrs := drawAttrs(t, 2)
			loggers = append(loggers, each(from, func(h slog.Handler) slog.Handler { return h.WithAttrs(slices.Clone(attrs)) }))
		case 1:
			name := "g" + drawKey(t) // never empty: slog.Logger sees to that, JSONHandler would misbehave
			loggers = append(loggers, each(from, func(h slog.Handler) slog.Handler { return h.WithGroup(name) }))
		default:
			record := drawRecord(t)
			each(from, func(h slog.Handler) slog.Handler {
				if h.Enabled(context.Background(), record.Level) {
					if err := h.Handle(context.Background(), record.Clone()); err != nil {
						t.Fatal(err)
					}
				}
				return h
			})
		}
	}
}

func each(hs []slog.Handler, f func(slog.Handler) slog.Handler) (made []slog.Handler) {
	for _, h := range hs {
		made = append(made, f(h))
	}
	return made
}

func drawOptions(t *rapid.T) *slog.HandlerOptions {
	opts := &slog.HandlerOptions{
		AddSource: rapid.Bool().Draw(t, "source"),
		Level:     slog.Level(rapid.IntRange(-4, 4).Draw(t, "level")),
	}
	if rapid.Bool().Draw(t, "replace") {
		opts.ReplaceAttr = func(groups []string, a slog.Attr) slog.Attr {
			switch {
			case a.Key == "drop":
				return slog.Attr{}
			case a.Key == "depth":
				return slog.Int("depth", len(groups))
			}
			return a
		}
	}
	return opts
}

func drawRecord(t *rapid.T) slog.Record {
	var when time.Time
	if rapid.Bool().Draw(t, "timed") {
		when = time.Unix(rapid.Int64Range(0, 1<<32).Draw(t, "time"), 0).UTC()
	}
	var pcs [1]uintptr
	if rapid.Bool().Draw(t, "located") {
		runtime.Callers(1, pcs[:])
	}
	level := slog.Level(rapid.IntRange(-8, 8).Draw(t, "level"))
	r := slog.NewRecord(when, level, rapid.String().Draw(t, "message"), pcs[0])
	r.AddAttrs(drawAttrs(t, 3)...)
	return r
}

func drawAttrs(t *rapid.T, depth int) []slog.Attr {
	attrs := make([]slog.Attr, rapid.IntRange(0, 7).Draw(t, "attrs"))
	for i := range attrs {
		attrs[i] = slog.Attr{Key: drawKey(t), Value: drawValue(t, depth)}
	}
	return attrs
}

func drawKey(t *rapid.T) string {
	return rapid.SampledFrom([]string{"", "a", "b", "key", "with space", "drop", "depth", "ü\n"}).Draw(t, "key")
}

func drawValue(t *rapid.T, depth int) slog.Value {
	kinds := 8
	if depth > 0 {
		kinds += 2
	}
	switch rapid.IntRange(0, kinds).Draw(t, "kind") {
	case 0:
		return slog.Value{}
	case 1:
		return slog.StringValue(rapid.String().Draw(t, "string"))
	case 2:
		return slog.Int64Value(rapid.Int64().Draw(t, "int"))
	case 3:
		return slog.DurationValue(time.Duration(rapid.Int64().Draw(t, "duration")))
	case 4:
		return slog.TimeValue(time.Unix(rapid.Int64Range(0, 1<<32).Draw(t, "unix"), 0))
	case 5:
		return slog.AnyValue(rapid.SampledFrom([]any{
			errors.New("oops"), map[string]int{"x": 1, "y": 2}, []byte("raw"), struct{ A, B int }{1, 2}, io.Discard,
			&slog.Source{Function: "f", File: "f.go", Line: 7}, (*slog.Source)(nil), make(chan int), // the last fails
		}).Draw(t, "any"))
	case 6:
		return slog.BoolValue(rapid.Bool().Draw(t, "bool"))
	case 7:
		return slog.Float64Value(rapid.Float64().Draw(t, "float"))
	case 8:
		return slog.AnyValue(valuer{slog.StringValue("resolved")})
	case 9:
		return slog.AnyValue(valuer{valued(slog.GroupValue(drawAttrs(t, depth-1)...))})
	default:
		return slog.GroupValue(drawAttrs(t, depth-1)...)
	}
}

// A valuer stands for its value; valued makes it stand behind another one.
type valuer struct{ v slog.Value }

func (v valuer) LogValue() slog.Value { return v.v }

func valued(v slog.Value) slog.Value { return slog.AnyValue(valuer{v}) }
