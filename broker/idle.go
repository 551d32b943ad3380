package broker

import (
	"context"
	"errors"
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
// handled is how many messages were handled, each attempt counted. The error is
// the cause of ctx, or err where a handler returned policy.Stop(err);
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
		wait, ok := untilNext(members)
		if !ok {
			return handled, nil
		}
		if err := s.sleep(ctx, wait); err != nil {
			return handled, err
		}
	}
}

// round lets each member handle a message, if one is ready, and returns how
// many were.
func round(ctx context.Context, members []*member) (n int, err error) {
	for _, m := range members {
		ok, err := m.handler.step(ctx)
		if ok {
			n++
		}
		if err != nil {
			return n, err
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

// untilNext is how long until the first of members has something to do by
// itself.
func untilNext(members []*member) (wait time.Duration, ok bool) {
	for _, m := range members {
		if m.sub.Stats().Paused {
			continue
		}
		if next, will := seam.NextEvent(m.sub); will && (!ok || next < wait) {
			wait, ok = next, true
		}
	}
	return wait, ok
}

// sleep waits so long, or until there's something new.
func (s *shift) sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.wake:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}
