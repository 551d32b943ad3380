package policy_test

import (
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/heraldbus/herald/policy"
)

// TestG21_DelayIsInBounds: for all inputs 0 <= delay <= Max, valid or not.
func TestG21_DelayIsInBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkBounds(t, anyExponential().Draw(t, "e"), rapid.Int().Draw(t, "failed"))
	})
}

// TestG21_DelayIsExactAndMonotone compares with the formula in arithmetic that does not overflow. Multipliers next to 1
// matter, as there rounding may be larger than the step from one delay to the next.
func TestG21_DelayIsExactAndMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := validExponential(t)
		e.Attempts, e.Jitter = math.MaxInt, 0
		failed := rapid.OneOf(rapid.IntRange(1, 100), rapid.IntRange(1, 1<<24)).Draw(t, "failed")
		got, want := delayOf(t, e, failed), formula(e, failed)
		// Each factor is exact to 2^-53, and so is each product.
		if diff := (got - want).Abs(); diff > 1+time.Duration(float64(want)*float64(failed+64)*0x1p-52) {
			t.Fatalf("delay after %d failures is %d ns, want %d", failed, got, want)
		}
		if next := delayOf(t, e, failed+1); next < got {
			t.Fatalf("delay after %d failures is %d ns, after one more %d", failed, got, next)
		}
	})
}

// TestG21_DelaysNearOneStayInOrder is the case above at its worst: a multiplier some steps above 1, over a base so long
// that every step shows, where the count of failures turns over from all ones to a power of two.
func TestG21_DelaysNearOneStayInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.IntRange(1, 1<<32).Draw(t, "steps")
		e := policy.Exponential{Attempts: math.MaxInt, Base: 1<<40 + 1, Max: unbounded, Multiplier: 1 + float64(steps)*0x1p-52}
		for bit := range 62 {
			few, more := delayOf(t, e, 1<<bit), delayOf(t, e, 1<<bit+1)
			if few > more {
				t.Fatalf("delay after %d failures is %d ns, after one more %d", 1<<bit, few, more)
			}
		}
	})
}

// TestG21_JitterStaysInBand: jitter is inside its band and capped after it.
func TestG21_JitterStaysInBand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := validExponential(t)
		e.Attempts = math.MaxInt
		failed := rapid.IntRange(1, 100).Draw(t, "failed")
		plain := e
		plain.Jitter = 0
		d := delayOf(t, plain, failed)
		low, high := band(d, e.Jitter)
		for range 20 {
			got := delayOf(t, e, failed)
			if got > e.Max || exact(got).Cmp(low) < 0 || exact(got).Cmp(high) > 0 {
				t.Fatalf("delay is %d ns, want it in [%v, %v] and at most %d", got, low, high, e.Max)
			}
		}
	})
}

// FuzzExponential looks for any fields and any count of failures for which G21 does not hold.
func FuzzExponential(f *testing.F) {
	f.Add(0, int64(0), int64(0), 0.0, 0.0, 1)
	f.Add(3, int64(time.Second), int64(time.Minute), 2.0, 0.5, 2)
	f.Add(math.MaxInt, int64(1), int64(math.MaxInt64), 1.0, 1.0, math.MaxInt)
	f.Add(math.MaxInt, int64(math.MaxInt64/2), int64(math.MaxInt64), 2.1, 0.0, 2)
	f.Add(math.MaxInt, int64(math.MaxInt64), int64(math.MaxInt64), math.MaxFloat64, 1.0, math.MaxInt)
	f.Add(math.MaxInt, int64(1<<60), int64(math.MaxInt64), math.Nextafter(1, 2), 0.0, math.MaxInt)
	f.Add(math.MaxInt, int64(1<<60), int64(math.MaxInt64-600), 1+0x1p-21, math.Nextafter(1, 0), 1000)
	f.Add(-1, int64(-1), int64(-1), math.NaN(), math.NaN(), math.MinInt)
	f.Add(1, int64(10), int64(5), 0.5, 1.5, 0)
	f.Add(1, int64(10), int64(5), math.Inf(1), math.Inf(-1), -1)
	f.Fuzz(func(t *testing.T, attempts int, base, limit int64, multiplier, jitter float64, failed int) {
		e := policy.Exponential{
			Attempts: attempts, Base: time.Duration(base), Max: time.Duration(limit), Multiplier: multiplier, Jitter: jitter,
		}
		checkBounds(t, e, failed)
		if e.Validate() != nil {
			return
		}
		e.Attempts, e.Jitter = math.MaxInt, 0
		if failed < math.MaxInt && delayOf(t, e, failed) > delayOf(t, e, failed+1) {
			t.Errorf("%+v: the delay after %d failures is longer than that after one more", e, failed)
		}
	})
}

// anyExponential generates fields that make sense and fields that don't.
func anyExponential() *rapid.Generator[policy.Exponential] {
	odd := rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, 0.5, 1, 2})
	return rapid.Custom(func(t *rapid.T) policy.Exponential {
		return policy.Exponential{
			Attempts:   rapid.Int().Draw(t, "attempts"),
			Base:       time.Duration(rapid.Int64().Draw(t, "base")),
			Max:        time.Duration(rapid.Int64().Draw(t, "max")),
			Multiplier: rapid.OneOf(odd, rapid.Float64()).Draw(t, "multiplier"),
			Jitter:     rapid.OneOf(odd, rapid.Float64()).Draw(t, "jitter"),
		}
	})
}

// validExponential draws one without zero fields, so that what is in it is what counts.
func validExponential(t *rapid.T) policy.Exponential {
	base := rapid.Int64Range(1, math.MaxInt64).Draw(t, "base")
	e := policy.Exponential{
		Attempts: rapid.IntRange(1, math.MaxInt).Draw(t, "attempts"),
		Base:     time.Duration(base),
		Max:      time.Duration(rapid.Int64Range(base, math.MaxInt64).Draw(t, "max")),
		Multiplier: rapid.OneOf(
			rapid.Float64Range(1, 1+1e-15), rapid.Float64Range(1, 1+1e-5), rapid.Float64Range(1, 10), rapid.Float64Min(1),
		).Draw(t, "multiplier"),
		Jitter: rapid.Float64Range(0, 1).Draw(t, "jitter"),
	}
	if err := e.Validate(); err != nil {
		t.Fatalf("%+v: %v", e, err)
	}
	return e
}

// checkBounds checks what holds for every Exponential, whatever is wrong with it.
func checkBounds(t rapid.TB, e policy.Exponential, failed int) {
	t.Helper()
	limit := e.Max
	if limit <= 0 {
		limit = max(e.Base, 5*time.Second)
	}
	delay, again := e.Next(failed, nil)
	if delay < 0 || delay > limit {
		t.Fatalf("%+v: delay after %d failures is %v, want it in [0, %v]", e, failed, delay, limit)
	}
	if !again && delay != 0 {
		t.Fatalf("%+v: a delay of %v after the last attempt", e, delay)
	}
	if e.Attempts > 0 && e.Attempts < math.MaxInt && again != (max(failed, 1) < e.Attempts) {
		t.Fatalf("%+v: again is %v after %d failures", e, again, failed)
	}
}

// formula returns min(Max, Base*Multiplier^(failed-1)) by arbitrary precision.
func formula(e policy.Exponential, failed int) time.Duration {
	d, m := exact(e.Base), new(big.Float).SetPrec(400).SetFloat64(e.Multiplier)
	limit := exact(e.Max)
	for k := failed - 1; k > 0 && d.Cmp(limit) < 0; k >>= 1 {
		if k&1 == 1 {
			d.Mul(d, m)
		}
		if m.MantExp(nil) < 1<<20 {
			m.Mul(m, m)
		}
	}
	if d.Cmp(limit) >= 0 {
		return e.Max
	}
	ns, _ := d.Int64()
	return time.Duration(ns)
}

// band returns d*(1-jitter) and d*(1+jitter), exactly.
func band(d time.Duration, jitter float64) (low, high *big.Float) {
	spread := new(big.Float).SetPrec(400).SetFloat64(jitter)
	spread.Mul(spread, exact(d))
	low = new(big.Float).SetPrec(400).Sub(exact(d), spread)
	high = new(big.Float).SetPrec(400).Add(exact(d), spread)
	return low, high
}

func exact(d time.Duration) *big.Float { return new(big.Float).SetPrec(400).SetInt64(int64(d)) }
