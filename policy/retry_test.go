package policy_test

import (
	"errors"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/heraldbus/herald/policy"
)

var errFailed = errors.New("failed")

func TestG20_ScheduleHasOneDelayForEachRetry(t *testing.T) {
	for name, c := range map[string]struct {
		s    policy.Schedule
		want []time.Duration
	}{
		"nil":      {nil, nil},
		"empty":    {policy.Schedule{}, nil},
		"one":      {policy.Schedule{time.Second}, []time.Duration{time.Second}},
		"any":      {policy.Schedule{time.Minute, 0, time.Second}, []time.Duration{time.Minute, 0, time.Second}},
		"negative": {policy.Schedule{-1, time.Second}, []time.Duration{0, time.Second}},
	} {
		t.Run(name, func(t *testing.T) { wantDelays(t, c.s, c.want) })
	}
}

func TestG21_ScheduleIsTotal(t *testing.T) {
	s := policy.Schedule{time.Second, 2 * time.Second}
	for _, failed := range []int{math.MinInt, -1, 0, 1} {
		if got := delayOf(t, s, failed); got != time.Second {
			t.Errorf("delay after %d failures is %v, want that of the first retry", failed, got)
		}
	}
	for _, failed := range []int{3, math.MaxInt} {
		if delay, again := s.Next(failed, nil); delay != 0 || again {
			t.Errorf("after %d failures: %v, %v, want no retry", failed, delay, again)
		}
	}
}

func TestG21_ScheduleNamesTheNegativeDelay(t *testing.T) {
	for want, s := range map[string]policy.Schedule{
		"":                                   {0, time.Second, math.MaxInt64},
		"schedule: delay 2 is negative: -1s": {time.Second, -time.Second, -1},
	} {
		if got := errorText(s.Validate()); got != want {
			t.Errorf("Validate says %q, want %q", got, want)
		}
	}
	if err := policy.Schedule(nil).Validate(); err != nil {
		t.Error(err)
	}
}

func TestG20_NeverIsOneAttempt(t *testing.T) {
	wantDelays(t, policy.Never(), nil)
	if policy.Never() != policy.Never() { // comparing a type that can't be compared panics
		t.Error("Never differs from Never")
	}
}

// TestG20_AttemptsAreExact: attempts are 1..N, contiguous, never one more, for every ready policy.
func TestG20_AttemptsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 50).Draw(t, "n")
		for _, r := range []policy.Retry{
			policy.Exponential{Attempts: n, Jitter: rapid.Float64Range(0, 1).Draw(t, "jitter")},
			make(policy.Schedule, n-1),
		} {
			if got := len(startsOf(r)); got != n {
				t.Fatalf("%T makes %d attempts, want %d", r, got, n)
			}
		}
	})
}

// TestB46_OneMessageDoesNotDelayAnother: cenkalti/backoff#183, open-telemetry/opentelemetry-go#3506. The state of one
// message's backoff leaked into the next.
func TestB46_OneMessageDoesNotDelayAnother(t *testing.T) {
	for _, r := range []policy.Retry{
		policy.Exponential{Attempts: 10},
		policy.Schedule{100 * time.Millisecond, time.Second, time.Minute, time.Hour, 2 * time.Hour},
	} {
		for failed := 1; failed <= 5; failed++ { // A, on one subscription
			policy.Decide(r, failed, errFailed)
		}
		if got := policy.Decide(r, 1, errFailed); got.Delay != 100*time.Millisecond { // B, on another, or A's next
			t.Errorf("%T: the first delay of another message is %v, want 100ms", r, got.Delay)
		}
		var wg sync.WaitGroup
		want := startsOf(r)
		for range 4 {
			wg.Go(func() {
				for range 100 {
					if diff := cmp.Diff(want, startsOf(r)); diff != "" {
						t.Errorf("%T, asked by several: -want +got: %s", r, diff)
						return
					}
				}
			})
		}
		wg.Wait()
	}
}

// TestB47_NoDelayAfterTheLastAttempt: toss/es-toolkit PR#1901, avast/retry-go PR#129, dbos-inc/dbos-transact-py#667. It
// slept once more after the last attempt: 3 attempts with 1 s and 2 s between them took 7 s.
func TestB47_NoDelayAfterTheLastAttempt(t *testing.T) {
	want := []time.Duration{0, time.Second, 3 * time.Second}
	for _, r := range []policy.Retry{
		policy.Exponential{Attempts: 3, Base: time.Second},
		policy.Schedule{time.Second, 2 * time.Second},
	} {
		if diff := cmp.Diff(want, startsOf(r)); diff != "" {
			t.Errorf("%T: attempts start at: -want +got: %s", r, diff)
		}
		if got := policy.Decide(r, 3, errFailed); got.Again || got.Delay != 0 {
			t.Errorf("%T: after the last attempt %+v, want no delay", r, got)
		}
	}
}

// TestB48_AttemptsAreNotOffByOne: getsentry/sentry PR#81671, dudleycarr/nsqjs#109 and PR#204.
func TestB48_AttemptsAreNotOffByOne(t *testing.T) {
	for n := 1; n <= 3; n++ {
		for _, r := range []policy.Retry{policy.Exponential{Attempts: n}, make(policy.Schedule, n-1)} {
			if got := len(startsOf(r)); got != n {
				t.Errorf("%T of %d attempts makes %d", r, n, got)
			}
		}
	}
}

// startsOf returns when the attempts of a message that always fails start, by the delays of r alone.
func startsOf(r policy.Retry) []time.Duration {
	starts := []time.Duration{0}
	for {
		d := policy.Decide(r, len(starts), errFailed)
		if !d.Again {
			return starts
		}
		starts = append(starts, starts[len(starts)-1]+d.Delay)
	}
}

// wantDelays checks that r retries with the delays of want, and then not again.
func wantDelays(t *testing.T, r policy.Retry, want []time.Duration) {
	t.Helper()
	var got []time.Duration
	for {
		delay, again := r.Next(len(got)+1, errFailed)
		if !again {
			break
		}
		got = append(got, delay)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("delays: -want +got:", diff)
	}
}

// delayOf returns the delay of r after so many failed attempts, which must not be the last.
func delayOf(t rapid.TB, r policy.Retry, failed int) time.Duration {
	t.Helper()
	delay, again := r.Next(failed, errFailed)
	if !again {
		t.Fatalf("%+v: no retry after %d failures", r, failed)
	}
	return delay
}

// checkDraws checks that draws of one delay lie in [low, high], and that they use more than half of it.
func checkDraws(t *testing.T, r policy.Retry, failed int, low, high time.Duration) {
	t.Helper()
	lowest, highest := high, low
	for range 2000 {
		d := delayOf(t, r, failed)
		lowest, highest = min(lowest, d), max(highest, d)
	}
	if lowest < low || highest > high {
		t.Errorf("delay after %d failures was from %v to %v, want it in [%v, %v]", failed, lowest, highest, low, high)
	}
	if highest-lowest < (high-low)/2 {
		t.Errorf("delay after %d failures was from %v to %v, want it all over [%v, %v]", failed, lowest, highest, low, high)
	}
}

// errorText returns the text of err, "" for nil.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
