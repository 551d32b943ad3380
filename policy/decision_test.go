package policy_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/heraldbus/herald/policy"
)

// A retryFunc is a policy as a function.
type retryFunc func(failed int, err error) (time.Duration, bool)

func (f retryFunc) Next(failed int, err error) (time.Duration, bool) { return f(failed, err) }

// TestG16_DecideFollowsTheVerdict: a handler's verdict counts whatever the policy says, however it is wrapped.
func TestG16_DecideFollowsTheVerdict(t *testing.T) {
	var (
		permanent = policy.Permanent(errFailed)
		later     = policy.RetryAfter(time.Minute, errFailed)
		stop      = policy.Stop(errFailed)
	)
	for name, c := range map[string]struct {
		err  error
		want policy.Decision
	}{
		"permanent":          {permanent, policy.Decision{Permanent: true, Err: permanent}},
		"retry after":        {later, policy.Decision{Again: true, Delay: time.Minute, Err: later}},
		"stop gives cause":   {stop, policy.Decision{Stop: true, Err: errFailed}},
		"wrapped":            {fmt.Errorf("charge: %w", permanent), policy.Decision{Permanent: true, Err: permanent}},
		"wrapped stop":       {fmt.Errorf("charge: %w", stop), policy.Decision{Stop: true, Err: errFailed}},
		"joined":             {errors.Join(errFailed, later), policy.Decision{Again: true, Delay: time.Minute, Err: later}},
		"joined, first wins": {errors.Join(stop, permanent), policy.Decision{Stop: true, Err: errFailed}},
		"outermost wins": {
			policy.Permanent(fmt.Errorf("then: %w", later)), policy.Decision{Permanent: true, Err: permanent},
		},
		"stop of a verdict": {policy.Stop(permanent), policy.Decision{Stop: true, Err: permanent}},
		"permanent nil":     {policy.Permanent(nil), policy.Decision{Permanent: true, Err: policy.Permanent(nil)}},
		"stop nil":          {policy.Stop(nil), policy.Decision{Stop: true}},
		"retry after nil": {
			policy.RetryAfter(1, nil), policy.Decision{Again: true, Delay: 1, Err: policy.RetryAfter(1, nil)},
		},
		"negative delay": {
			policy.RetryAfter(-time.Hour, errFailed),
			policy.Decision{Again: true, Err: policy.RetryAfter(0, errFailed)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			neverAsked := retryFunc(func(int, error) (time.Duration, bool) {
				t.Error("the policy was asked, in spite of a verdict")
				return time.Hour, true
			})
			got := policy.Decide(neverAsked, 1, c.err)
			if !c.want.Stop {
				// Err is the error as given; the table says what it should look like to a reader.
				if got.Err != c.err {
					t.Errorf("Err is %v, want it as given", got.Err)
				}
				got.Err = c.want.Err
			}
			if diff := cmp.Diff(c.want, got, cmpopts.EquateErrors()); diff != "" {
				t.Error("-want +got:", diff)
			}
		})
	}
}

// TestG20_DecideAsksThePolicy: without a verdict the policy is asked once, with what Decide was given.
func TestG20_DecideAsksThePolicy(t *testing.T) {
	for name, c := range map[string]struct {
		delay time.Duration
		again bool
		want  policy.Decision
	}{
		"again":                {time.Second, true, policy.Decision{Again: true, Delay: time.Second, Err: errFailed}},
		"at once":              {0, true, policy.Decision{Again: true, Err: errFailed}},
		"negative delay":       {-time.Second, true, policy.Decision{Again: true, Err: errFailed}},
		"exhausted":            {0, false, policy.Decision{Err: errFailed}},
		"exhausted with delay": {time.Hour, false, policy.Decision{Err: errFailed}},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			got := policy.Decide(retryFunc(func(failed int, err error) (time.Duration, bool) {
				asked++
				if failed != 7 || err != errFailed {
					t.Errorf("asked about %d failures and %v", failed, err)
				}
				return c.delay, c.again
			}), 7, errFailed)
			if diff := cmp.Diff(c.want, got, cmpopts.EquateErrors()); diff != "" {
				t.Error("-want +got:", diff)
			}
			if asked != 1 {
				t.Errorf("asked %d times, want once", asked)
			}
		})
	}
}

func TestG20_NilRetryIsTheDefault(t *testing.T) {
	want := []time.Duration{0, 100 * time.Millisecond, 300 * time.Millisecond}
	if diff := cmp.Diff(want, startsOf(nil)); diff != "" {
		t.Error("-want +got:", diff)
	}
}

// TestG15_DecideLeavesPanicsToTheCaller: it is the engine that makes them Dead(PolicyFailed).
func TestG15_DecideLeavesPanicsToTheCaller(t *testing.T) {
	defer func() {
		if v := recover(); v != "boom" {
			t.Errorf("recovered %v, want the policy's own panic", v)
		}
	}()
	policy.Decide(retryFunc(func(int, error) (time.Duration, bool) { panic("boom") }), 1, errFailed)
}

func TestG16_VerdictsWrapTheirCause(t *testing.T) {
	cause := fmt.Errorf("charge: %w", context.DeadlineExceeded)
	for _, v := range []error{policy.Permanent(cause), policy.RetryAfter(2*time.Second, cause), policy.Stop(cause)} {
		if got := v.Error(); got != cause.Error() {
			t.Errorf("says %q, want its cause %q", got, cause)
		}
		if !errors.Is(v, context.DeadlineExceeded) {
			t.Errorf("%v: errors.Is does not see the cause", v)
		}
	}
	for want, v := range map[string]error{
		"permanent":      policy.Permanent(nil),
		"retry after 0s": policy.RetryAfter(-1, nil),
		"stop":           policy.Stop(nil),
	} {
		if v == nil {
			t.Fatalf("%s of nil is nil", want)
		}
		if got := v.Error(); got != want || errors.Unwrap(v) != nil {
			t.Errorf("says %q around %v, want %q around nil", got, errors.Unwrap(v), want)
		}
	}
}

// saysYes is an error whose As claims to be anything, and then isn't.
type saysYes struct{}

func (saysYes) Error() string { return "yes" }
func (saysYes) As(any) bool   { return true }

func TestG16_DecideSurvivesAnErrorThatClaimsToBeAVerdict(t *testing.T) {
	if got := policy.Decide(policy.Never(), 1, saysYes{}); got != (policy.Decision{Err: saysYes{}}) {
		t.Errorf("decided %+v, want what the policy says", got)
	}
}
