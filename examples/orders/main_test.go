package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/golden.txt")

const golden = "testdata/golden.txt"

// TestGolden proves that the program says the same at every run, whatever
// the scheduler does.
func TestGolden(t *testing.T) {
	if *update {
		if err := os.WriteFile(golden, output(t), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		checkGolden(t)
	}
}

// TestEndsWhatItStarts proves that no goroutine outlives run: synctest fails
// where one is left.
func TestEndsWhatItStarts(t *testing.T) { synctest.Test(t, checkGolden) }

func TestCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := run(ctx, new(bytes.Buffer)); !errors.Is(err, context.Canceled) {
			t.Errorf("run with a canceled context: got %v, want %v", err, context.Canceled)
		}
	})
}

// TestCanceledMidway interrupts the day while the departments wait for more work.
func TestCanceledMidway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		out := writerFunc(func(p []byte) (int, error) {
			if bytes.Contains(p, []byte("Telemetry")) {
				cancel()
			}
			return len(p), nil
		})
		if err := run(ctx, out); !errors.Is(err, context.Canceled) {
			t.Errorf("run with a context canceled midway: got %v, want %v", err, context.Canceled)
		}
	})
}

func TestBrokenOutput(t *testing.T) {
	broken := errors.New("broken pipe")
	calls := 0
	out := writerFunc(func(p []byte) (int, error) {
		calls++
		return 0, broken
	})
	if err := run(t.Context(), out); !errors.Is(err, broken) {
		t.Errorf("run with a broken output: got %v, want %v", err, broken)
	}
	if calls != 1 {
		t.Errorf("writes to a broken output: got %d, want 1", calls)
	}
}

func checkGolden(t *testing.T) {
	t.Helper()
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(output(t))); diff != "" {
		t.Fatalf("the output differs from %s (-want +got); if that's right, run go test -update:\n%s", golden, diff)
	}
}

func output(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
