package dlqtest_test

import (
	"context"
	"errors"
	"iter"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/dlq"
	"github.com/heraldbus/herald/dlq/dlqtest"
)

type letter = herald.DeadLetter[int]

// In a test file of your own, this is func TestMyStore(t *testing.T).
func ExampleTestStore() {
	testMyStore := func(t *testing.T) {
		dlqtest.TestStore(t, func(_ *testing.T, capacity int) dlqtest.Store { return dlq.New[int](capacity) })
	}
	_ = testMyStore
}

// faulty are stores that each break one rule.
var faulty = map[string]func(good *dlq.Queue[int]) dlqtest.Store{
	"loses":         func(good *dlq.Queue[int]) dlqtest.Store { return loses{good} },
	"refuses":       func(good *dlq.Queue[int]) dlqtest.Store { return refuses{good} },
	"changes":       func(good *dlq.Queue[int]) dlqtest.Store { return changes{good} },
	"miscounts":     func(good *dlq.Queue[int]) dlqtest.Store { return miscounts{good} },
	"shows newest":  func(good *dlq.Queue[int]) dlqtest.Store { return newestFirst{good} },
	"forgets match": func(good *dlq.Queue[int]) dlqtest.Store { return ignoresMatch{good} },
	"drops if full": func(good *dlq.Queue[int]) dlqtest.Store { return dropsUnsent{good} },
	"never purges":  func(good *dlq.Queue[int]) dlqtest.Store { return neverPurges{good} },
	"unbounded":     func(*dlq.Queue[int]) dlqtest.Store { return dlq.New[int](1 << 20) },
}

type (
	loses        struct{ *dlq.Queue[int] }
	refuses      struct{ *dlq.Queue[int] }
	changes      struct{ *dlq.Queue[int] }
	miscounts    struct{ *dlq.Queue[int] }
	newestFirst  struct{ *dlq.Queue[int] }
	ignoresMatch struct{ *dlq.Queue[int] }
	dropsUnsent  struct{ *dlq.Queue[int] }
	neverPurges  struct{ *dlq.Queue[int] }
)

func (s loses) Put(d letter) error {
	if d.Payload == 2 {
		return nil
	}
	return s.Queue.Put(d)
}

func (s refuses) Put(d letter) error {
	if s.Len() == 3 {
		return errors.New("full")
	}
	return s.Queue.Put(d)
}

func (s changes) Put(d letter) error {
	d.Err = errors.New("another error")
	return s.Queue.Put(d)
}

func (s miscounts) Len() int { return s.Queue.Len() + 1 }

func (s newestFirst) All() iter.Seq[letter] {
	return func(yield func(letter) bool) {
		var all []letter
		for d := range s.Queue.All() {
			all = append([]letter{d}, all...)
		}
		for _, d := range all {
			if !yield(d) {
				return
			}
		}
	}
}

func (s ignoresMatch) Replay(ctx context.Context, _ func(letter) bool) (int, error) {
	return s.Queue.Replay(ctx, nil)
}

func (s dropsUnsent) Replay(ctx context.Context, match func(letter) bool) (int, error) {
	n, err := s.Queue.Replay(ctx, match)
	if err != nil {
		s.Purge(nil)
	}
	return n, err
}

func (s neverPurges) Purge(func(letter) bool) int { return 0 }

const faultVariable = "DLQTEST_FAULT"

// TestOneStore runs the kit on the faulty store that TestFaultsAreFound
// names, in a process of its own; elsewhere on one without a fault, which must
// pass.
func TestOneStore(t *testing.T) {
	dlqtest.TestStore(t, func(_ *testing.T, capacity int) dlqtest.Store {
		good := dlq.New[int](capacity)
		if fault := faulty[os.Getenv(faultVariable)]; fault != nil {
			return fault(good)
		}
		return good
	})
}

// Each faulty store fails the kit.
func TestFaultsAreFound(t *testing.T) {
	for name := range faulty {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOneStore$", "-test.timeout=20s")
			cmd.Env = append(os.Environ(), faultVariable+"="+name)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: TestOneStore") && !strings.Contains(string(out), "timed out") {
				t.Errorf("passed, or failed for another reason: %v\n%s", err, out)
			}
		})
	}
}
