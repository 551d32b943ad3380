package broker

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/internal/pattern"
	"github.com/heraldbus/herald/internal/seam"
)

// Match returns a view of all topics whose name the pattern matches, present
// and future, as far as their values are of type T or, where T is an interface,
// implement it; other topics aren't part of it. In a pattern "*" stands for one
// word and a final ">" for one or more; next to other characters both are
// literals. A name without wildcards is a pattern too, and doesn't need its
// topic to be there yet.
//
// The view's Subscribe is an error that wraps [herald.ErrName] where the
// pattern is malformed, and a [*TypeError] where it's the name of a topic with
// values of another type. (If such a topic is made later the broker logs a
// warning.) A subscription's name is unique in the broker. Its dead letters go
// to [Broker.DeadLetters] unless the view says otherwise. Nobody consumes it
// until its user, or [Attach], does.
func Match[T any](b *Broker, pattern string) herald.View[T] {
	return view(&source[T]{broker: b, pattern: pattern})
}

// view makes src a view. A nil broker shows at once.
func view[T any](src *source[T]) herald.View[T] {
	b := src.broker
	b.closed.Load()
	var v herald.View[T]
	v = v.DeadLetterTo(func(d herald.DeadLetter[T]) error { return put(b, d) })
	seam.SetSource(&v, src)
	return v
}

// A source is where the subscriptions of one Match or Handle get their
// messages from.
type source[T any] struct {
	broker  *Broker
	pattern string
	handle  herald.Handler[T] // nil: the broker doesn't
}

// Describe implements [seam.Source].
func (s *source[T]) Describe() (string, *slog.Logger) { return s.pattern, s.broker.log() }

// Add implements [seam.Source].
func (s *source[T]) Add(sub any, name string) error {
	if err := pattern.Check(s.pattern); err != nil {
		return fmt.Errorf("%w: %w", herald.ErrName, err)
	}
	typed := sub.(*herald.Subscription[T])
	m := &member{sub: typed, name: name, pattern: s.pattern, elem: reflect.TypeFor[T]()}
	s.broker.tidyFor(name)
	if s.handle == nil {
		return s.broker.join(m)
	}
	m.handler = newHandler(typed, s.handle)
	defer s.broker.rouse()
	return s.broker.join(m)
}

// Remove implements [seam.Source]. It's called when the subscription closes,
// perhaps more than once.
func (s *source[T]) Remove(sub any) {
	if m := s.broker.memberOf(sub.(subscription)); m != nil {
		s.broker.leave(m)
	}
}

func (b *Broker) memberOf(sub subscription) *member {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.members[sub]
}

// join makes m, which has a pattern, a member: every topic that matches
// offers it what is published from now on.
func (b *Broker) join(m *member) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.admitsLocked(m.name); err != nil {
		return err
	}
	if n := b.patterns.Len(); n >= limit(b.cfg.patterns, defaultPatterns) {
		return fmt.Errorf("%w: %d patterns", herald.ErrLimit, n)
	}
	topics := b.withinLocked(m.pattern)
	if pattern.IsName(m.pattern) && len(topics) > 0 && !m.takes(topics[0]) {
		return &TypeError{Topic: m.pattern, Has: topics[0].elem, Asked: m.elem}
	}
	if err := connect(m, topics); err != nil {
		return err
	}
	b.patterns.Add(m.pattern, m)
	b.joinLocked(m)
	b.names[m.name] = m
	return nil
}

// connect lets those of topics that m takes offer to it, or none at all.
func connect(m *member, topics []*topic) error {
	for i, t := range topics {
		if !m.takes(t) {
			continue
		}
		err := seam.Attach(t.typed, m.sub)
		if err == nil || errors.Is(err, herald.ErrClosed) { // its user has closed it: nothing will come
			continue
		}
		for _, t := range topics[:i] {
			seam.Detach(t.typed, m.sub)
		}
		return fmt.Errorf("topic %s: %w", t.name, err)
	}
	return nil
}
