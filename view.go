package herald

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/heraldbus/herald/internal/seam"
)

// A View is a topic as one subscription will see it: a part of its messages,
// their keys, and where the dead ones go. It's a value and may be reused for
// any number of subscriptions. The zero View sees nothing: its Subscribe is an
// error.
type View[T any] struct {
	source seam.Source
	keep   func(Message[T]) bool
	key    func(Message[T]) string
	put    func(DeadLetter[T]) error
	err    error // of what was asked for so far, reported by Subscribe
}

// Filter returns a view of those messages of v for which keep returns true
// too; see [Topic.Filter]. A nil keep is an error at Subscribe.
func (v View[T]) Filter(keep func(Message[T]) bool) View[T] {
	switch before := v.keep; {
	case keep == nil:
		v.err = errors.Join(v.err, fmt.Errorf("%w: nil filter", ErrOption))
	case before == nil:
		v.keep = keep
	default:
		v.keep = func(m Message[T]) bool { return before(m) && keep(m) }
	}
	return v
}

// KeyBy returns v with key giving the keys; see [Topic.KeyBy]. It replaces an
// earlier KeyBy. A nil key is an error at Subscribe. Filters see the key that
// the publisher gave.
func (v View[T]) KeyBy(key func(Message[T]) string) View[T] {
	if key == nil {
		v.err = errors.Join(v.err, fmt.Errorf("%w: nil key function", ErrOption))
		return v
	}
	v.key = key
	return v
}

// DeadLetterTo returns v with its dead letters going to put; see
// [Topic.DeadLetterTo]. It replaces an earlier DeadLetterTo. A nil put is an
// error at Subscribe.
func (v View[T]) DeadLetterTo(put func(DeadLetter[T]) error) View[T] {
	if put == nil {
		v.err = errors.Join(v.err, fmt.Errorf("%w: nil dead-letter function", ErrOption))
		return v
	}
	v.put = put
	return v
}

// Subscribe makes a subscription that is offered every message whose Publish
// begins after Subscribe has returned; on a topic [WithRetain] earlier ones too, as
// [WithStart] says. Its name, of 1 to 255 bytes, valid
// UTF-8 without control characters, is unique among the open subscriptions of
// the topic ([ErrDuplicate]). Nothing is consumed until somebody calls Run,
// Step or Receive; until then messages queue up. A bad name or option is an
// error that wraps [ErrName] or [ErrOption], and changes nothing; a closed topic
// is [ErrClosed], one with too many subscriptions [ErrLimit].
func (v View[T]) Subscribe(name string, opts ...SubOption) (*Subscription[T], error) {
	if v.source == nil {
		return nil, &Error{Op: "subscribe", Subscription: name, Err: fmt.Errorf("%w: zero View", ErrOption)}
	}
	topic, log := v.source.Describe()
	s, err := v.subscribe(topic, name, log, opts)
	if err != nil {
		return nil, &Error{Op: "subscribe", Topic: topic, Subscription: name, Err: err}
	}
	return s, nil
}

func (v View[T]) subscribe(topic, name string, log *slog.Logger, opts []SubOption) (*Subscription[T], error) {
	if err := checkSubscriptionName(name); err != nil {
		return nil, err
	}
	cfg, err := newSubConfig(opts)
	if err := errors.Join(v.err, err); err != nil {
		return nil, err
	}
	h, _ := v.source.(*hub[T])
	if err := cfg.checkSource(h != nil && h.log != nil); err != nil {
		return nil, err
	}
	s := &Subscription[T]{view: v}
	s.core.init(topic, name, cfg, v.put != nil, log, s)
	if h != nil && h.log != nil {
		s.core.readFrom(&h.log.tail)
	}
	s.core.plain.bare = s.core.plain.on && v.keep == nil && v.key == nil
	if err := s.wrap(cfg.middleware); err != nil {
		return nil, err
	}
	if err := s.core.checkPlan(); err != nil {
		return nil, err
	}
	s.home = &home[T]{}
	s.home.sub.Store(s)
	if err := v.source.Add(s, name); err != nil {
		return nil, err
	}
	return s, nil
}
