package herald

import (
	"context"
	"fmt"
	"iter"
	"sync/atomic"
)

// A Topic distributes values of type T to its subscriptions. The zero value
// is a topic without a name, ready to use; [NewTopic] makes one with a name
// and options. All methods may be called by any goroutine, also from inside
// handlers, filters and policies. A Topic must not be copied after first use.
type Topic[T any] struct {
	hub atomic.Pointer[hub[T]]
}

// NewTopic makes a topic. Its name consists of words separated by dots, of 1
// to 255 bytes together, valid UTF-8 without control characters; no word is
// empty, "*" or ">". A bad name or option is an error that wraps [ErrName] or
// [ErrOption].
func NewTopic[T any](name string, opts ...TopicOption) (*Topic[T], error) {
	fail := func(err error) (*Topic[T], error) { return nil, &Error{Op: "new topic", Topic: name, Err: err} }
	if err := checkTopicName(name); err != nil {
		return fail(err)
	}
	cfg, err := newTopicConfig(opts)
	if err != nil {
		return fail(err)
	}
	t := new(Topic[T])
	t.hub.Store(newHub[T](name, cfg))
	return t, nil
}

// Name returns the topic's name; it's empty for a zero Topic.
func (t *Topic[T]) Name() string { return t.open().origin.topic }

// Subscribe is a [View] of all messages of the topic made into a
// subscription; see [View.Subscribe].
func (t *Topic[T]) Subscribe(name string, opts ...SubOption) (*Subscription[T], error) {
	return t.view().Subscribe(name, opts...)
}

// Filter returns a view of the messages for which keep returns true. It's
// called by publishers, at the same time by several of them, and must not
// change what the message points to. If it panics, the message is dead for this
// subscription ([FilterFailed]).
func (t *Topic[T]) Filter(keep func(Message[T]) bool) View[T] { return t.view().Filter(keep) }

// KeyBy returns a view in which key gives each message its key, instead of
// [WithKey]. It's called under the same rules as a filter.
func (t *Topic[T]) KeyBy(key func(Message[T]) string) View[T] { return t.view().KeyBy(key) }

// DeadLetterTo returns a view whose dead letters are handed to put, such as
// the method Put of a dlq.Queue. An error or panic of put is counted in
// [SubStats] and logged; the letter is then lost.
func (t *Topic[T]) DeadLetterTo(put func(DeadLetter[T]) error) View[T] {
	return t.view().DeadLetterTo(put)
}

// Subscriptions yields the statistics of the topic's subscriptions, in order
// of their creation. They're taken one after the other. A closed topic still
// yields those that aren't quiet; for a last report keep the subscriptions
// themselves, whose Stats go on working.
func (t *Topic[T]) Subscriptions() iter.Seq[SubStats] {
	return func(yield func(SubStats) bool) {
		for _, c := range t.open().roster.Load().cores() {
			if !yield(c.stats()) {
				return
			}
		}
	}
}

// Stats returns the topic's own statistics.
func (t *Topic[T]) Stats() TopicStats {
	h := t.open()
	r := h.roster.Load()
	return TopicStats{Name: h.origin.topic, Published: h.published(), Subscriptions: r.len(), Closed: r.closed}
}

// Close ends the topic: Publish and Subscribe are [ErrClosed] from now on,
// and its subscriptions are closed as by [Subscription.Close], so that what
// they hold is still delivered. It doesn't wait, and returns nil however often
// it's called.
func (t *Topic[T]) Close() error {
	t.open().close()
	return nil
}

// Drain is Close, then a wait until every subscription that was open then is
// quiet: nothing queued, delayed or in flight. It does not consume anything
// itself. When ctx ends it returns a [*DrainError] that says what is left, and
// may be called again. With the context of a handler of one of the
// subscriptions it's [ErrDeadlock] at once, after closing.
func (t *Topic[T]) Drain(ctx context.Context) error {
	h := t.open()
	if ctx == nil {
		return &Error{Op: "drain", Topic: h.origin.topic, Err: fmt.Errorf("%w: nil context", ErrOption)}
	}
	h.close()
	cores := h.roster.Load().cores()
	for _, c := range cores {
		if err := c.checkOwn(ctx); err != nil {
			return c.fail("drain", err)
		}
	}
	return drainAll(ctx, cores)
}

// view is the whole topic.
func (t *Topic[T]) view() View[T] {
	h := t.open()
	v := View[T]{source: h}
	if put := h.keeper.Put; put != nil {
		v.put = func(d DeadLetter[T]) error { return put(d) }
	}
	return v
}

// open returns the hub, making that of a zero Topic at first use.
func (t *Topic[T]) open() *hub[T] {
	if h := t.hub.Load(); h != nil {
		return h
	}
	cfg, _ := newTopicConfig(nil) // no options, no error
	t.hub.CompareAndSwap(nil, newHub[T]("", cfg))
	return t.hub.Load()
}
