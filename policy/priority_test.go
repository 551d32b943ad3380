package policy_test

import (
	"math"
	"testing"

	"github.com/heraldbus/herald/policy"
)

func TestG11_PrioritiesHaveNames(t *testing.T) {
	for p, want := range map[policy.Priority]string{
		math.MinInt8:    "priority(-128)",
		-2:              "priority(-2)",
		policy.Low:      "low",
		policy.Normal:   "normal",
		policy.High:     "high",
		policy.Critical: "critical",
		3:               "priority(3)",
		9:               "priority(9)",
	} {
		if got := p.String(); got != want {
			t.Errorf("Priority(%d) is %q, want %q", int8(p), got, want)
		}
		if p.Valid() != (p >= -1 && p <= 2) {
			t.Errorf("%v: Valid is %v", p, p.Valid())
		}
	}
}
