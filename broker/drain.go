package broker

import (
	"context"
	"errors"
	"slices"

	"github.com/heraldbus/herald"
)

// Close closes all topics and subscriptions: to make topics and
// subscriptions, and to publish, is [herald.ErrClosed] from now on. What
// subscriptions hold is still delivered, and a Run goes on until it is. Close
// doesn't wait, and returns nil however often it's called.
func (b *Broker) Close() error {
	topics, members := b.shut()
	for _, t := range topics {
		_ = t.typed.Close() // is nil, and closes the topic's own
	}
	for _, m := range members {
		if m.foreign || m.pattern != "" {
			_ = b.close(m)
		}
	}
	b.rouse()
	return nil
}

// shut marks the broker closed and returns what there is to close.
func (b *Broker) shut() ([]*topic, []*member) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed.Store(true)
	open := make([]*member, 0, len(b.names))
	for _, m := range b.names {
		m.awaited = true
		open = append(open, m)
	}
	slices.SortFunc(open, (*member).order)
	return b.withinLocked(">"), open
}

// Drain is Close, then a wait until every subscription that was open then,
// and every one that the broker handles, is quiet. It doesn't handle anything
// itself: that is for a Run that is under way, or who else consumes them.
// When ctx ends it returns a [*herald.DrainError] that says what is left, and
// may be called again. With the context of a handler of one of the
// subscriptions it's [herald.ErrDeadlock], after closing.
func (b *Broker) Drain(ctx context.Context) error {
	const op = "drain"
	if ctx == nil {
		return fail(op, "", "", errNilContext)
	}
	_ = b.Close()
	members := b.listMembers()
	if err := deadlock(ctx, op, members); err != nil {
		return err
	}
	for i, m := range members {
		if err := m.sub.WaitIdle(ctx); err != nil {
			return left(ctx, members[i:])
		}
	}
	b.tidy()
	return nil
}

// left reports which of members aren't quiet; nil if all are by now.
func left(ctx context.Context, members []*member) error {
	e := &herald.DrainError{Err: context.Cause(ctx)}
	for _, m := range members {
		if s := m.sub.Stats(); !isQuiet(s) {
			e.Left = append(e.Left, s)
		}
	}
	if len(e.Left) == 0 {
		return nil
	}
	return e
}

// WaitIdle waits until all subscriptions of the broker are quiet at one
// moment, handled or not: nothing queued, delayed or in flight. It returns nil
// then, or the cause of ctx. With the context of a handler of one of them it's
// [herald.ErrDeadlock].
func (b *Broker) WaitIdle(ctx context.Context) error {
	const op = "wait idle"
	if ctx == nil {
		return fail(op, "", "", errNilContext)
	}
	for {
		members := b.listMembers()
		if err := deadlock(ctx, op, members); err != nil {
			return err
		}
		for _, m := range members {
			if err := m.sub.WaitIdle(ctx); err != nil {
				return err
			}
		}
		switch {
		case b.isQuiet(members):
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
	}
}

// isQuiet reports whether there was a moment at which all members were quiet.
// It looks at each twice: if both times it was quiet and had accepted the
// same, it was quiet all the time between, and so all were at the end of the
// first look.
func (b *Broker) isQuiet(members []*member) bool {
	accepted := make([]uint64, len(members))
	for i, m := range members {
		s := m.sub.Stats()
		if !isQuiet(s) {
			return false
		}
		accepted[i] = s.Accepted
	}
	for i, m := range members {
		if s := m.sub.Stats(); !isQuiet(s) || s.Accepted != accepted[i] {
			return false
		}
	}
	return slices.Equal(members, b.listMembers())
}

// deadlock returns the error of a wait for members with the context of a
// handler of one of them: it would wait for itself.
func deadlock(ctx context.Context, op string, members []*member) error {
	probe, cancel := context.WithCancel(ctx) // it's done, so that WaitIdle doesn't wait
	cancel()
	for _, m := range members {
		err := m.sub.WaitIdle(probe)
		if e, ok := errors.AsType[*herald.DeadlockError](err); ok {
			return fail(op, m.sub.Stats().Topic, m.name, e)
		}
	}
	return nil
}
