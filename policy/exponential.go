package policy

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// What the zero fields of an Exponential mean.
const (
	defaultAttempts   = 3
	defaultBase       = 100 * time.Millisecond
	defaultMax        = 5 * time.Second
	defaultMultiplier = 2.0
)

// Exponential is a [Retry] whose delays grow by a factor: Base, Base*Multiplier, Base*Multiplier², and so on up to Max.
// The zero Exponential is herald's default: 3 attempts, 100 ms and 200 ms apart.
//
// It has no state, so one value serves any number of messages and subscriptions. Next takes the same short time for any
// argument, and its delay is never negative, never above Max, and without Jitter never below that of an earlier retry.
// [Exponential.Validate] says which fields are wrong; where one is wrong all the same, it counts as 0.
type Exponential struct {
	// Attempts is how often a message is tried in all, the first time included, so 1 means no retries.
	// 0 means 3, math.MaxInt without end.
	Attempts int

	// Base is the delay before the first retry. 0 means 100 ms.
	Base time.Duration

	// Max bounds every delay, after jitter. 0 means 5 s, or Base where that is longer; math.MaxInt64 is no bound.
	Max time.Duration

	// Multiplier is what each delay is longer than the one before, at least 1. 0 means 2.
	Multiplier float64

	// Jitter spreads each delay d uniformly over [d*(1-Jitter), d*(1+Jitter)], in whole nanoseconds; what comes out
	// above Max becomes Max. It is between 0, for none, and 1. It keeps messages that failed together from coming back
	// together.
	Jitter float64
}

// Next returns the delay before the retry that follows the given number of failed attempts, and false when that was the
// last. A failed below 1 counts as 1. The error is not looked at.
func (e Exponential) Next(failed int, _ error) (delay time.Duration, again bool) {
	e = e.withDefaults()
	failed = max(failed, 1)
	if failed >= e.Attempts && e.Attempts != math.MaxInt {
		return 0, false
	}
	return e.jittered(e.plain(failed - 1)), true
}

// Validate returns an error that says which field is wrong: negative Attempts, Base or Max, a Max below Base (below
// 100 ms where Base is 0), a Multiplier that is below 1, infinite or not a number, a Jitter outside [0, 1] or not a
// number.
func (e Exponential) Validate() error {
	switch d := e.withDefaults(); {
	case e.Attempts < 0:
		return fmt.Errorf("exponential: Attempts %d is negative", e.Attempts)
	case e.Base < 0:
		return fmt.Errorf("exponential: Base %v is negative", e.Base)
	case e.Max < 0:
		return fmt.Errorf("exponential: Max %v is negative", e.Max)
	case d.Max < d.Base:
		return fmt.Errorf("exponential: Max %v is below Base %v", d.Max, d.Base)
	case e.Multiplier != 0 && !validMultiplier(e.Multiplier):
		return fmt.Errorf("exponential: Multiplier %v is not a finite number of at least 1", e.Multiplier)
	case !validJitter(e.Jitter):
		return fmt.Errorf("exponential: Jitter %v is not between 0 and 1", e.Jitter)
	}
	return nil
}

// withDefaults returns e with every field in its range, but for a Max that may be below Base.
func (e Exponential) withDefaults() Exponential {
	e.Attempts = cmp.Or(max(e.Attempts, 0), defaultAttempts)
	e.Base = cmp.Or(max(e.Base, 0), defaultBase)
	e.Max = cmp.Or(max(e.Max, 0), max(e.Base, defaultMax))
	if !validMultiplier(e.Multiplier) {
		e.Multiplier = defaultMultiplier
	}
	if !validJitter(e.Jitter) {
		e.Jitter = 0
	}
	return e
}

// Both are written so that NaN, for which every comparison is false, is not valid.
func validMultiplier(m float64) bool { return m >= 1 && !math.IsInf(m, 1) }
func validJitter(j float64) bool     { return j >= 0 && j <= 1 }

// plain returns the delay after the given number of earlier retries, to the nearest nanosecond and without jitter. The
// fields of e are in range.
func (e Exponential) plain(retries int) time.Duration {
	if retries == 0 || e.Multiplier == 1 {
		return min(e.Base, e.Max) // exactly, also above 2^53 ns, where a float64 is not exact
	}
	d := math.Round(float64(e.Base) * power(e.Multiplier, retries))
	if d >= math.MaxInt64 { // as a float64 that is 2^63, which is no Duration
		return e.Max
	}
	return min(time.Duration(d), e.Max)
}

// power returns m^k for m >= 1, +Inf where it is too large, in at most 63 steps. It never falls as k grows, however its
// products are rounded: where k ends in t ones, k+1 has the t-th square instead of the product of those before it, and
// that product is no larger, because each of its steps multiplies by what squaring multiplies by, from 1 instead of m.
func power(m float64, k int) float64 {
	product := 1.0
	for square := m; k > 0; k >>= 1 {
		if k&1 == 1 {
			product *= square
		}
		square *= square
	}
	return product
}

// jittered returns a delay drawn uniformly from the whole nanoseconds of d's band, at most Max. The sum can't overflow:
// both ends of the band are below 2^64.
func (e Exponential) jittered(d time.Duration) time.Duration {
	if e.Jitter == 0 {
		return d
	}
	spread := d
	if e.Jitter < 1 {
		spread = min(d, time.Duration(float64(d)*e.Jitter))
	}
	drawn := uint64(d-spread) + rand.Uint64N(2*uint64(spread)+1)
	return time.Duration(min(drawn, uint64(e.Max)))
}
