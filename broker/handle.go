package broker

import (
	"context"
	"errors"
	"fmt"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/internal/seam"
)

// Handle makes a subscription to the topics that the pattern matches, as
// [Match] does, and lets h handle its messages whenever the broker runs, by
// [Broker.Run] or [Broker.RunUntilIdle]. Errors are those of Match's Subscribe;
// a nil h is one too.
func Handle[T any](b *Broker, pattern, name string, h herald.Handler[T], opts ...herald.SubOption) error {
	if h == nil {
		return fail("handle", pattern, name, errNilHandler)
	}
	_, err := view(&source[T]{broker: b, pattern: pattern, handle: h}).Subscribe(name, opts...)
	return err
}

// Attach lets h handle the messages of s whenever the broker runs. s may be
// made by [Match], or of a topic, whether it's the broker's or not. From now on
// the broker treats s as its own: it's among [Broker.Subscriptions], its name
// is taken, and the broker's Close closes it.
//
// The error is [herald.ErrDuplicate] where another subscription has that
// name, [herald.ErrBusy] where the broker handles s already, and
// [herald.ErrClosed] after Close. s must have no other consumer while the broker
// runs.
func Attach[T any](b *Broker, s *herald.Subscription[T], h herald.Handler[T]) error {
	const op = "attach"
	switch {
	case s == nil:
		return fail(op, "", "", fmt.Errorf("%w: nil subscription", herald.ErrOption))
	case h == nil:
		return fail(op, "", s.Name(), errNilHandler)
	}
	stats := s.Stats()
	m := &member{sub: s, name: s.Name(), foreign: true, handler: newHandler(s, h)}
	b.tidyFor(m.name)
	if err := b.employ(m, stats.Closed); err != nil {
		return fail(op, stats.Topic, stats.Name, err)
	}
	b.rouse()
	return nil
}

// employ gives a member its handler: the one that is there already for m's
// subscription, or else m. A closed one needs no name.
func (b *Broker) employ(m *member, closed bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	there := b.members[m.sub]
	switch {
	case b.closed.Load():
		return herald.ErrClosed
	case there != nil && there.handler != nil:
		return fmt.Errorf("%w: it's this broker", herald.ErrBusy)
	case there != nil:
		there.handler = m.handler
		b.hireLocked(there)
		return nil
	}
	if closed {
		b.joinLocked(m)
		return nil
	}
	if err := b.admitsLocked(m.name); err != nil {
		return err
	}
	b.joinLocked(m)
	b.names[m.name] = m
	return nil
}

func newHandler[T any](s *herald.Subscription[T], h herald.Handler[T]) *handler {
	return &handler{
		run: func(ctx context.Context) error { return s.Run(ctx, h) },
		step: func(ctx context.Context) (bool, error) {
			ok, stopped, err := seam.Step(ctx, s, h)
			if stopped && err == nil {
				err = errStop
			}
			return ok, err
		},
	}
}

// errStop is what policy.Stop(nil) is inside the broker.
var errStop = errors.New("herald: stopped by a handler")
