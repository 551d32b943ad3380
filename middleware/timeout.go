package middleware

import (
	"context"
	"fmt"
	"time"

	"github.com/heraldbus/herald"
)

// Timeout ends the context of each attempt d after its start. The cause of
// that context says so, and how long d was, and wraps
// [context.DeadlineExceeded].
//
// It's cooperative: nothing takes the message from a handler that doesn't mind
// its context, and the worker stays taken until it returns. What it returns
// counts: an error is a failed attempt, whose next begins with a new context, and
// nil is success, also after the time is up. The context ends with the attempt,
// in time or not.
//
// A d that isn't positive is an error at Subscribe.
func Timeout(d time.Duration) herald.Middleware {
	return func(next herald.Next) herald.Next {
		if d <= 0 {
			panic(fmt.Errorf("middleware.Timeout: %v is not positive", d))
		}
		cause := fmt.Errorf("attempt timed out after %v: %w", d, context.DeadlineExceeded)
		return func(ctx context.Context, m herald.Meta) error {
			ctx, cancel := context.WithTimeoutCause(ctx, d, cause)
			defer cancel()
			return next(ctx, m)
		}
	}
}
