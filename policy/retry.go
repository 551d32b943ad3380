package policy

import (
	"fmt"
	"time"
)

// A Retry says whether a message whose attempt failed is tried again, and after how long. [Exponential], [Schedule] and
// [Never] are the ready ones.
//
// Next may be called by any number of goroutines at once, for different messages and subscriptions, and must not keep
// state: all it may go by is what it is told. It is called without any lock held. If it panics, the message is dead with
// reason PolicyFailed.
type Retry interface {
	// Next is asked after each failed attempt of a message; failed counts them, so it is 1 after the first, and err is
	// what the last one returned. If again is true, the next attempt starts delay after the end of the last, where a
	// negative delay counts as 0. If it is false, delay means nothing and the message is dead.
	Next(failed int, err error) (delay time.Duration, again bool)
}

// A Schedule is a [Retry] with one delay for each retry, so a message gets len+1 attempts, and a nil Schedule means no
// retries. It must not be changed once it is in use. To go on with the last delay, repeat it.
type Schedule []time.Duration

// Next returns the delay of this retry, and false after the last. A failed below 1 counts as 1, a negative delay as 0.
func (s Schedule) Next(failed int, _ error) (delay time.Duration, again bool) {
	retry := max(failed, 1) - 1
	if retry >= len(s) {
		return 0, false
	}
	return max(s[retry], 0), true
}

// Validate returns an error that names the first negative delay, and nil if there is none.
func (s Schedule) Validate() error {
	for i, d := range s {
		if d < 0 {
			return fmt.Errorf("schedule: delay %d is negative: %v", i+1, d)
		}
	}
	return nil
}

// Never returns the [Retry] that never tries again: one attempt, then the message is dead.
func Never() Retry { return never{} }

// never is a type of its own, not Schedule(nil), so that what Never returns can be compared.
type never struct{}

func (never) Next(int, error) (delay time.Duration, again bool) { return 0, false }
