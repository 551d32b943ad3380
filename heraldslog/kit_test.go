package heraldslog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/heraldbus/herald"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errDisk = errors.New("disk full")

// A writer is an appender's handler that notes the messages of records.
type writer struct {
	on func(context.Context, slog.Record) error // where not nil, called first; what it fails isn't noted

	mu       sync.Mutex
	messages []string
}

func (w *writer) Enabled(context.Context, slog.Level) bool { return true }
func (w *writer) WithAttrs([]slog.Attr) slog.Handler       { return w }
func (w *writer) WithGroup(string) slog.Handler            { return w }

func (w *writer) Handle(ctx context.Context, r slog.Record) error {
	if w.on != nil {
		if err := w.on(ctx, r); err != nil {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.messages = append(w.messages, r.Message)
	return nil
}

func (w *writer) written() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string{}, w.messages...)
}

// A rig is a handler that runs in the background, in tests mostly of a bubble.
type rig struct {
	*Handler
	log  *slog.Logger
	errs errs
	t    testing.TB
}

// newRig makes a handler whose failures are noted.
func newRig(t testing.TB) *rig {
	r := &rig{t: t}
	r.Handler = New(WithErrorFunc(r.errs.note))
	r.log = slog.New(r.Handler)
	t.Cleanup(func() { r.Close() })
	return r
}

func (r *rig) add(name string, level slog.Leveler, h slog.Handler, opts ...herald.SubOption) {
	r.t.Helper()
	if err := r.Add(name, level, h, opts...); err != nil {
		r.t.Fatal(err)
	}
}

// start calls Run in the background and returns what waits for its result.
func (r *rig) start(ctx context.Context) (result func() error) {
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	return func() error { return <-done }
}

// finish closes the handler and writes all that is left, on this goroutine.
func (r *rig) finish() {
	r.t.Helper()
	r.Close()
	if err := r.Run(context.Background()); err != nil {
		r.t.Errorf("Run = %v", err)
	}
}

// count logs the numbers from first to last.
func (r *rig) count(first, last int) {
	for i := first; i <= last; i++ {
		r.log.Info(strconv.Itoa(i))
	}
}

// of returns the accounts of an appender.
func (r *rig) of(name string) AppenderStats {
	r.t.Helper()
	for _, a := range r.Stats().Appenders {
		if a.Name == name {
			return a
		}
	}
	r.t.Fatalf("no appender %s", name)
	return AppenderStats{}
}

// errs notes what an error function is told.
type errs struct {
	mu  sync.Mutex
	all []error
}

func (e *errs) note(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, err)
}

func (e *errs) texts() (texts []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, err := range e.all {
		texts = append(texts, err.Error())
	}
	return texts
}

// accounts are the numbers that conservation is about.
func accounts(s AppenderStats) string {
	return fmt.Sprintf("wanted %d, written %d, lost %d, waiting %d", s.Wanted, s.Written, s.Lost, s.Waiting)
}

func wantAccounts(t testing.TB, s AppenderStats, want string) {
	t.Helper()
	if got := accounts(s); got != want {
		t.Errorf("%s: %s; want %s", s.Name, got, want)
	}
}

func wantWritten(t testing.TB, w *writer, want string) {
	t.Helper()
	if got := strings.Join(w.written(), ", "); got != want {
		t.Errorf("written: %s; want %s", got, want)
	}
}

func wantErr(t testing.TB, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s = %v; want %v", what, err, want)
	}
}

func wantDiff(t testing.TB, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// decode returns the lines of a JSON log.
func decode(t testing.TB, b []byte) (lines []map[string]any) {
	t.Helper()
	for line := range bytes.Lines(b) {
		m := map[string]any{}
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, m)
	}
	return lines
}

// check is rapid.Check that fails where rapid, short of time, ran fewer checks than asked.
func check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	ran := 0
	rapid.Check(t, func(t *rapid.T) {
		ran++
		property(t)
	})
	asked, err := strconv.Atoi(flag.Lookup("rapid.checks").Value.String())
	if err != nil {
		t.Fatal(err)
	}
	if !testing.Short() && ran < asked {
		t.Errorf("rapid ran %d of %d checks", ran, asked)
	}
	t.Logf("%d checks", ran)
}
