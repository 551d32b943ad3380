package policytest

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/heraldbus/herald/policy"
)

// TestOverflow checks that o keeps to the rules of [policy.Overflow], and reports to t what it breaks:
//
//   - It is valid, if it has a method Validate() error, as an [policy.Action] has.
//   - It is total: for any [policy.Full], the zero one and extremes included, it answers without a panic, and with an
//     Action whose own Validate is nil. The zero Action is none.
//   - Its waits end: to a publish that has waited for ever it does not answer one more Block with a time but no Else, as
//     it would be asked again, and again. Block(0), which says that it waits without limit, will do; so will [Unbounded].
//   - It has no state: the same question gets the same answer, in whatever order publishers ask.
//   - It may be asked by any number of goroutines at once.
//
// With [Randomised], whether waits end and answers are alike is not checked. An [policy.Action] is never asked again, so
// its waits always end.
//
// It asks some thousand questions. A policy with a threshold of its own needs a test on both sides of it besides.
func TestOverflow(t testing.TB, o policy.Overflow, opts ...Option) {
	t.Helper()
	if o == nil {
		t.Errorf("policytest: the Overflow is nil")
		return
	}
	if v, ok := o.(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			t.Errorf("policytest: %T is not valid: %v", o, err)
			return
		}
	}
	c := claimsOf(opts)
	s := overflowSubject(o, c)
	answers, err := s.total()
	if err != nil {
		t.Errorf("policytest: %T is not total: %v", o, err)
		return
	}
	if _, plain := o.(policy.Action); !plain && !c.randomised && !c.unbounded {
		if err := waitsEnd(s.questions, answers); err != nil {
			t.Errorf("policytest: %T may wait for ever: %v", o, err)
		}
	}
	if err := s.stateless(answers); err != nil {
		t.Errorf("policytest: %T has state: %v", o, err)
		return
	}
	if err := s.concurrent(answers); err != nil {
		t.Errorf("policytest: %T can't be shared: %v", o, err)
	}
}

// A full is one question to an Overflow.
type full struct{ policy.Full }

func (f full) String() string { return fmt.Sprintf("OnFull(%+v)", f.Full) }

func overflowSubject(o policy.Overflow, c claims) subject[full, policy.Action] {
	return subject[full, policy.Action]{
		ask:       func(f full) policy.Action { return o.OnFull(f.Full) },
		wrong:     policy.Action.Validate,
		same:      func(a, b policy.Action) bool { return c.randomised || a.Equal(b) },
		questions: overflowQuestions(),
		patience:  c.patience,
	}
}

// overflowQuestions returns the product of what each field of a Full may be, and may not be but a policy should survive.
func overflowQuestions() []full {
	capacities := []int{math.MinInt, 0, 1, 1024, math.MaxInt}
	priorities := []policy.Priority{
		math.MinInt8, policy.Low, policy.Normal, policy.High, policy.Critical, math.MaxInt8,
	}
	waits := []time.Duration{0, 1, time.Second, math.MaxInt64, -1}
	ages := []time.Duration{0, time.Minute, math.MaxInt64, math.MinInt64}

	var questions []full
	for _, capacity := range capacities {
		for _, priority := range priorities {
			for _, lowest := range priorities {
				for _, waited := range waits {
					for _, age := range ages {
						questions = append(questions, full{policy.Full{
							Capacity: capacity, Priority: priority, Lowest: lowest, Waited: waited, OldestAge: age,
						}})
					}
				}
			}
		}
	}
	return questions
}

// waitsEnd returns what is wrong with the answers to publishes that have waited as long as can be.
func waitsEnd(questions []full, answers []policy.Action) error {
	for i, q := range questions {
		if q.Waited < math.MaxInt64 {
			continue
		}
		last := answers[i]
		for then, ok := last.Then(); ok; then, ok = last.Then() {
			last = then
		}
		if last.Kind() == policy.KindBlock && last.Max() > 0 {
			return fmt.Errorf("%v: %v, and then it is asked again: say what happens with Else, or answer something else when "+
				"Waited is long; if waiting on is meant, answer Block(0), or say so in the test with Unbounded", q, answers[i])
		}
	}
	return nil
}
