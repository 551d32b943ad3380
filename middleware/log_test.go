package middleware

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/heraldbus/herald"
)

var discard = slog.New(slog.DiscardHandler)

// newLog returns a logger of a level and what it has written, without times.
func newLog(level slog.Level) (*slog.Logger, func() []string) {
	var b bytes.Buffer
	h := slog.NewTextHandler(&b, &slog.HandlerOptions{
		Level: level,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	})
	return slog.New(h), func() []string { return strings.Split(strings.TrimSpace(b.String()), "\n") }
}

func TestG16_LogRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logger, lines := newLog(slog.LevelDebug)
		topic, sub := subscribe(t, []herald.Middleware{Log(logger)}, attempts(3))
		publish(t, topic, 4711, herald.WithID("42"), herald.WithKey("k"), herald.WithPriority(herald.High))
		runAll(t, topic, sub, func(_ context.Context, m herald.Message[int]) error {
			time.Sleep(time.Second)
			switch m.Attempt {
			case 1:
				return errNo
			case 2:
				panic("boom")
			}
			return nil
		})
		const message = `topic=orders id=42 seq=1 key=k attempt=%d priority=high duration=1s`
		want := []string{
			`level=INFO msg="herald: attempt failed" ` + fmt.Sprintf(message, 1) + ` error=no`,
			`level=WARN msg="herald: attempt did not return" ` + fmt.Sprintf(message, 2),
			`level=DEBUG msg="herald: attempt succeeded" ` + fmt.Sprintf(message, 3),
		}
		if diff := cmp.Diff(want, lines()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

func TestG16_LogOfAReplay(t *testing.T) {
	logger, lines := newLog(slog.LevelDebug)
	var topic herald.Topic[int]
	var dead herald.DeadLetter[int]
	sub, err := topic.DeadLetterTo(func(d herald.DeadLetter[int]) error {
		dead = d
		return nil
	}).Subscribe("s", herald.WithMiddleware(Log(logger)), attempts(1))
	if err != nil {
		t.Fatal(err)
	}
	publish(t, &topic, 1)
	sub.Step(t.Context(), fail)
	if err := dead.Replay(t.Context()); err != nil {
		t.Fatal(err)
	}
	sub.Step(t.Context(), succeed)
	got := lines()
	if len(got) != 2 || strings.Contains(got[0], "replays") || !strings.HasSuffix(got[1], " replays=1") {
		t.Errorf("got %q", got)
	}
}

// What doesn't return passes through untouched: value and stack of a panic,
// and Goexit.
func TestG16_LogLeavesPanicsAlone(t *testing.T) {
	logger, lines := newLog(slog.LevelDebug)
	topic, sub := subscribe(t, []herald.Middleware{Log(logger)}, herald.WithCrashOnPanic())
	publish(t, topic, 1)
	func() {
		defer func() {
			v := recover()
			stack := make([]byte, 16<<10)
			stack = stack[:runtime.Stack(stack, false)]
			if v != errNo || !bytes.Contains(stack, []byte("middleware.panics")) || bytes.Count(stack, []byte("\npanic(")) != 1 {
				t.Errorf("recovered %v at %s", v, stack)
			}
		}()
		sub.Step(t.Context(), panics)
	}()
	done := make(chan struct{})
	go func() {
		defer close(done)
		sub.Step(context.Background(), func(context.Context, herald.Message[int]) error {
			runtime.Goexit()
			return nil
		})
		t.Error("Step returned")
	}()
	<-done
	if got := lines(); len(got) != 2 || !strings.Contains(got[0], "did not return") || !strings.Contains(got[1], "did not return") {
		t.Errorf("got %q", got)
	}
}

//go:noinline
func panics(context.Context, herald.Message[int]) error { panic(errNo) }

// A handler of slog that panics changes nothing.
type badHandler struct{ slog.Handler }

func (badHandler) Enabled(context.Context, slog.Level) bool  { return true }
func (badHandler) Handle(context.Context, slog.Record) error { panic("logger") }

func TestG15_LoggerPanics(t *testing.T) {
	topic, sub := subscribe(t, []herald.Middleware{Log(slog.New(badHandler{}))}, herald.WithCrashOnPanic(), attempts(1))
	publish(t, topic, 1)
	publish(t, topic, 2)
	publish(t, topic, 3)
	sub.Step(t.Context(), succeed)
	sub.Step(t.Context(), fail)
	func() {
		defer func() {
			if v := recover(); v != errNo {
				t.Errorf("recovered %v", v)
			}
		}()
		sub.Step(t.Context(), panics)
	}()
	if s := sub.Stats(); s.Delivered != 1 || s.Dead != 1 || s.Queued != 1 {
		t.Errorf("%+v", s)
	}
}

// A handler of slog that wants nothing isn't given anything, not even an ID.
type deafHandler struct {
	slog.Handler
	asked []slog.Level
}

func (h *deafHandler) Enabled(_ context.Context, l slog.Level) bool {
	h.asked = append(h.asked, l)
	return false
}

func TestG16_LogOfADisabledLevel(t *testing.T) {
	h := &deafHandler{}
	topic, sub := subscribe(t, []herald.Middleware{Log(slog.New(h))}, attempts(1))
	publish(t, topic, 1)
	publish(t, topic, 2)
	sub.Step(t.Context(), succeed)
	sub.Step(t.Context(), fail)
	if diff := cmp.Diff([]slog.Level{slog.LevelDebug, slog.LevelInfo}, h.asked); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}

	var meta herald.Meta
	publish(t, topic, 3)
	sub.Step(t.Context(), func(_ context.Context, m herald.Message[int]) error {
		meta = m.Meta
		return nil
	})
	next := Log(discard)(func(context.Context, herald.Meta) error { return nil })
	if n := testing.AllocsPerRun(100, func() { next(t.Context(), meta) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// At the default level a success isn't logged; and a nil logger is the
// default one of the moment.
func TestG16_LogToDefault(t *testing.T) {
	topic, sub := subscribe(t, []herald.Middleware{Log(nil)}, attempts(1))
	logger, lines := newLog(slog.LevelInfo)
	before := slog.Default()
	defer slog.SetDefault(before)
	slog.SetDefault(logger)
	publish(t, topic, 1)
	publish(t, topic, 2)
	sub.Step(t.Context(), succeed)
	sub.Step(t.Context(), fail)
	if got := lines(); len(got) != 1 || !strings.Contains(got[0], "attempt failed") {
		t.Errorf("got %q", got)
	}
}

// It has no state, so workers may share it.
func TestG14_LogIsConcurrent(t *testing.T) {
	topic, sub := subscribe(t, []herald.Middleware{Log(discard)}, herald.WithConcurrency(4))
	var mu sync.Mutex
	handled := 0
	for v := range 500 {
		publish(t, topic, v)
	}
	runAll(t, topic, sub, func(context.Context, herald.Message[int]) error {
		mu.Lock()
		defer mu.Unlock()
		handled++
		return nil
	})
	if handled != 500 {
		t.Errorf("handled %d", handled)
	}
}
