package policytest

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/heraldbus/herald/policy"
)

type retryFunc func(failed int, err error) (time.Duration, bool)

func (f retryFunc) Next(failed int, err error) (time.Duration, bool) { return f(failed, err) }

// TestRetryKitFindsPlantedFaults: each fault that a Retry can have is reported, G20 and G21.
func TestRetryKitFindsPlantedFaults(t *testing.T) {
	failure := errors.New("failure")
	var calls, inOrder, alone atomic.Int64
	alone.Store(int64(2 * len(retryQuestions()))) // the first two passes
	for name, c := range map[string]struct {
		r    policy.Retry
		opts []Option
		want string
	}{
		"nil":      {nil, nil, "the Retry is nil"},
		"invalid":  {invalid{Retry: policy.Never()}, nil, "is not valid: says so itself"},
		"schedule": {policy.Schedule{-1}, nil, "is not valid: schedule: delay 1 is negative"},
		"negative delay": {
			retryFunc(func(failed int, _ error) (time.Duration, bool) {
				return 100 * time.Millisecond << min(max(failed, 1), 62), failed < 100
			}),
			nil, "negative delay",
		},
		"panics for 0": {
			retryFunc(func(failed int, _ error) (time.Duration, bool) {
				delays := []time.Duration{1, 2, 3}
				if failed > len(delays) {
					return 0, false
				}
				return delays[failed-1], true
			}),
			nil, "panic: runtime error: index out of range",
		},
		"panics for a nil error": {
			retryFunc(func(_ int, err error) (time.Duration, bool) { return 0, err.Error() == "" }),
			nil, "Next(-9223372036854775808, <nil>): panic",
		},
		"panics with nil": {
			retryFunc(func(int, error) (time.Duration, bool) { panic(nil) }),
			nil, "panic: panic called with nil argument",
		},
		"exits": {
			retryFunc(func(int, error) (time.Duration, bool) { runtime.Goexit(); return 0, false }),
			nil, "called runtime.Goexit",
		},
		"never ends": {
			retryFunc(func(int, error) (time.Duration, bool) { return 0, true }),
			nil, "never gives up",
		},
		"never ends for one error": {
			retryFunc(func(failed int, err error) (time.Duration, bool) {
				return 0, failed < 3 || errors.Is(err, context.DeadlineExceeded)
			}),
			nil, "context deadline exceeded): never gives up",
		},
		"ends though said not to": {policy.Never(), []Option{Unbounded()}, "gives up on every error"},
		"goes on after the end": {
			retryFunc(func(failed int, _ error) (time.Duration, bool) { return 0, failed%5 != 0 && failed < 1000 }),
			nil, "goes on, though it gave up",
		},
		"goes on after the end for ever": {
			retryFunc(func(failed int, _ error) (time.Duration, bool) { return 0, failed != 3 }),
			[]Option{Unbounded()}, "goes on, though it gave up",
		},
		"counts attempts itself": {
			retryFunc(func(int, error) (time.Duration, bool) { return 0, calls.Add(1) < 5 }),
			nil, "has state",
		},
		"remembers the last delay": {
			retryFunc(func(failed int, _ error) (time.Duration, bool) {
				if failed <= 1 {
					inOrder.Store(1)
				}
				return time.Duration(inOrder.Add(1)), failed < 10
			}),
			nil, "has state",
		},
		"draws its delay": {policy.Exponential{Jitter: 1}, nil, "must say so with Randomised"},
		"draws whether to go on": {
			retryFunc(func(failed int, _ error) (time.Duration, bool) { return 0, failed < 100+rand.IntN(100) }),
			[]Option{Randomised()}, "Next(",
		},
		"differs under concurrency": {
			retryFunc(func(failed int, _ error) (time.Duration, bool) {
				return 0, alone.Add(-1) >= 0 && failed < 3
			}),
			nil, "can't be shared",
		},

		"sound":            {policy.Exponential{}, nil, ""},
		"sound, random":    {policy.Exponential{Jitter: 1}, []Option{Randomised(), {}}, ""},
		"sound, unbounded": {policy.Exponential{Attempts: math.MaxInt}, []Option{Unbounded()}, ""},
		"sound, by error": {
			retryFunc(func(_ int, err error) (time.Duration, bool) { return 0, !errors.Is(err, context.Canceled) }),
			[]Option{Unbounded()}, "",
		},
		"sound, delay after the end": {
			retryFunc(func(int, error) (time.Duration, bool) { return -rand.N(time.Second), false }),
			nil, "",
		},
		"sound, for no error of ours": {
			retryFunc(func(failed int, err error) (time.Duration, bool) { return 0, errors.Is(err, failure) }),
			nil, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var rec recorder
			TestRetry(&rec, c.r, c.opts...)
			wantReport(t, &rec, c.want)
		})
	}
}

// TestRetryKitGivesUpOnAStuckPolicy: one that counts up to math.MaxInt never answers.
func TestRetryKitGivesUpOnAStuckPolicy(t *testing.T) {
	var over atomic.Bool
	defer over.Store(true)
	var rec recorder
	TestRetry(&rec, retryFunc(func(failed int, _ error) (time.Duration, bool) {
		for n := 0; n < failed && !over.Load(); n++ {
		}
		return 0, failed < 3
	}), within(100*time.Millisecond))
	wantReport(t, &rec, "no answer after 100ms")
}

// TestRetryKitAsksAtOnce: in the last pass, one question is asked while the answer to another is still out. The policy
// waits for that, so a kit that asked one after the other would be stuck.
func TestRetryKitAsksAtOnce(t *testing.T) {
	var calls atomic.Int64
	before := int64(2 * len(retryQuestions())) // the first two passes
	other := make(chan struct{})
	var rec recorder
	TestRetry(&rec, retryFunc(func(failed int, _ error) (time.Duration, bool) {
		switch calls.Add(1) - before {
		case 1:
			<-other
		case 2:
			close(other)
		}
		return 0, failed < 3
	}))
	wantReport(t, &rec, "")
}
