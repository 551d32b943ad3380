package broker

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/heraldbus/herald/internal/seam"
)

// RunUntilIdle lets the handlers of [Handle] and [Attach] handle messages on
// the caller's goroutine, until nothing is left for them to do. It's for tests
// and for programs that want to decide themselves when something happens:
// given the same messages it does the same in the same order. In turn each
// subscription, in order of their making, handles one message by
// [herald.Subscription.Step], whatever its concurrency. Where none has one that
// is ready, RunUntilIdle waits for what becomes due later, a retry or a delayed
// message.
//
// It's idle when no subscription that it handles has a message that is ready
// or becomes due by itself. Paused subscriptions count for nothing here, and
// neither do those that the broker doesn't handle.
//
// handled is how many messages were handled, failed attempts counted, too. The
// error is the cause of ctx, or err where a handler returned policy.Stop(err);
// [herald.ErrBusy] is as for [Broker.Run].
func (b *Broker) RunUntilIdle(ctx context.Context) (handled int, err error) {
	s, err := b.begin(ctx, "run until idle")
	if err != nil {
		return 0, err
	}
	defer s.end()
	var members []*member
	for {
		fresh, _ := s.recruit()
		members = append(members, fresh...)
		n, err := round(ctx, members)
		handled += n
		switch {
		case errors.Is(err, errStop):
			return handled, nil
		case err != nil:
			return handled, err
		case n > 0:
			continue
		}
		members = slices.DeleteFunc(members, s.dismiss)
		more, err := s.rest(ctx, members)
		if err != nil || !more {
			return handled, err
		}
	}
}

// round lets each member handle a message, if one is ready, and returns how
// many were.
func round(ctx context.Context, members []*member) (n int, err error) {
	for _, m := range members {
		ok, err := m.handler.step(ctx)
		if err != nil {
			return n, err
		}
		if ok {
			n++
		}
	}
	return n, nil
}

// dismiss forgets m if it's over, and reports whether it is.
func (s *shift) dismiss(m *member) bool {
	over := isOver(m.sub.Stats())
	if over {
		s.broker.forget(m)
	}
	return over
}

// rest waits until one of members has something to do, or there's something
// new. It returns false where nothing is to be expected.
func (s *shift) rest(ctx context.Context, members []*member) (more bool, err error) {
	wait := time.Duration(math.MaxInt64)
	for _, m := range members {
		next, ok, leave := seam.Rest(m.sub, s.wake)
		defer leave()
		if ok {
			wait = min(wait, next)
			more = more || !m.sub.Stats().Paused
		}
	}
	if !more {
		return s.poked(), nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-s.wake:
	case <-timer.C:
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
	return true, nil
}
