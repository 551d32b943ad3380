package policytest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/heraldbus/herald/policy"
	"github.com/heraldbus/herald/policy/policytest"
)

var errBusy = errors.New("busy")

// A patient policy retries a busy service every second, twenty times, and anything else by its own rule.
type patient struct{ otherwise policy.Retry }

func (p patient) Next(failed int, err error) (delay time.Duration, again bool) {
	if errors.Is(err, errBusy) {
		return time.Second, failed < 20
	}
	return p.otherwise.Next(failed, err)
}

// In a test file of your own, this is func TestPatient(t *testing.T).
func ExampleTestRetry() {
	testPatient := func(t *testing.T) {
		policytest.TestRetry(t, patient{otherwise: policy.Exponential{Jitter: 0.2}}, policytest.Randomised())
	}
	_ = testPatient
}

// In a test file of your own, this is func TestOldest(t *testing.T).
func ExampleTestOverflow() {
	testOldest := func(t *testing.T) {
		policytest.TestOverflow(t, policy.Block(time.Second).Else(policy.DropOldest()))
	}
	_ = testOldest
}

// TestPatient is the first example above, run.
func TestPatient(t *testing.T) {
	policytest.TestRetry(t, patient{otherwise: policy.Exponential{Jitter: 0.2}}, policytest.Randomised())
}
