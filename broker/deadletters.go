package broker

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/internal/letters"
	"github.com/heraldbus/herald/internal/seam"
)

// DeadLetters are the dead letters of all subscriptions of a broker, except
// those whose view says DeadLetterTo, in one bounded store: beyond its capacity
// the oldest has to leave. Its guarantees are those of package dlq. It may be
// used by any number of goroutines, and after the broker's Close.
type DeadLetters struct {
	capacity int // 0: the default
	store    letters.Store[Letter]
}

// DeadLetters returns the broker's dead letters.
func (b *Broker) DeadLetters() *DeadLetters { return &b.dead }

// DeadLettersOf yields the dead letters of subscriptions whose messages are
// of type T, the oldest first: what [DeadLetters.All] yields, with the type.
func DeadLettersOf[T any](b *Broker) iter.Seq[herald.DeadLetter[T]] {
	return func(yield func(herald.DeadLetter[T]) bool) {
		for l := range b.dead.All() {
			if d, ok := l.letter.(herald.DeadLetter[T]); ok && !yield(d) {
				return
			}
		}
	}
}

// Len returns how many letters there are.
func (d *DeadLetters) Len() int { return d.store.Len() }

// Evicted returns how many letters had to leave for others so far.
func (d *DeadLetters) Evicted() uint64 { return d.store.Evicted() }

// All yields the letters that are there when the loop begins, the oldest
// first. Those that are replayed before the loop comes to them are left out.
// The body may do anything with the broker and the letters.
func (d *DeadLetters) All() iter.Seq[Letter] { return d.store.All() }

// Replay sends the letters for which match returns true back to the
// subscriptions that they come from, the oldest first, and returns how many
// that were; nil means all. It doesn't wait, and looks only at the letters that
// are there when it begins. Where a subscription is full or closed its letters
// stay, none overtaking another, those of others go on, and the error wraps
// [herald.ErrFull] or [herald.ErrClosed]. When ctx ends all the rest stays, and
// the error wraps its cause.
func (d *DeadLetters) Replay(ctx context.Context, match func(Letter) bool) (int, error) {
	const op = "replay"
	if ctx == nil {
		return 0, fail(op, "", "", errNilContext)
	}
	n, err := d.store.Replay(ctx, match, func(l Letter) any { return seam.Home(l.letter) })
	if err != nil {
		return n, fail(op, "", "", err)
	}
	return n, nil
}

// Purge removes the letters for which match returns true, and returns how
// many that were; nil means all.
func (d *DeadLetters) Purge(match func(Letter) bool) int { return d.store.Purge(match) }

// A Letter is a [herald.DeadLetter] of some type: its fields say the same,
// with the payload as any. [DeadLettersOf] yields those of one type as what
// they are.
type Letter struct {
	herald.Message[any]
	Subscription string
	Reason       herald.Reason
	Err          error
	At           time.Time

	letter letters.Letter // the herald.DeadLetter[T]
}

// Replay sends the letter back, see [herald.DeadLetter.Replay]. It then leaves
// the store.
func (l Letter) Replay(ctx context.Context) error { return l.letter.Replay(ctx) }

// Replayed reports whether the letter was replayed.
func (l Letter) Replayed() bool { return l.letter.Replayed() }

// maxErrorText is how much String shows of an error.
const maxErrorText = 4 << 10

// String describes the letter on one line, without its payload, which may be
// nobody's business.
func (l Letter) String() string {
	s := fmt.Sprintf("%s %s/%s seq=%d id=%q key=%q attempts=%d replays=%d reason=%q",
		l.At.Format(time.RFC3339), l.Topic(), l.Subscription, l.Seq, l.ID(), l.Key, l.Attempt, l.Replays(), l.Reason)
	if l.Err == nil {
		return s
	}
	text := fmt.Sprint(l.Err) // even where Error panics
	return fmt.Sprintf("%s err=%q", s, text[:min(len(text), maxErrorText)])
}

// put stores a letter of one of b's subscriptions.
func put[T any](b *Broker, d herald.DeadLetter[T]) error {
	b.dead.store.Put(Letter{
		Message:      herald.Message[any]{Meta: d.Meta, Payload: d.Payload},
		Subscription: d.Subscription,
		Reason:       d.Reason,
		Err:          d.Err,
		At:           d.At,
		letter:       d,
	}, limit(b.dead.capacity, defaultDeadLetters))
	return nil
}
