package policy

import "time"

// Permanent returns an error by which a handler says that the message is not worth retrying: it is dead at once, whatever
// the [Retry] says. It wraps err, which may be nil: the verdict is the same and the result is never nil.
//
// This and [RetryAfter] and [Stop] are found by [Decide] however deep they are wrapped. Where there are several the
// outermost counts, and of those that errors.Join or several %w put side by side, the first.
func Permanent(err error) error {
	return &verdict{kind: permanent, err: err}
}

// RetryAfter returns an error by which a handler says that the message is to be tried again d after the end of this
// attempt, whatever the [Retry] says, the number of its attempts included: a handler that always returns it is tried
// without end. A negative d counts as 0. It wraps err, which may be nil: the verdict is the same and the result is
// never nil.
func RetryAfter(d time.Duration, err error) error {
	return &verdict{kind: retryAfter, delay: max(d, 0), err: err}
}

// Stop returns an error by which a handler says that Run is to end: the message keeps its place, no attempt is used, and
// Run returns err. It wraps err, which may be nil: Run ends all the same, with nil, and the result is never nil.
func Stop(err error) error {
	return &verdict{kind: stop, err: err}
}

// A verdict is a handler's word on its message, an error around the one that was the cause.
type verdict struct {
	kind  verdictKind
	delay time.Duration // of retryAfter; not negative
	err   error         // the cause; may be nil
}

type verdictKind uint8

const (
	permanent verdictKind = iota
	retryAfter
	stop
)

// Error returns what the cause says: the verdict is for herald, the error for those who read it later. Without a cause
// it names the verdict.
func (v *verdict) Error() string {
	if v.err == nil {
		return v.name()
	}
	return v.err.Error()
}

// Unwrap returns the cause, so that errors.Is and errors.As see through the verdict.
func (v *verdict) Unwrap() error { return v.err }

func (v *verdict) name() string {
	switch v.kind {
	case permanent:
		return "permanent"
	case retryAfter:
		return "retry after " + v.delay.String()
	default:
		return "stop"
	}
}
