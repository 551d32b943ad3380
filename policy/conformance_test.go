package policy_test

import (
	"math"
	"testing"
	"time"

	"github.com/heraldbus/herald/policy"
	"github.com/heraldbus/herald/policy/policytest"
)

// TestG21_ReadyPoliciesConform runs the kit that users run on theirs: total, finite, without state, safe to share.
func TestG21_ReadyPoliciesConform(t *testing.T) {
	for name, r := range map[string]policy.Retry{
		"never":        policy.Never(),
		"nil schedule": policy.Schedule(nil),
		"schedule":     policy.Schedule{0, time.Second, time.Hour},
		"default":      policy.Exponential{},
		"one attempt":  policy.Exponential{Attempts: 1},
		"many":         policy.Exponential{Attempts: 100_000, Max: math.MaxInt64},
	} {
		t.Run(name, func(t *testing.T) { policytest.TestRetry(t, r) })
	}
	t.Run("jitter", func(t *testing.T) {
		policytest.TestRetry(t, policy.Exponential{Attempts: 50, Jitter: 1}, policytest.Randomised())
	})
	t.Run("endless", func(t *testing.T) {
		policytest.TestRetry(t, policy.Exponential{Attempts: math.MaxInt}, policytest.Unbounded())
	})
	for _, a := range []policy.Action{
		policy.DeadLetter(),
		policy.Reject(),
		policy.DropNewest(),
		policy.DropOldest(),
		policy.Disconnect(),
		policy.Block(0),
		policy.Block(time.Second).Else(policy.Block(time.Minute)).Else(policy.DropOldest()),
	} {
		t.Run(a.String(), func(t *testing.T) { policytest.TestOverflow(t, a) })
	}
}
