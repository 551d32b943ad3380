package herald_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// A lineModel is the order of one subscription, as G11 and G12 say it in the simplest words: of those that wait, the highest
// priority, then the earliest published. It drives a subscription at random and compares.
type lineModel struct {
	t       *testing.T
	random  *rand.Rand
	topic   *herald.Topic[int]
	sub     *herald.Subscription[int]
	waiting map[uint64]herald.Priority // by Seq; also what is in hand
	held    []uint64                   // failed, and waited for in place
	left    int                        // messages to publish
}

// next is the message whose turn it is.
func (l *lineModel) next() (next uint64) {
	if len(l.held) > 0 {
		return l.held[0]
	}
	for seq, p := range l.waiting {
		if best := l.waiting[next]; next == 0 || p > best || p == best && seq < next {
			next = seq
		}
	}
	return next
}

// publish publishes messages of all kinds: plain ones, and such as need more than their place in line.
func (l *lineModel) publish(n int) {
	for range min(n, l.left) {
		l.left--
		p := herald.Priority(l.random.IntN(4) - 1)
		opts := []herald.PublishOption{herald.WithPriority(p)}
		switch l.random.IntN(8) {
		case 0:
			opts = append(opts, herald.WithTTL(time.Hour))
		case 1:
			opts = append(opts, herald.WithKey(fmt.Sprint("own", l.left)))
		case 2:
			opts = append(opts, herald.WithHeader("a", "1"))
		}
		if _, err := l.topic.PublishBatch(l.t.Context(), []int{l.left}, opts...); err != nil {
			l.t.Fatal(err)
		}
		l.waiting[l.topic.Stats().Published] = p
	}
}

// take checks that it's m's turn. If not, the rest is nonsense: that's the end.
func (l *lineModel) take(m herald.Meta) bool {
	want := l.next()
	if m.Seq == want {
		l.held = l.held[min(len(l.held), 1):]
		return true
	}
	l.t.Errorf("message %d (%v) where %d (%v) was due", m.Seq, m.Priority, want, l.waiting[want])
	l.left, l.held = 0, nil
	clear(l.waiting)
	return false
}

// handle checks that it's m's turn, publishes some more, and ends as it likes.
func (l *lineModel) handle(m herald.Meta) error {
	if !l.take(m) {
		return nil
	}
	l.publish(l.random.IntN(3))
	switch l.random.IntN(8) {
	case 0:
		return policy.Stop(errStop) // back in line
	case 1:
		if m.Attempt < 3 {
			l.held = []uint64{m.Seq}
			return errBoom
		}
	}
	delete(l.waiting, m.Seq)
	return nil
}

var errStop = errors.New("stop")

// consume takes some messages in one of the ways there are.
func (l *lineModel) consume() {
	ctx, cancel := context.WithCancel(l.t.Context())
	defer cancel()
	h := func(_ context.Context, m herald.Message[int]) error { return l.handle(m.Meta) }
	switch l.random.IntN(5) {
	case 0:
		_, _ = l.sub.Step(ctx, h)
	case 1:
		if d, ok := l.sub.TryReceive(); ok {
			l.settle(d)
		}
	case 2:
		n := 1 + l.random.IntN(9)
		for d := range l.sub.Messages(ctx) {
			l.settle(d)
			if n--; n == 0 || len(l.waiting) == 0 {
				break
			}
		}
	case 3:
		_ = l.sub.RunBatch(ctx, 1+l.random.IntN(4), 0, func(_ context.Context, ms []herald.Message[int]) error {
			waiting := maps.Clone(l.waiting)
			for _, m := range ms {
				l.take(m.Meta)
				delete(l.waiting, m.Seq)
			}
			if !l.t.Failed() && l.random.IntN(2) == 0 && ms[0].Attempt < 3 && len(l.held) == 0 {
				l.waiting = waiting // all are waited for in place, in front of what comes now
				for _, m := range ms {
					l.held = append(l.held, m.Seq)
				}
				l.publish(2)
				return errBoom
			}
			cancel()
			return nil
		})
	default:
		n := 1 + l.random.IntN(20)
		_ = l.sub.Run(ctx, func(_ context.Context, m herald.Message[int]) error {
			err := l.handle(m.Meta)
			if n--; err == nil && (n <= 0 || len(l.waiting) == 0) {
				cancel()
			}
			return err
		})
	}
}

func (l *lineModel) settle(d *herald.Delivery[int]) {
	switch err := l.handle(d.Meta); {
	case err == nil:
		_ = d.Ack()
	case errors.Is(err, errStop):
		_ = d.Release()
	default:
		_ = d.Nack(err)
	}
}

// TestG12_OneLineForAllKindsOfMessages: priorities and places are kept whatever else a message needs, while more are
// published in between, attempts fail, messages are given back, and one kind of consumer follows another. (G11, G13, G22)
func TestG12_OneLineForAllKindsOfMessages(t *testing.T) {
	for name, o := range map[string][]herald.SubOption{
		"by default":        nil,
		"under DropOldest":  {herald.WithOverflow(policy.DropOldest())},
		"with a middleware": {herald.WithMiddleware(func(next herald.Next) herald.Next { return next })},
		"with an age":       {herald.WithMaxAge(time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(25) {
				l := &lineModel{
					t: t, random: rand.New(rand.NewPCG(seed, 0)), topic: newBus[int](t),
					waiting: map[uint64]herald.Priority{}, left: 200,
				}
				l.sub = subscribe(t, l.topic, "line", append(o, herald.WithRetry(policy.Schedule{0, 0, 0}))...)
				for l.publish(5); len(l.waiting) > 0; l.publish(2) {
					l.consume()
				}
				wantTally(t, l.sub, tally{Offered: 200, Accepted: 200, Delivered: 200})
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
		})
	}
}
