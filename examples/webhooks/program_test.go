package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// TestGolden proves that the demonstration says the same at every run, whatever the scheduler does. The bubble proves
// that no goroutine outlives it.
func TestGolden(t *testing.T) {
	for _, hopeless := range []bool{false, true} {
		t.Run(fmt.Sprintf("hopeless=%v", hopeless), func(t *testing.T) {
			golden, want := "testdata/golden.txt", error(nil)
			if hopeless {
				golden, want = "testdata/hopeless.txt", errUndelivered
			}
			for range 10 {
				synctest.Test(t, func(t *testing.T) {
					var out bytes.Buffer
					n := newNetwork()
					s := newStandins(n.serve)
					s.hopeless = hopeless
					err := demonstrate(t.Context(), s, demoSetup(n.client(), time.Minute), bytes.NewReader(demoEvents), &out)
					if !errors.Is(err, want) {
						t.Errorf("error = %v, want %v", err, want)
					}
					checkGolden(t, golden, out.Bytes())
				})
			}
		})
	}
}

func checkGolden(t *testing.T, golden string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Fatalf("the output differs from %s (-want +got); if that's right, run go test -update:\n%s", golden, diff)
	}
}

// TestSockets runs the demonstration on real ones. Attempts may time out there on a machine that is slow enough, so it
// looks at what holds all the same: that the receivers have everything, in order and signed.
func TestSockets(t *testing.T) {
	s := newStandins(httptest.NewServer)
	if err := demonstrate(t.Context(), s, demoSetup(newClient(), time.Minute), bytes.NewReader(demoEvents), io.Discard); err != nil {
		t.Error(err)
	}
	checkInboxes(t, s)
	for _, st := range s.list {
		want := 5
		if st.name == "billing" {
			want-- // refused
		}
		if got := st.inbox.testify().taken; got != want {
			t.Errorf("%s has taken %d events, want %d", st.name, got, want)
		}
	}
}

// checkInboxes fails if a receiver saw a bad signature, or events out of order.
func checkInboxes(t *testing.T, s *standins) {
	t.Helper()
	for _, st := range s.list {
		for _, f := range st.inbox.testify().faults {
			t.Errorf("%s: %s", st.name, f)
		}
	}
}

// TestCanceledMidway cancels the context while requests are under way, at each of the first requests in turn.
func TestCanceledMidway(t *testing.T) {
	for nth := range int64(25) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			n := newNetwork()
			s := newStandins(calling(n.serve, nth+1, cancel))
			err := demonstrate(ctx, s, demoSetup(n.client(), time.Minute), bytes.NewReader(demoEvents), io.Discard)
			if !errors.Is(err, context.Canceled) || status(err) != statusUnusable {
				t.Errorf("error = %v, want %v", err, context.Canceled)
			}
			checkInboxes(t, s)
		})
	}
}

// calling makes serve call f when the servers that it started get their nth request altogether.
func calling(serve func(http.Handler) *httptest.Server, nth int64, f func()) func(http.Handler) *httptest.Server {
	count := make(chan int64, 1)
	count <- 0
	return func(h http.Handler) *httptest.Server {
		return serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c := <-count + 1
			count <- c
			if c == nth {
				f()
			}
			h.ServeHTTP(w, r)
		}))
	}
}

// TestCanceledWhileInputBlocks proves that a read under way holds up nobody.
func TestCanceledWhileInputBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		in, w := io.Pipe()
		defer w.Close() // the read ends after run has returned
		n := newNetwork()
		time.AfterFunc(time.Hour, cancel)
		err := demonstrate(ctx, newStandins(n.serve), demoSetup(n.client(), time.Minute), in, io.Discard)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v, want %v", err, context.Canceled)
		}
	})
}

// TestInputEnded proves that what was read before an interrupt is delivered and reported, though the input goes on.
func TestInputEnded(t *testing.T) {
	want, err := os.ReadFile("testdata/golden.txt")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		interrupted, interrupt := context.WithCancel(t.Context())
		in, w := io.Pipe()
		defer w.Close()
		go w.Write(demoEvents) // in one piece, so that it's read in one
		n := newNetwork()
		var out bytes.Buffer
		s := newStandins(calling(n.serve, 1, interrupt))
		err := demonstrate(t.Context(), s, demoSetup(n.client(), time.Minute), until(interrupted, in), &out)
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(string(want), out.String()); diff != "" {
			t.Errorf("output (-want +got):\n%s", diff)
		}
	})
}

// TestGraceIsUp proves that a receiver that can't be waited for is reported, and what is under way for it given up.
func TestGraceIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		s := &standins{list: []*standin{
			newStandin(n.serve, "audit", "", healthy),
			newStandin(n.serve, "search", "", slow(time.Hour, 0)),
		}}
		base := demoSetup(n.client(), 3*time.Second)
		base.timeout = 2 * time.Hour
		start := time.Now()
		var out bytes.Buffer
		err := demonstrate(t.Context(), s, base, input("audit", "search", "audit", "search"), &out)
		if !errors.Is(err, errUndelivered) {
			t.Errorf("error = %v, want %v", err, errUndelivered)
		}
		if took := time.Since(start); took != base.grace {
			t.Errorf("it took %v, want %v", took, base.grace)
		}
		for _, want := range []string{errGrace.Error(), "NOT DELIVERED: 0 owed, 2 left in the queue, 0 lost"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("no %q in\n%s", want, &out)
			}
		}
	})
}

// input is one event for each of the receivers that are named.
func input(receivers ...string) io.Reader {
	var b strings.Builder
	for i, r := range receivers {
		fmt.Fprintf(&b, `{"id":"evt-%02d","receiver":%q,"type":"test"}`+"\n", i+1, r)
	}
	return strings.NewReader(b.String())
}

func TestBrokenOutput(t *testing.T) {
	broken := errors.New("broken pipe")
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		out := writerFunc(func([]byte) (int, error) { return 0, broken })
		s := newStandins(n.serve)
		err := demonstrate(t.Context(), s, demoSetup(n.client(), time.Minute), bytes.NewReader(demoEvents), out)
		if !errors.Is(err, broken) {
			t.Errorf("error = %v, want %v", err, broken)
		}
		if got := s.list[0].inbox.testify().taken; got != 5 {
			t.Errorf("%d events taken, want 5: nobody sees the report, but everybody the events", got)
		}
	})
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
