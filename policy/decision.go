package policy

import (
	"errors"
	"time"
)

// A Decision is what becomes of a message whose attempt failed. At most one of Again, Permanent and Stop is set; if none
// is, the retries are exhausted.
type Decision struct {
	Again     bool          // try again
	Delay     time.Duration // before the next attempt, never negative; 0 unless Again
	Permanent bool          // the handler said it is not worth retrying
	Stop      bool          // the handler said to keep the message and end Run
	Err       error         // the error as the handler returned it, but what [Stop] was given where Stop is set
}

// Decide says what becomes of a message of which so many attempts have failed, the last with err. It goes by the verdict
// in err where there is one, and asks r otherwise; a nil r means the default, Exponential{}. A negative delay becomes 0,
// and a delay without again too.
//
// Decide does not recover a panic of r: the caller does, and it knows what to say about it.
func Decide(r Retry, failed int, err error) Decision {
	if v, ok := errors.AsType[*verdict](err); ok && v != nil {
		return v.decision(err)
	}
	if r == nil {
		r = Exponential{}
	}
	delay, again := r.Next(failed, err)
	if !again {
		return Decision{Err: err}
	}
	return Decision{Again: true, Delay: max(delay, 0), Err: err}
}

// decision returns what v says about a message whose handler returned err, somewhere in which v was found.
func (v *verdict) decision(err error) Decision {
	switch v.kind {
	case permanent:
		return Decision{Permanent: true, Err: err}
	case retryAfter:
		return Decision{Again: true, Delay: v.delay, Err: err}
	default:
		return Decision{Stop: true, Err: v.err}
	}
}
