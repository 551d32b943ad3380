package heraldslog

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A mutable is a LogValuer whose value changes.
type mutable struct{ n int }

func (m *mutable) LogValue() slog.Value { return slog.IntValue(m.n) }

// newText makes a rig with a text appender for all levels, without times.
func newText(t testing.TB) (*rig, *bytes.Buffer) {
	var b bytes.Buffer
	r := newRig(t)
	r.add("text", slog.LevelDebug, slog.NewTextHandler(&b, &slog.HandlerOptions{ReplaceAttr: withoutTime}))
	return r, &b
}

func withoutTime(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// TestValuesAreThoseOfTheCall: what changes after the call isn't seen, wherever the
// value stands.
func TestValuesAreThoseOfTheCall(t *testing.T) {
	r, b := newText(t)
	m := &mutable{1}
	group := []slog.Attr{slog.Int("x", 1), slog.Any("m", m)}
	with := []slog.Attr{slog.Any("with", m), {Key: "wg", Value: slog.GroupValue(group...)}}
	log := slog.New(r.WithAttrs(with))

	log.LogAttrs(t.Context(), slog.LevelInfo, "first", slog.Any("m", m), slog.Attr{Key: "g", Value: slog.GroupValue(group...)})
	m.n = 2
	group[0] = slog.Int("x", 2)
	log.LogAttrs(t.Context(), slog.LevelInfo, "second", slog.Any("m", m), slog.Attr{Key: "g", Value: slog.GroupValue(group...)})
	m.n = 3
	group[0] = slog.Int("x", 3)
	r.finish()

	const with1 = `with=1 wg.x=1 wg.m=1`
	wantDiff(t, "level=INFO msg=first "+with1+" m=1 g.x=1 g.m=1\n"+
		"level=INFO msg=second "+with1+" m=2 g.x=2 g.m=2\n", b.String())
}

// TestRecordIsACopy: neither does an appender see what the caller adds to its
// record, nor one appender what another adds to its own.
func TestRecordIsACopy(t *testing.T) {
	for name, value := range map[string]slog.Value{"fixed": slog.IntValue(1), "resolved": valued(slog.IntValue(1))} {
		t.Run(name, func(t *testing.T) {
			r, b := newText(t)
			var own [2]bytes.Buffer // appenders write at the same time
			for i, by := range []string{"a", "b"} {
				text := slog.NewTextHandler(&own[i], &slog.HandlerOptions{ReplaceAttr: withoutTime})
				r.add(by, nil, &writer{on: func(ctx context.Context, r slog.Record) error {
					r.AddAttrs(slog.String("by", by))
					return text.Handle(ctx, r)
				}})
			}
			record := slog.NewRecord(time.Time{}, slog.LevelInfo, "m", 0)
			for key := range strings.SplitSeq("abcdefgh", "") { // more than fit into the record itself
				record.AddAttrs(slog.Attr{Key: key, Value: value})
			}
			if err := r.Handle(t.Context(), record); err != nil {
				t.Fatal(err)
			}
			record.AddAttrs(slog.String("by", "caller"))
			r.finish()
			lines := slices.Sorted(strings.Lines(b.String() + own[0].String() + own[1].String()))
			const want = "level=INFO msg=m a=1 b=1 c=1 d=1 e=1 f=1 g=1 h=1"
			wantDiff(t, []string{want + "\n", want + " by=a\n", want + " by=b\n"}, lines)
		})
	}
}

// TestPanickingLogValuer shows up as the value, as it would without us.
func TestPanickingLogValuer(t *testing.T) {
	r, b := newText(t)
	r.log.Info("m", "v", slog.AnyValue(panicking{}))
	r.finish()
	if got := b.String(); !strings.Contains(got, "LogValue panicked") {
		t.Errorf("written: %s", got)
	}
}

type panicking struct{}

func (panicking) LogValue() slog.Value { panic("boom") }

// TestTimeAndSourceAreThoseOfTheCall, however much later the record is written.
func TestTimeAndSourceAreThoseOfTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		r := newRig(t)
		r.add("json", nil, slog.NewJSONHandler(&b, &slog.HandlerOptions{AddSource: true}))
		begun := time.Now()
		r.log.Info("m")
		_, _, line, _ := runtime.Caller(0)
		time.Sleep(time.Hour)
		r.finish()
		got := decode(t, b.Bytes())[0]
		wantDiff(t, any(begun.Format(time.RFC3339Nano)), got[slog.TimeKey])
		source := got[slog.SourceKey].(map[string]any)
		wantDiff(t, any(float64(line-1)), source["line"])
		if file := source["file"].(string); !strings.HasSuffix(file, "resolve_test.go") {
			t.Errorf("file %s", file)
		}
	})
}

// TestChainsAreDerivedOnce: an appender's handler sees each call of With once,
// however many records and loggers come of it.
func TestChainsAreDerivedOnce(t *testing.T) {
	r := newRig(t)
	calls := new(int)
	r.add("counting", nil, deriving{calls})
	parent := r.log.With("a", 1)
	for _, log := range []*slog.Logger{parent, parent.With("b", 2), parent.WithGroup("g")} {
		log.Info("once")
		log.Info("twice")
	}
	r.log.With("never", "used")
	r.finish()
	wantDiff(t, 3, *calls)
}

// A deriving counts calls of WithAttrs and WithGroup.
type deriving struct{ calls *int }

func (d deriving) Enabled(context.Context, slog.Level) bool  { return true }
func (d deriving) Handle(context.Context, slog.Record) error { return nil }

func (d deriving) WithAttrs([]slog.Attr) slog.Handler {
	*d.calls++
	return d
}

func (d deriving) WithGroup(string) slog.Handler {
	*d.calls++
	return d
}

// TestAttrsAreEachAppenders: one that spoils the slice that WithAttrs gave it,
// which is its own, spoils nothing for another.
func TestAttrsAreEachAppenders(t *testing.T) {
	r := newRig(t)
	a, b := &spoiling{}, &spoiling{}
	r.add("a", nil, a)
	r.add("b", nil, b)
	r.log.With("a", 1).Info("m")
	r.finish()
	wantDiff(t, "[a=1] [a=1]", a.got+" "+b.got)
}

// A spoiling notes the attributes it's given, and clears them.
type spoiling struct {
	writer
	got string
}

func (s *spoiling) WithAttrs(attrs []slog.Attr) slog.Handler {
	s.got = fmt.Sprint(attrs)
	clear(attrs)
	return s
}
