package herald_test

import (
	"context"
	"errors"
	"strconv"
	"time"

	"pgregory.net/rapid"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// What users write: filters, keys, policies, stores and handlers. Topic and model ask the same functions; what comes of
// the answer is the model's business.

// errUser is the error of all user code.
var errUser = errors.New("user's error")

// errDeadline is the cause of publishers' contexts.
var errDeadline = context.DeadlineExceeded

// keep is a filter, if there's one.
func (o *specOptions) keep(payload int) bool {
	if payload%10 == 7 {
		panic(errUser)
	}
	return payload%o.filter != 0
}

// keyOf is a key function, if there's one.
func (o *specOptions) keyOf(payload int) string {
	if payload%10 == 9 {
		panic(errUser)
	}
	if n := payload % 3; n > 0 {
		return strconv.Itoa(n)
	}
	return ""
}

// see applies filter and key function to a message.
func (s *specSub) see(m *specMessage) (keep bool, err error) {
	err = panicking(func() {
		if keep = s.filter == 0 || s.keep(m.payload); keep && s.keyBy {
			m.key = s.keyOf(m.payload)
		}
	})
	return keep, err
}

// panicking returns what f panicked with.
func panicking(f func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = v.(error)
		}
	}()
	f()
	return nil
}

// ask is what the overflow policy says to a message that has waited so long (G15).
func (s *specSub) ask(m *specMessage, waited time.Duration) (a policy.Action, err error) {
	if !s.custom {
		return s.overflow, nil
	}
	victim := s.victim()
	full := policy.Full{
		Capacity: s.capacity, Priority: m.priority, Waited: waited,
		Lowest: victim.priority, OldestAge: s.topic.now - victim.accepted,
	}
	s.topic.fulls = append(s.topic.fulls, full)
	err = panicking(func() { a = specPolicy(full) })
	if err == nil && a.Validate() != nil {
		err = errAny
	}
	return a, err
}

// overflowFunc makes a function an Overflow.
type specOverflow func(policy.Full) policy.Action

func (f specOverflow) OnFull(full policy.Full) policy.Action { return f(full) }

// A specLetter is a dead letter.
type specLetter struct {
	specMessage
	reason   herald.Reason
	err      error
	at       time.Duration
	replayed bool
}

// put hands a message to the store, and reports whether that kept it.
func (s *specSub) put(m *specMessage, r herald.Reason, err error, at time.Duration) bool {
	if s.store == noStore {
		return false
	}
	s.letters = append(s.letters, &specLetter{specMessage: *m, reason: r, err: err, at: at})
	if panicking(func() { err = s.keeps(m.payload) }) == nil && err == nil {
		return true
	}
	s.count.PutFailed++
	return false
}

// keeps is the store's answer to a letter.
func (o *specOptions) keeps(payload int) error {
	switch {
	case o.store == brittleStore && payload%4 == 2:
		return errUser
	case o.store == brittleStore && payload%4 == 3:
		panic(errUser)
	}
	return nil
}

// retry is what the handler's verdict says about a next attempt, or else the retry policy, unless it breaks.
func (s *specSub) retry(m *specMessage, o outcome) (delay time.Duration, again, broken bool) {
	failed := int(m.attempt)
	switch {
	case o.kind == byRetryAfter:
		return o.delay, true, false
	case failed <= len(s.delays):
		return s.delays[failed-1], true, false
	}
	return 0, false, s.brittleRetry
}

// brittleRetry is a policy that breaks at the second failure.
type brittleRetry struct{}

func (brittleRetry) Next(failed int, _ error) (time.Duration, bool) {
	if failed > 1 {
		panic(errUser)
	}
	return time.Second, true
}

// errAny stands for an error whose identity is not promised.
var errAny = errors.New("some error")

// specPolicy decides by all it's told.
func specPolicy(f policy.Full) policy.Action {
	switch {
	case f.Capacity == 1 && f.Priority == policy.Critical:
		panic(errUser)
	case f.Capacity == 1 && f.Priority == policy.High:
		return policy.Action{} // no answer
	case f.Capacity == 3 && f.Priority == policy.Normal:
		return policy.DeadLetter()
	case f.OldestAge >= 3*time.Second || f.Lowest < f.Priority:
		return policy.DropOldest()
	case f.Priority == policy.Low:
		return policy.DropNewest()
	case f.Waited < 2*time.Second:
		return policy.Block(time.Second)
	}
	return policy.Reject()
}

// An outcome is how an attempt ends.
type outcome struct {
	kind  outcomeKind
	delay time.Duration // of a RetryAfter
}

type outcomeKind int

const (
	bySuccess outcomeKind = iota
	byError               // returns an error
	byPanic
	byPermanent  // up: Permanent
	byRetryAfter // RetryAfter
	byStop       // Stop
	byGoexit     // runtime.Goexit
	byCancel     // fails after its consumer's context has ended
	byLeaseEnd   // its lease
	byLeaving    // Nack(nil)
)

func drawOutcome(r *rapid.T, kinds ...outcomeKind) outcome {
	o := outcome{kind: rapid.SampledFrom(kinds).Draw(r, "outcome")}
	if o.kind == byRetryAfter {
		o.delay = time.Duration(rapid.IntRange(0, 2).Draw(r, "after")) * time.Second
	}
	return o
}

// error is what a handler returns or a Nack is given.
func (o outcome) error() error {
	switch o.kind {
	case bySuccess, byLeaving:
		return nil
	case byPermanent:
		return policy.Permanent(errUser)
	case byRetryAfter:
		return policy.RetryAfter(o.delay, errUser)
	case byStop:
		return policy.Stop(errUser)
	}
	return errUser
}

// err is what a dead letter says of it.
func (o outcome) err() error {
	switch o.kind {
	case byGoexit:
		return herald.ErrHandlerExited
	case byLeaseEnd:
		return herald.ErrLeaseLost
	case byLeaving:
		return herald.ErrUnsettled
	}
	return errUser
}
