package policy_test

import (
	"math"
	"testing"
	"time"

	"github.com/heraldbus/herald/policy"
)

const unbounded = time.Duration(math.MaxInt64) // as a Max

// TestG21_ZeroFieldsHaveDefaults pins the default retry, which is the zero Exponential.
func TestG21_ZeroFieldsHaveDefaults(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		e    policy.Exponential
		want []time.Duration
	}{
		"zero":           {policy.Exponential{}, []time.Duration{100 * ms, 200 * ms}},
		"one attempt":    {policy.Exponential{Attempts: 1}, nil},
		"base":           {policy.Exponential{Base: ms}, []time.Duration{ms, 2 * ms}},
		"multiplier":     {policy.Exponential{Multiplier: 3}, []time.Duration{100 * ms, 300 * ms}},
		"constant":       {policy.Exponential{Multiplier: 1}, []time.Duration{100 * ms, 100 * ms}},
		"max":            {policy.Exponential{Max: 150 * ms}, []time.Duration{100 * ms, 150 * ms}},
		"max is 5 s":     {policy.Exponential{Base: 4 * time.Second}, []time.Duration{4 * time.Second, 5 * time.Second}},
		"base above 5 s": {policy.Exponential{Base: time.Minute}, []time.Duration{time.Minute, time.Minute}},
		"explicit max too": {
			policy.Exponential{Base: time.Minute, Max: time.Hour}, []time.Duration{time.Minute, 2 * time.Minute},
		},
		"unbounded, attempt": {policy.Exponential{Attempts: 2, Base: unbounded, Max: unbounded}, []time.Duration{unbounded}},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.e.Validate(); err != nil {
				t.Fatal(err)
			}
			wantDelays(t, c.e, c.want)
		})
	}
}

// TestG21_DelayAtTheEdges: what is exact, what is rounded, and what just overflows.
func TestG21_DelayAtTheEdges(t *testing.T) {
	for name, c := range map[string]struct {
		e    policy.Exponential
		want []time.Duration
	}{
		"rounded to the nearest": {
			policy.Exponential{Attempts: 4, Base: 10, Multiplier: 1.25}, []time.Duration{10, 13, 16},
		},
		"2^63 is too long": {
			policy.Exponential{Base: 1 << 62, Max: unbounded}, []time.Duration{1 << 62, unbounded},
		},
		"just below max": {
			policy.Exponential{Base: 1 << 61, Max: 1<<62 + 1}, []time.Duration{1 << 61, 1 << 62},
		},
		"a base that is no float64": {
			policy.Exponential{Base: 1<<62 + 1, Max: unbounded, Multiplier: 1}, []time.Duration{1<<62 + 1, 1<<62 + 1},
		},
		"the next float64 is above it": {
			policy.Exponential{Base: 1<<60 + 100, Max: unbounded, Multiplier: math.Nextafter(1, 2)},
			[]time.Duration{1<<60 + 100, 1<<60 + 256},
		},
	} {
		t.Run(name, func(t *testing.T) { wantDelays(t, c.e, c.want) })
	}
}

// TestB41_DelayNeverTurnsNegative: onosproject/onos-lib-go PR#127, carlescere/goback#5, filecoin-project/go-f3 PR#516,
// aws/aws-sdk-java#874, zenml-io/zenml PR#5265. The delay turned negative or zero after many attempts.
func TestB41_DelayNeverTurnsNegative(t *testing.T) {
	capped := policy.Exponential{Attempts: math.MaxInt, Max: time.Second}
	endless := policy.Exponential{Attempts: math.MaxInt, Max: unbounded}
	previous := time.Duration(0)
	for failed := 1; failed <= 10_000; failed++ {
		if got := delayOf(t, capped, failed); failed > 4 && got != time.Second {
			t.Fatalf("with a max of 1 s: delay after %d failures is %v, want 1s", failed, got)
		}
		got := delayOf(t, endless, failed)
		if got < previous || got <= 0 {
			t.Fatalf("without max: delay after %d failures is %v, after one fewer %v", failed, got, previous)
		}
		previous = got
	}
	for _, failed := range []int{64, 1024, 1 << 53, math.MaxInt - 1, math.MaxInt} {
		if got := delayOf(t, capped, failed); got != time.Second {
			t.Errorf("with a max of 1 s: delay after %d failures is %v, want 1s", failed, got)
		}
		if got := delayOf(t, endless, failed); got != unbounded {
			t.Errorf("without max: delay after %d failures is %v, want MaxInt64", failed, got)
		}
	}
}

// TestB42_FirstDelayIsBase: elennick/retry4j#36. The first delay was 0 and the powers were off by one.
func TestB42_FirstDelayIsBase(t *testing.T) {
	e := policy.Exponential{Attempts: 10, Base: 100 * time.Millisecond, Multiplier: 2}
	for failed, want := range map[int]time.Duration{
		math.MinInt: 100 * time.Millisecond, // below 1 counts as 1
		0:           100 * time.Millisecond,
		1:           100 * time.Millisecond,
		5:           1600 * time.Millisecond,
	} {
		if got := delayOf(t, e, failed); got != want {
			t.Errorf("delay after %d failures is %v, want %v", failed, got, want)
		}
	}
}

// TestB43_JitterNeverExceedsMax: cenkalti/backoff#117 and #139, agenda/agenda#1748. Jitter was added after the cap.
func TestB43_JitterNeverExceedsMax(t *testing.T) {
	e := policy.Exponential{Attempts: 10, Base: 800 * time.Millisecond, Max: 1200 * time.Millisecond, Jitter: 0.5}
	for range 20_000 {
		for failed := range 4 {
			if got := delayOf(t, e, failed); got <= 0 || got > e.Max {
				t.Fatalf("delay after %d failures is %v, want it above 0 and at most %v", failed, got, e.Max)
			}
		}
	}
}

// TestB45_WrongFieldsAreErrors: apache/kafka PR#20748. Jitter outside 0..1 was taken. G21: and whatever is wrong, Next
// stays in its bounds.
func TestB45_WrongFieldsAreErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for want, e := range map[string]policy.Exponential{
		"exponential: Attempts -1 is negative":     {Attempts: -1},
		"exponential: Base -1ns is negative":       {Base: -1},
		"exponential: Max -1ns is negative":        {Max: -1},
		"exponential: Max 1s is below Base 2s":     {Base: 2 * time.Second, Max: time.Second},
		"exponential: Max 1ms is below Base 100ms": {Max: time.Millisecond},

		"exponential: Multiplier 0.5 is not a finite number of at least 1":  {Multiplier: 0.5},
		"exponential: Multiplier -2 is not a finite number of at least 1":   {Multiplier: -2},
		"exponential: Multiplier NaN is not a finite number of at least 1":  {Multiplier: nan},
		"exponential: Multiplier +Inf is not a finite number of at least 1": {Multiplier: inf},
		"exponential: Multiplier -Inf is not a finite number of at least 1": {Multiplier: -inf},

		"exponential: Jitter -0.1 is not between 0 and 1": {Jitter: -0.1},
		"exponential: Jitter 1.5 is not between 0 and 1":  {Jitter: 1.5},
		"exponential: Jitter NaN is not between 0 and 1":  {Jitter: nan},
		"exponential: Jitter +Inf is not between 0 and 1": {Jitter: inf},
	} {
		t.Run(want, func(t *testing.T) {
			if got := errorText(e.Validate()); got != want {
				t.Errorf("Validate says %q, want %q", got, want)
			}
			for _, failed := range []int{math.MinInt, 0, 1, 2, 3, 100, math.MaxInt} {
				checkBounds(t, e, failed)
			}
		})
	}
}
