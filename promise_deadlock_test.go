package herald_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// wantDeadlock fails unless err says that the subscription named refused with ErrDeadlock, and that the chain is want.
func wantDeadlock(t *testing.T, err error, sub string, want ...string) {
	t.Helper()
	wantRefused(t, err, map[string]error{sub: herald.ErrDeadlock})
	e, ok := errors.AsType[*herald.DeadlockError](err)
	if !ok {
		t.Errorf("error %v has no DeadlockError", err)
		return
	}
	wantEqual(t, want, e.Chain)
}

func blocking(max time.Duration) []herald.SubOption {
	return []herald.SubOption{herald.WithCapacity(1), herald.WithOverflow(policy.Block(max))}
}

// A handler that publishes into its own full queue waits for itself: ErrDeadlock at once, also where ctx or Block have
// an end, with the chain; the topic goes on (G19).
func TestG19_OwnQueue(t *testing.T) {
	for what, max := range map[string]time.Duration{"no limit": 0, "a limit": time.Minute} {
		for how, consume := range map[string]func(*herald.Subscription[int], context.Context, herald.Handler[int]) error{
			"Run": (*herald.Subscription[int]).Run,
			"Step": func(s *herald.Subscription[int], ctx context.Context, h herald.Handler[int]) error {
				for ok := true; ok; ok, _ = s.Step(ctx, h) {
				}
				return nil
			},
		} {
			bubble(t, what+"/"+how, func(ctx context.Context, t *testing.T) {
				topic, handled := newBus[int](t), tape[int]{}
				s := subscribe(t, topic, "s", blocking(max)...)
				start := time.Now()
				publishAll(t, topic, 0)
				wantErr(t, how, consume(s, ctx, func(ctx context.Context, m herald.Message[int]) error {
					handled.add(m.Payload)
					if m.Payload > 0 {
						return s.Close()
					}
					wantErr(t, "first Publish", topic.Publish(ctx, 1), nil)
					ctx, cancel := context.WithTimeout(ctx, time.Minute)
					defer cancel()
					wantDeadlock(t, topic.Publish(ctx, 2), "s", "bus/s", "bus/s")
					return nil
				}), nil)
				wantEqual(t, []int{0, 1}, handled.list())
				wantEqual(t, time.Duration(0), time.Since(start))
				wantTally(t, s, tally{Offered: 3, Accepted: 2, Refused: 1, Delivered: 2})
			})
		}
	}
}

// A ring is n topics with one subscription each, whose handler publishes to the next topic once the gate is open.
type ring struct {
	topics []*herald.Topic[int]
	subs   []*herald.Subscription[int]
	ran    []<-chan error
	gate   chan struct{}
	failed tape[error]
}

// newRing fills all queues and keeps all workers busy.
func newRing(ctx context.Context, t *testing.T, n int, opts ...herald.SubOption) *ring {
	r := &ring{gate: make(chan struct{})}
	for i := range n {
		r.topics = append(r.topics, newBusNamed[int](t, "t"+strconv.Itoa(i)))
		r.subs = append(r.subs, subscribe(t, r.topics[i], "s"+strconv.Itoa(i), append(blocking(0), opts...)...))
	}
	for i, s := range r.subs {
		next := r.topics[(i+1)%n]
		r.ran = append(r.ran, running(ctx, s, func(ctx context.Context, m herald.Message[int]) error {
			if m.Payload > 0 {
				return nil
			}
			<-r.gate
			if err := next.Publish(ctx, 1); err != nil {
				r.failed.add(err)
			}
			return nil
		}))
	}
	for _, topic := range r.topics {
		publishAll(t, topic, 0)
		settle()
		publishAll(t, topic, 1)
		settle()
	}
	return r
}

// end drains the ring and checks that each message got through but the one refused.
func (r *ring) end(ctx context.Context, t *testing.T) {
	t.Helper()
	refused := uint64(0)
	for i, topic := range r.topics {
		wantErr(t, "Drain", topic.Drain(ctx), nil)
		wantErr(t, "Run", <-r.ran[i], nil)
		n := r.subs[i].Stats()
		checkSound(t, n)
		refused += n.Refused
		if n.Offered != 3 || n.Accepted != n.Delivered {
			t.Errorf("%+v", n)
		}
	}
	if refused != 1 {
		t.Errorf("%d refused", refused)
	}
}

// A circle of subscriptions whose handlers wait for room in each other, across topics, is a deadlock: exactly one of
// the publishes is refused, at once, with the chain from its subscription round to it again (G19).
func TestG19_Circle(t *testing.T) {
	for n := range 5 {
		bubble(t, strconv.Itoa(n+1), func(ctx context.Context, t *testing.T) {
			n := n + 1
			r := newRing(ctx, t, n)
			start := time.Now()
			close(r.gate)
			settle()
			wantEqual(t, time.Duration(0), time.Since(start))
			failed := r.failed.list()
			if len(failed) != 1 {
				t.Fatalf("%d publishes refused: %v", len(failed), failed)
			}
			e, ok := errors.AsType[*herald.DeadlockError](failed[0])
			if !ok || len(e.Chain) != n+1 || e.Chain[0] != e.Chain[n] {
				t.Fatalf("error %v", failed[0])
			}
			for i, name := range e.Chain[1:] {
				at, _ := strconv.Atoi(e.Chain[i][1:2])
				if next := strconv.Itoa((at + 1) % n); name != "t"+next+"/s"+next {
					t.Errorf("chain %v", e.Chain)
				}
			}
			wantRefused(t, failed[0], map[string]error{e.Chain[1][3:]: herald.ErrDeadlock})
			r.end(ctx, t)
		})
	}
}

// Keys hide nothing: where the other worker is idle because all that is queued waits for the key in flight, it's a
// deadlock, at once (G19).
func TestG19_UnderKeys(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newBus[int](t)
		s := subscribe(t, topic.KeyBy(func(herald.Message[int]) string { return "k" }), "s",
			append(blocking(0), herald.WithConcurrency(2))...)
		start := time.Now()
		ran := running(ctx, s, func(ctx context.Context, m herald.Message[int]) error {
			if m.Payload == 0 {
				publishAll(t, topic, 1)
				wantDeadlock(t, topic.Publish(ctx, 2), "s", "bus/s", "bus/s")
			}
			return nil
		})
		publishAll(t, topic, 0)
		settle()
		wantErr(t, "Drain", topic.Drain(ctx), nil)
		wantErr(t, "Run", <-ran, nil)
		wantEqual(t, time.Duration(0), time.Since(start))
		wantTally(t, s, tally{Offered: 3, Accepted: 2, Refused: 1, Delivered: 2})
	})
}

// A circle under keys with two workers each.
func TestG19_CircleUnderKeys(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		a, b := newBusNamed[int](t, "a"), newBusNamed[int](t, "b")
		var failed tape[error]
		var runs []<-chan error
		gate := make(chan struct{})
		for topic, next := range map[*herald.Topic[int]]*herald.Topic[int]{a: b, b: a} {
			s := subscribe(t, topic.KeyBy(func(herald.Message[int]) string { return "k" }), "s",
				append(blocking(0), herald.WithConcurrency(2))...)
			runs = append(runs, running(ctx, s, func(ctx context.Context, m herald.Message[int]) error {
				<-gate
				if m.Payload == 0 {
					failed.add(next.Publish(ctx, 1))
				}
				return nil
			}))
			publishAll(t, topic, 0)
			settle()
			publishAll(t, topic, 1)
		}
		close(gate)
		settle()
		i := slices.IndexFunc(failed.list(), func(err error) bool { return err != nil })
		if i < 0 || len(failed.list()) != 2 {
			t.Fatalf("publishes: %v", failed.list())
		}
		e, ok := errors.AsType[*herald.DeadlockError](failed.list()[i])
		if !ok || !slices.Equal(e.Chain, []string{"a/s", "b/s", "a/s"}) && !slices.Equal(e.Chain, []string{"b/s", "a/s", "b/s"}) {
			t.Errorf("publishes: %v", failed.list())
		}
		a.Close()
		b.Close()
		for _, ran := range runs {
			wantErr(t, "Run", <-ran, nil)
		}
	})
}
