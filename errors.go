package herald

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// States that a call can meet. They come wrapped in an error that names the
// topic and the subscription: test with errors.Is.
var (
	ErrClosed        = errors.New("herald: closed")
	ErrFull          = errors.New("herald: queue full")
	ErrBusy          = errors.New("herald: busy: there is another consumer")
	ErrDeadlock      = errors.New("herald: deadlock")
	ErrDisconnected  = errors.New("herald: disconnected, too slow")
	ErrLeaseLost     = errors.New("herald: lease lost")
	ErrSettled       = errors.New("herald: already settled")
	ErrUnsettled     = errors.New("herald: left unsettled")
	ErrDuplicate     = errors.New("herald: name in use")
	ErrLimit         = errors.New("herald: limit reached")
	ErrName          = errors.New("herald: bad name")
	ErrOption        = errors.New("herald: bad option")
	ErrTrimmed       = errors.New("herald: no longer retained")
	ErrHandlerExited = errors.New("herald: handler called runtime.Goexit")
)

// An Error says which call failed, where and why. Err is one of the states
// above, the cause of a context that ended, or says in words which argument
// was wrong (it then wraps [ErrOption] or [ErrName]).
type Error struct {
	Op           string // the call, such as "publish"
	Topic        string // empty for a zero topic
	Subscription string // empty where the call concerns the topic
	Err          error
}

func (e *Error) Error() string {
	where := place(e.Topic, e.Subscription)
	if where != "" {
		where = " " + where
	}
	return e.Op + where + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// A Refusal names a subscription that did not accept a message, and why:
// [ErrFull], [ErrDeadlock], [ErrDisconnected], or the cause of the
// publisher's context.
type Refusal struct {
	Subscription string
	Err          error
}

// A PublishError says which of the subscriptions that a message was offered
// to did not accept it. All others did.
type PublishError struct {
	Topic   string
	Seq     uint64
	Refused []Refusal
}

func (e *PublishError) Error() string {
	var b strings.Builder
	b.WriteString("publish")
	if e.Topic != "" {
		b.WriteString(" " + e.Topic)
	}
	fmt.Fprintf(&b, ": message %d refused by ", e.Seq)
	for i, r := range e.Refused {
		if i == 8 {
			fmt.Fprintf(&b, " and %d more", len(e.Refused)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s (%v)", r.Subscription, r.Err)
	}
	return b.String()
}

func (e *PublishError) Unwrap() []error {
	errs := make([]error, len(e.Refused))
	for i, r := range e.Refused {
		errs[i] = r.Err
	}
	return errs
}

// A DrainError says what was left when the context of a Drain ended: the
// statistics of each subscription that isn't quiet, its handlers under way
// among them.
type DrainError struct {
	Left []SubStats
	Err  error // the cause of the context
}

func (e *DrainError) Error() string {
	var b strings.Builder
	b.WriteString("drain: ")
	for i, s := range e.Left {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s has %d queued, %d delayed, %d in flight",
			place(s.Topic, s.Name), s.Queued, s.Delayed, s.InFlight)
	}
	return fmt.Sprintf("%s: %v", b.String(), e.Err)
}

func (e *DrainError) Unwrap() error { return e.Err }

// A PanicError is the error of an attempt whose handler panicked, and what
// is reported of a filter, key function, policy or Put that did.
type PanicError struct {
	Value any
	Stack []byte // at most 4 KiB
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns Value if it's an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// A TrimmedError is the [ErrTrimmed] of a subscription that retention has
// overtaken. It's reported once; reading goes on at First.
type TrimmedError struct {
	Lost  uint64 // messages that the subscription didn't get
	First uint64 // the Seq of the first one retained
}

func (e *TrimmedError) Error() string {
	return fmt.Sprintf("%v: %d messages lost, the first is %d", ErrTrimmed, e.Lost, e.First)
}

func (e *TrimmedError) Unwrap() error { return ErrTrimmed }

// A DeadlockError is the [ErrDeadlock] of a publish that would have waited
// for ever.
type DeadlockError struct {
	// Chain names the subscriptions that wait in a circle: the first is full,
	// its handler waits for room in the next, and so on; the last is the first
	// again.
	Chain []string
}

func (e *DeadlockError) Error() string {
	return ErrDeadlock.Error() + ": " + strings.Join(e.Chain, " waits for ")
}

func (e *DeadlockError) Unwrap() error { return ErrDeadlock }

// place names a topic and a subscription in an error.
func place(topic, sub string) string {
	switch {
	case sub == "":
		return topic
	case topic == "":
		return sub
	}
	return topic + "/" + sub
}

// ended is the error of a context that is done: its cause, and what Err says
// where that is something else.
func ended(ctx context.Context) error {
	cause, err := context.Cause(ctx), ctx.Err()
	same := false
	_ = guard(func() error { same = errors.Is(cause, err); return nil }) // the cause's own methods are user code
	if !same {
		return fmt.Errorf("%w (%w)", cause, err)
	}
	return cause
}
