package policytest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/heraldbus/herald/policy"
)

// TestRetry checks that r keeps to the rules of [policy.Retry], and reports to t what it breaks:
//
//   - It is valid, if it has a method Validate() error.
//   - It is total: for any count of failed attempts, 0, negative and math.MaxInt included, and any error, nil included,
//     it answers without a panic, and never with a negative delay.
//   - It ends: for one error it goes on up to some attempt and never after that; or, with [Unbounded], without end
//     for at least one error.
//   - It has no state: the same question gets the same answer, in whatever order messages ask; with [Randomised] this
//     is checked of whether it goes on, but not of the delay.
//   - It may be asked by any number of goroutines at once.
//
// It asks some thousand questions. A policy that depends on time passing, or on what only your errors carry, needs more
// tests than this one.
func TestRetry(t testing.TB, r policy.Retry, opts ...Option) {
	t.Helper()
	if r == nil {
		t.Errorf("policytest: the Retry is nil")
		return
	}
	c := claimsOf(opts)
	if v, ok := r.(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			t.Errorf("policytest: %T is not valid: %v", r, err)
			return
		}
	}
	s := retrySubject(r, c)
	answers, err := s.total()
	if err != nil {
		t.Errorf("policytest: %T is not total: %v", r, err)
		return
	}
	if err := ends(s.questions, answers, c.unbounded); err != nil {
		t.Errorf("policytest: %T does not end as it should: %v", r, err)
	}
	if err := s.stateless(answers); err != nil {
		t.Errorf("policytest: %T has state: %v", r, err)
		return
	}
	if err := s.concurrent(answers); err != nil {
		t.Errorf("policytest: %T can't be shared: %v", r, err)
	}
}

// A next is one question to a Retry.
type next struct {
	failed int
	err    error
}

func (n next) String() string { return fmt.Sprintf("Next(%d, %v)", n.failed, n.err) }

// A retry is the answer to a next.
type retry struct {
	delay time.Duration
	again bool
}

func retrySubject(r policy.Retry, c claims) subject[next, retry] {
	return subject[next, retry]{
		ask: func(n next) retry {
			delay, again := r.Next(n.failed, n.err)
			return retry{delay, again}
		},
		wrong: func(a retry) error {
			if a.again && a.delay < 0 {
				return fmt.Errorf("negative delay %v", a.delay)
			}
			return nil
		},
		same: func(a, b retry) bool {
			if c.randomised || !a.again {
				return a.again == b.again
			}
			return a == b
		},
		questions: retryQuestions(),
		patience:  c.patience,
	}
}

// retryQuestions returns every count of failed attempts that matters, in ascending order, with one error after the other.
func retryQuestions() []next {
	counts := []int{math.MinInt, math.MinInt32, -1, 0}
	for n := 1; n <= 300; n++ {
		counts = append(counts, n)
	}
	for n := 512; n < math.MaxInt/2; n *= 2 {
		counts = append(counts, n-1, n)
	}
	counts = append(counts, math.MaxInt-1, math.MaxInt)

	failure := errors.New("failure")
	var questions []next
	for _, err := range []error{
		nil,
		failure,
		fmt.Errorf("wrapped: %w", failure),
		errors.Join(failure, context.DeadlineExceeded),
		context.Canceled,
	} {
		for _, n := range counts {
			questions = append(questions, next{n, err})
		}
	}
	return questions
}

// ends returns what is wrong with how the answers go on and end. For each error they must be true up to some count of
// failed attempts and false from there on. If the policy is said to be unbounded they must be true throughout for some
// error, but it may give up on others.
func ends(questions []next, answers []retry, unbounded bool) error {
	ended, endless := false, false
	for i, q := range questions {
		again := answers[i].again
		switch {
		case q.failed < 1: // asked by nobody but a test; what counts is that it was answered
			ended = false
		case again && ended:
			return fmt.Errorf("%v: goes on, though it gave up after fewer attempts", q)
		case again && q.failed == math.MaxInt && !unbounded:
			return fmt.Errorf("%v: never gives up; if that is meant, the test must say so with Unbounded", q)
		default:
			ended = !again
			endless = endless || q.failed == math.MaxInt && again
		}
	}
	if unbounded && !endless {
		return errors.New("gives up on every error, though it is said to be Unbounded")
	}
	return nil
}
