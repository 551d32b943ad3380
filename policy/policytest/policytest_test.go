package policytest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/heraldbus/herald/policy"
)

// A recorder is a testing.TB that keeps what is reported to it. The embedded interface is nil: the kit may call nothing
// but what is below.
type recorder struct {
	testing.TB
	reports []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.reports = append(r.reports, fmt.Sprintf(format, args...))
}

// wantReport checks that r recorded a report with the given words, or nothing if there are none.
func wantReport(t *testing.T, r *recorder, words string) {
	t.Helper()
	got := strings.Join(r.reports, "\n")
	if words == "" && got != "" || !strings.Contains(got, words) {
		t.Errorf("reported:\n%s\nwant: %q", got, words)
	}
}

// invalid has the right answers, but says itself that it is wrong.
type invalid struct {
	policy.Retry
	policy.Action
}

func (invalid) Validate() error { return errors.New("says so itself") }

// TestKitReportsOnce: a policy that is wrong everywhere is reported once, not some thousand times.
func TestKitReportsOnce(t *testing.T) {
	var rec recorder
	TestRetry(&rec, retryFunc(func(int, error) (time.Duration, bool) { return -1, true }))
	TestOverflow(&rec, overflowFunc(func(policy.Full) (a policy.Action) { return a }))
	if len(rec.reports) != 2 {
		t.Errorf("%d reports, want one for each policy:\n%s", len(rec.reports), strings.Join(rec.reports, "\n"))
	}
}
