package broker

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/heraldbus/herald"
)

// A shift is one call of Run or RunUntilIdle: who handles messages now. There
// is one at a time.
type shift struct {
	broker *Broker
	wake   chan struct{} // of size 1: there's something new
	hired  []*member     // handled, and not yet recruited; protected by the broker's mutex
}

// begin makes the caller the one who runs the broker. op is what it's
// called.
func (b *Broker) begin(ctx context.Context, op string) (*shift, error) {
	switch {
	case ctx == nil:
		return nil, fail(op, "", "", errNilContext)
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shift != nil {
		return nil, fail(op, "", "", fmt.Errorf("%w: the broker runs already", herald.ErrBusy))
	}
	s := &shift{broker: b, wake: make(chan struct{}, 1)}
	s.hired = slices.SortedFunc(maps.Values(b.members), (*member).order)
	s.hired = slices.DeleteFunc(s.hired, func(m *member) bool { return m.handler == nil })
	b.shift = s
	return s, nil
}

func (s *shift) end() {
	s.broker.mu.Lock()
	defer s.broker.mu.Unlock()
	s.broker.shift = nil
}

// recruit returns what is to be handled since it was last called, in order.
// done: the broker is closed, so that there'll be no more.
func (s *shift) recruit() (ms []*member, done bool) {
	s.broker.mu.Lock()
	defer s.broker.mu.Unlock()
	ms, s.hired = s.hired, nil
	return ms, s.broker.closed.Load()
}

// hireLocked lets whoever runs the broker know that m is to be handled. The
// caller rouses it, once the mutex is free.
func (b *Broker) hireLocked(m *member) {
	if b.shift != nil {
		b.shift.hired = append(b.shift.hired, m)
	}
}

// rouse makes whoever runs the broker look at what there is to do.
func (b *Broker) rouse() {
	b.mu.Lock()
	s := b.shift
	b.mu.Unlock()
	if s != nil {
		s.poke()
	}
}

func (s *shift) poke() {
	select {
	case s.wake <- struct{}{}:
	default: // it's told already
	}
}

// poked reports whether somebody poked since it was last asked.
func (s *shift) poked() bool {
	select {
	case <-s.wake:
		return true
	default:
		return false
	}
}
