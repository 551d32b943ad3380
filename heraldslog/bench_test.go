package heraldslog

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/heraldbus/herald"
)

// A slowDisk takes 20 µs for each write, of processor time, as a system call
// would: on one of the machine's processors nothing else can run meanwhile.
type slowDisk struct{}

func (slowDisk) Write(b []byte) (int, error) {
	for begun := time.Now(); time.Since(begun) < 20*time.Microsecond; {
	}
	return len(b), nil
}

// logRequest is a typical line: three attributes of a request, two of its logger.
func logRequest(ctx context.Context, log *slog.Logger, i int) {
	log.LogAttrs(ctx, slog.LevelInfo, "request served",
		slog.String("path", "/orders/42"), slog.Int("status", 200), slog.Duration("took", time.Duration(i)))
}

func requestLogger(h slog.Handler) *slog.Logger {
	return slog.New(h).With("service", "shop", "instance", 7)
}

// BenchmarkPlain is what the caller pays for a record with slog's own handler:
// on a slow writer, and on one that costs nothing.
func BenchmarkPlain(b *testing.B) {
	for name, w := range map[string]io.Writer{"slow": slowDisk{}, "free": io.Discard} {
		b.Run(name, func(b *testing.B) {
			log := requestLogger(slog.NewJSONHandler(w, nil))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				logRequest(b.Context(), log, i)
			}
		})
	}
}

// burst is how many records are logged before the writer may catch up: no
// more than fit into the queue, so that none is lost.
const burst = 1000

// BenchmarkAsync is what the caller pays with that handler as an appender.
//
//   - alone: nobody writes at the same time, so it's the cost of Handle and nothing else;
//   - burst: the writer is at work meanwhile, and catches up while the clock stands still;
//   - overload: it never catches up, so that nearly every record takes the place of another, which is lost.
func BenchmarkAsync(b *testing.B) {
	b.Run("alone", func(b *testing.B) {
		benchmarkAsync(b, func(h *Handler) {
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan error, 1)
			go func() { done <- h.Run(ctx) }()
			catchUp(b, h)
			cancel()
			<-done
		})
	})
	b.Run("burst", func(b *testing.B) {
		benchmarkAsync(b, func(h *Handler) { catchUp(b, h) }, running)
	})
	b.Run("overload", func(b *testing.B) {
		benchmarkAsync(b, func(*Handler) {}, running)
	})
}

// benchmarkAsync logs bursts, with a pause between them off the clock.
func benchmarkAsync(b *testing.B, pause func(*Handler), around ...func(*testing.B, *Handler)) {
	h := New()
	if err := h.Add("slow", nil, slog.NewJSONHandler(slowDisk{}, nil), herald.WithCapacity(burst)); err != nil {
		b.Fatal(err)
	}
	for _, f := range around {
		f(b, h)
	}
	log := requestLogger(h)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		if i%burst == burst-1 {
			b.StopTimer()
			pause(h)
			b.StartTimer()
		}
		logRequest(b.Context(), log, i)
	}
	b.StopTimer()
	s := h.Stats().Appenders[0]
	b.ReportMetric(float64(s.Lost)/float64(s.Wanted), "lost/op")
}

// running lets h run until the benchmark is over.
func running(b *testing.B, h *Handler) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	b.Cleanup(func() {
		cancel()
		<-done
	})
}

func catchUp(b *testing.B, h *Handler) {
	if err := h.Flush(context.Background()); err != nil {
		b.Error(err)
	}
}
