package herald

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// A Reason says why a message is dead.
type Reason uint8

// The reasons.
const (
	RetriesExhausted Reason = iota // the retry policy gave up
	Overflow                       // the queue was full
	Expired                        // too old to be handled
	Permanent                      // the handler said so, by policy.Permanent
	FilterFailed                   // the filter or key function panicked
	PolicyFailed                   // an overflow or retry policy panicked or answered nonsense
	reasons
)

var reasonNames = [...]string{"retries exhausted", "overflow", "expired", "permanent", "filter failed", "policy failed"}

func (r Reason) String() string {
	if r >= reasons {
		return fmt.Sprintf("reason(%d)", uint8(r))
	}
	return reasonNames[r]
}

// A DeadLetter is a message that a subscription could not deliver, and why.
// It's a value, and may be copied and kept for as long as one likes: it
// keeps neither the subscription nor the topic in memory.
type DeadLetter[T any] struct {
	Message[T]          // Attempt says how many attempts were made
	Subscription string // that failed
	Reason       Reason
	Err          error     // of the last attempt; errors.Is and errors.As work
	At           time.Time // when it died; for Expired the time at which it expired

	ticket *ticket[T] // shared by all copies; nil: no way home
}

// Replay sends the message back to the subscription that failed, and only
// there: it's accepted anew at the end of the line, its attempts start anew,
// and [Meta.Replays] grows. Neither filter nor overflow policy are asked:
// where there's no room it's [ErrFull], and the letter can be replayed later.
// Of a letter and all its copies only one replay succeeds; the others are
// [ErrSettled]. A closed subscription, and a letter that wasn't made by one, is
// [ErrClosed]. Replay never waits; a ctx that is done is an error.
func (d DeadLetter[T]) Replay(ctx context.Context) error {
	if ctx == nil {
		return d.fail(fmt.Errorf("%w: nil context", ErrOption))
	}
	if ctx.Err() != nil {
		return d.fail(ended(ctx))
	}
	if d.ticket == nil {
		return d.fail(ErrClosed)
	}
	if d.rare == nil || !d.Priority.Valid() {
		return d.fail(fmt.Errorf("%w: a message that was not published, or a priority of %d", ErrOption, d.Priority))
	}
	if err := d.ticket.use(&d.Message); err != nil {
		return d.fail(err)
	}
	return nil
}

// Replayed reports whether the letter, or a copy of it, was replayed.
func (d DeadLetter[T]) Replayed() bool { return d.ticket != nil && d.ticket.used.Load() }

func (d DeadLetter[T]) fail(err error) error {
	return &Error{Op: "replay", Topic: d.Topic(), Subscription: d.Subscription, Err: err}
}

// A ticket is the one way home of a dead letter and its copies.
type ticket[T any] struct {
	used atomic.Bool // set under the mutex of the one core it leads to, so of concurrent replays one wins
	home *home[T]
}

// A home leads to a subscription while it's open. Dead letters have it
// rather than the subscription itself, so that they don't keep it in memory.
type home[T any] struct {
	sub atomic.Pointer[Subscription[T]]
}

func (t *ticket[T]) use(m *Message[T]) error {
	if t.used.Load() {
		return ErrSettled
	}
	s := t.home.sub.Load()
	if s == nil {
		return ErrClosed
	}
	return s.replay(m, &t.used)
}

// replay takes m in as a message that comes back from a dead letter, unless
// used says that it came back before. used is set before anybody can see the
// message, so that a store that keeps the letter knows that it's gone.
func (s *Subscription[T]) replay(m *Message[T], used *atomic.Bool) error {
	c := &s.core
	back := *m.rare
	back.replays++
	back.ttl, back.expires = 0, 0
	c.mu.Lock()
	c.sweep()
	if used.Load() {
		c.unlock()
		return ErrSettled
	}
	if c.closed {
		c.unlock()
		return ErrClosed
	}
	if c.crowded() {
		c.unlock()
		return ErrFull
	}
	used.Store(true)
	it := c.spare.take(c.owner)
	it.Meta = m.Meta
	it.Attempt, it.rare = 0, &back
	nodeOf[T](it).payload = m.Payload
	c.counts.replayed++
	c.accept(it)
	c.unlock()
	return nil
}
