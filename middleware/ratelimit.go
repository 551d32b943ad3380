package middleware

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/heraldbus/herald"
)

// A Limiter says when the next attempt may begin. The *rate.Limiter of
// golang.org/x/time/rate is one.
type Limiter interface {
	// Wait returns nil when it's the caller's turn. When ctx is done before, it
	// returns an error. It's called by as many workers at once as the
	// subscription has.
	Wait(ctx context.Context) error
}

// RateLimit makes each attempt wait for its turn, and its worker with it.
// Subscriptions that share l share its rate.
//
// An error of Wait is a failed attempt with that error, for which the handler
// isn't called. When the consumer's own context ends, the message goes back to
// its place, as always, and the attempt doesn't count.
//
// The limiter doesn't get to see the deadline of the context, only its end. A
// limiter that sees one coming before the caller's turn fails at once, and then
// the last moments of a Run with a deadline would be time enough to make dead
// letters of all that is queued.
//
// A nil l is an error at Subscribe.
func RateLimit(l Limiter) herald.Middleware {
	return func(next herald.Next) herald.Next {
		if isNil(l) {
			panic(errors.New("middleware.RateLimit: nil limiter"))
		}
		return func(ctx context.Context, m herald.Meta) error {
			if err := l.Wait(withoutDeadline{ctx}); err != nil {
				return fmt.Errorf("rate limit: %w", err)
			}
			return next(ctx, m)
		}
	}
}

// withoutDeadline is a context that ends as it did, without saying when.
type withoutDeadline struct{ context.Context }

func (withoutDeadline) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }

func isNil(l Limiter) bool {
	if l == nil {
		return true
	}
	v := reflect.ValueOf(l)
	return v.Kind() == reflect.Pointer && v.IsNil()
}
