//go:build sim

package scenario

import (
	"context"
	"errors"
	"slices"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/internal/sim"
)

// A board is a topic with one subscription, and what the scenario's threads
// have been told about it. Only one thread runs at a time, so it needs no lock.
type board struct {
	w        *sim.World
	topic    *herald.Topic[int]
	sub      *herald.Subscription[int]
	accepted []int // values whose Publish returned nil
	refused  []int // values whose Publish returned an error
	handled  []int // with success
	letters  []herald.DeadLetter[int]
	keep     func(herald.DeadLetter[int]) error
	keys     map[string]bool
	absent   bool // Publish may have returned nil without an offer, as the subscription closes
}

func newBoard(w *sim.World, opts ...herald.SubOption) *board {
	b := &board{w: w, topic: new(herald.Topic[int]), keys: map[string]bool{}, keep: func(herald.DeadLetter[int]) error { return nil }}
	view := b.topic.DeadLetterTo(func(d herald.DeadLetter[int]) error {
		b.letters = append(b.letters, d)
		return b.keep(d)
	})
	var err error
	if b.sub, err = view.Subscribe("s", opts...); err != nil {
		panic(err)
	}
	return b
}

func (b *board) publish(ctx context.Context, v int, opts ...herald.PublishOption) {
	b.publishOr(ctx, v, nil, opts...)
}

// publishOr publishes v; allowed is the error that there may be.
func (b *board) publishOr(ctx context.Context, v int, allowed error, opts ...herald.PublishOption) {
	err := b.topic.Publish(ctx, v, opts...)
	switch {
	case err == nil:
		b.accepted = append(b.accepted, v)
	case allowed != nil && errors.Is(err, allowed):
		b.refused = append(b.refused, v)
	default:
		b.w.Errorf("publish %d: %v", v, err)
	}
}

func (b *board) saw(m herald.Message[int]) { b.handled = append(b.handled, m.Payload) }

func (b *board) handle(_ context.Context, m herald.Message[int]) error {
	b.saw(m)
	return nil
}

func (b *board) step() {
	if _, err := b.sub.Step(b.w.Context, b.handle); err != nil {
		b.w.Errorf("step: %v", err)
	}
}

// run consumes until the subscription is closed and quiet.
func (b *board) run() { b.runWith(b.handle) }

func (b *board) runWith(h herald.Handler[int]) {
	if err := b.sub.Run(b.w.Context, h); err != nil {
		b.w.Errorf("run: %v", err)
	}
}

// runFor consumes until ctx is cancelled, or all is over.
func (b *board) runFor(ctx context.Context) {
	if err := b.sub.Run(ctx, b.handle); err != nil && !errors.Is(err, context.Canceled) {
		b.w.Errorf("run: %v", err)
	}
}

// runUntil consumes until all of last have been handled.
func (b *board) runUntil(last ...int) {
	var stopped error
	for left := len(last); left > 0 && stopped == nil; {
		err := b.sub.Run(b.w.Context, func(_ context.Context, m herald.Message[int]) error {
			b.saw(m)
			if slices.Contains(last, m.Payload) {
				if left--; left == 0 {
					b.close()
				}
			}
			return nil
		})
		if stopped = err; err != nil {
			b.w.Errorf("run: %v", err)
		}
	}
}

func (b *board) close() { b.sub.Close() }

// look takes the statistics and checks that they're a cut (G4).
func (b *board) look() herald.SubStats {
	s := b.sub.Stats()
	if s.Accepted != s.Delivered+s.Dead+s.Dropped+s.Discarded+s.Queued+s.Delayed+s.InFlight {
		b.w.Errorf("accepted without an end: %+v", s)
	}
	if s.Offered+s.Replayed != s.Accepted+s.Filtered+s.Refused {
		b.w.Errorf("offered without an answer: %+v", s)
	}
	return s
}

// check checks, when all is over, that what was accepted met one end each,
// and nothing else did.
func (b *board) check() {
	s := b.look()
	if s.Queued+s.Delayed+s.InFlight > 0 || s.Waiting > 0 {
		b.w.Errorf("not quiet: %+v", s)
	}
	if s.Delivered != uint64(len(b.handled)) {
		b.w.Errorf("delivered %d, handled %v", s.Delivered, b.handled)
	}
	if s.Dead != uint64(len(b.letters)) {
		b.w.Errorf("dead %d, letters %v", s.Dead, b.letters)
	}
	if twice := duplicates(b.handled); len(twice) > 0 {
		b.w.Errorf("handled twice: %v of %v", twice, b.handled)
	}
	for _, v := range b.refused {
		if slices.Contains(b.handled, v) {
			b.w.Errorf("handled %d, which was refused", v)
		}
	}
	ended := s.Delivered + s.Dead + s.Dropped + s.Discarded - s.Replayed
	if n := uint64(len(b.accepted)); ended > n || ended < n && !b.absent {
		b.w.Errorf("%d ends of %d accepted: %+v", ended, n, s)
	}
}

// inOrder checks that first was handled before second.
func (b *board) inOrder(first, second int) {
	i, k := slices.Index(b.handled, first), slices.Index(b.handled, second)
	if i >= 0 && k >= 0 && i > k {
		b.w.Errorf("handled %d before %d: %v", second, first, b.handled)
	}
}

// ascending checks that nothing was handled after something published later.
func (b *board) ascending() {
	if !slices.IsSorted(b.handled) {
		b.w.Errorf("handled out of order: %v", b.handled)
	}
}

func duplicates(list []int) (twice []int) {
	for i, v := range list {
		if slices.Contains(list[:i], v) {
			twice = append(twice, v)
		}
	}
	return twice
}
