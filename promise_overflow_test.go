package herald_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// Without a dead-letter store the default is Reject: the publisher doesn't wait, and is told (G7).
func TestG07_DefaultWithoutStoreIsReject(t *testing.T) {
	topic := newBus[int](t)
	s := subscribe(t, topic, "s", herald.WithCapacity(1))
	publishAll(t, topic, 1)
	wantRefused(t, topic.Publish(t.Context(), 2), map[string]error{"s": herald.ErrFull})
	wantTally(t, s, tally{Offered: 2, Accepted: 1, Refused: 1, Queued: 1})
}

// With one it's a dead letter of reason Overflow, and no error for the publisher (G7).
func TestG07_DefaultWithStoreIsDeadLetter(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic, box := newBus[int](t), letterBox[int]{}
		s := subscribe(t, topic.DeadLetterTo(box.put), "s", herald.WithCapacity(1))
		publishAll(t, topic, 1)
		time.Sleep(time.Minute)
		wantErr(t, "Publish", topic.Publish(ctx, 2, herald.WithKey("k"), herald.WithHeader("h", "v")), nil)
		wantTally(t, s, tally{Offered: 2, Accepted: 2, Dead: 1, Queued: 1})
		if len(box.list()) != 1 {
			t.Fatalf("%d letters", len(box.list()))
		}
		d := box.list()[0]
		wantErr(t, "letter's Err", d.Err, herald.ErrFull)
		wantEqual(t, []any{2, "s", herald.Overflow, "k", "v", "bus", uint64(2), int32(0), true},
			[]any{d.Payload, d.Subscription, d.Reason, d.Key, d.Headers().Get("h"), d.Topic(), d.Seq, d.Attempt,
				d.At.Equal(time.Now())})
		takeAll(t, s)
		wantErr(t, "Replay", d.Replay(ctx), nil)
		wantEqual(t, []int{2}, takeAll(t, s))
	})
}

// An explicit policy.DeadLetter without DeadLetterTo, also after a wait, is an error at Subscribe (G7).
func TestG07_DeadLetterNeedsStore(t *testing.T) {
	for what, o := range map[string]policy.Overflow{
		"plain":      policy.DeadLetter(),
		"else":       policy.Block(time.Second).Else(policy.DeadLetter()),
		"later else": policy.Block(1).Else(policy.Block(1)).Else(policy.DeadLetter()),
	} {
		topic := newBus[int](t)
		s, err := topic.Subscribe("s", herald.WithOverflow(o))
		if s != nil || !errors.Is(err, herald.ErrOption) {
			t.Errorf("%s: Subscribe = %v, %v", what, s, err)
		}
		if e, ok := errors.AsType[*herald.Error](err); !ok || e.Topic != "bus" || e.Subscription != "s" {
			t.Errorf("%s: error %#v does not name topic and subscription", what, err)
		}
		subscribe(t, topic.DeadLetterTo(func(herald.DeadLetter[int]) error { return nil }), "s", herald.WithOverflow(o))
	}
}

// DropNewest drops the incoming message, whatever its priority (G7).
func TestG07_DropNewest(t *testing.T) {
	topic := newBus[int](t)
	s := subscribe(t, topic, "s", herald.WithCapacity(2), herald.WithOverflow(policy.DropNewest()))
	publishAll(t, topic, 1, 2)
	wantErr(t, "Publish", topic.Publish(t.Context(), 3, herald.WithPriority(herald.Critical)), nil)
	wantTally(t, s, tally{Offered: 3, Accepted: 3, Dropped: 1, Queued: 2})
	wantEqual(t, herald.DropCounts{Newest: 1}, s.Stats().DroppedBy)
	wantEqual(t, []int{1, 2}, takeAll(t, s))
}

// DropOldest evicts the oldest of the lowest priority, delayed ones too, and drops the incoming message where that is
// lower still; of equal priority it's the older that goes (G7).
func TestG07_DropOldestChoosesItsVictim(t *testing.T) {
	type offer struct {
		v       int
		p       herald.Priority
		delayed bool
	}
	const l, n, h, c = herald.Low, herald.Normal, herald.High, herald.Critical
	for _, c := range []struct {
		what   string
		offers []offer
		left   []int // in order of delivery
	}{
		{"equal", []offer{{v: 1}, {v: 2}, {v: 3}, {v: 4}}, []int{3, 4}},
		{"lowest", []offer{{1, h, false}, {2, n, false}, {3, c, false}}, []int{3, 1}},
		{"oldest of the lowest", []offer{{1, n, false}, {2, n, false}, {3, c, false}}, []int{3, 2}},
		{"itself", []offer{{1, h, false}, {2, h, false}, {3, n, false}}, []int{1, 2}},
		{"itself, lowest of all", []offer{{1, n, false}, {2, c, false}, {3, l, false}}, []int{2, 1}},
		{"delayed", []offer{{1, n, true}, {2, n, false}, {3, n, false}}, []int{2, 3}},
		{"not delayed", []offer{{1, n, false}, {2, n, true}, {3, n, true}}, []int{2, 3}},
		{"delayed but higher", []offer{{1, h, true}, {2, n, false}, {3, n, false}}, []int{3, 1}},
		{"one after the other", []offer{{1, l, false}, {2, n, false}, {3, h, false}, {4, c, false}, {5, c, false}},
			[]int{4, 5}},
	} {
		bubble(t, c.what, func(ctx context.Context, t *testing.T) {
			topic := newBus[int](t)
			s := subscribe(t, topic, "s", herald.WithCapacity(2), herald.WithOverflow(policy.DropOldest()))
			for _, o := range c.offers {
				opts := []herald.PublishOption{herald.WithPriority(o.p)}
				if o.delayed {
					opts = append(opts, herald.WithDelay(time.Second))
				}
				wantErr(t, "Publish", topic.Publish(ctx, o.v, opts...), nil)
			}
			all := uint64(len(c.offers))
			dropped := all - 2
			if n := s.Stats(); n.Accepted != all || n.DroppedBy.Oldest != dropped || n.Queued+n.Delayed != 2 {
				t.Errorf("%+v", n)
			}
			got := takeAll(t, s)
			time.Sleep(time.Second)
			wantEqual(t, c.left, append(got, takeAll(t, s)...))
		})
	}
}

// What is in flight is never evicted: neither a running handler's message, nor one on lease, nor one that waits in
// place for its retry (G7).
func TestG07_InFlightIsNeverEvicted(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newBus[int](t)
		s := subscribe(t, topic, "s", herald.WithCapacity(1), herald.WithOverflow(policy.DropOldest()),
			herald.WithRetry(policy.Schedule{time.Second}))
		publishHigh := func(v int) {
			wantErr(t, "Publish", topic.Publish(ctx, v, herald.WithPriority(herald.Critical)), nil)
		}
		publishAll(t, topic, 1)
		stepWith(t, s, func(context.Context, herald.Message[int]) error {
			publishHigh(2)
			publishHigh(3)
			return errAttempt
		})
		publishHigh(4)
		wantTally(t, s, tally{Offered: 4, Accepted: 4, Dropped: 2, Queued: 1, InFlight: 1})
		time.Sleep(time.Second)
		wantEqual(t, []int{1, 4}, takeAll(t, s))
		publishAll(t, topic, 5)
		d, _ := s.TryReceive()
		publishHigh(6)
		publishHigh(7)
		wantErr(t, "Ack", d.Ack(), nil)
		wantEqual(t, []int{7}, takeAll(t, s))
	})
}

// Disconnect closes the subscription that can't keep up: the publish that found it full is refused with
// ErrDisconnected, what is queued is still delivered, and its consumer is told; others go on (G7).
func TestG07_Disconnect(t *testing.T) {
	newOne := func(t *testing.T) (*herald.Topic[int], *herald.Subscription[int]) {
		topic := newBus[int](t)
		slow := subscribe(t, topic, "slow", herald.WithCapacity(1), herald.WithOverflow(policy.Disconnect()))
		other := subscribe(t, topic, "other")
		publishAll(t, topic, 1)
		wantRefused(t, topic.Publish(t.Context(), 2), map[string]error{"slow": herald.ErrDisconnected})
		publishAll(t, topic, 3)
		wantEqual(t, []int{1, 2, 3}, takeAll(t, other))
		wantTally(t, slow, tally{Offered: 2, Accepted: 1, Refused: 1, Queued: 1})
		if n := topic.Stats(); !slow.Stats().Closed || n.Subscriptions != 1 {
			t.Errorf("closed %v, %d subscriptions", slow.Stats().Closed, n.Subscriptions)
		}
		return topic, slow
	}
	for what, consume := range map[string]func(*herald.Subscription[int], *tape[int]) error{
		"Run": func(s *herald.Subscription[int], got *tape[int]) error { return s.Run(t.Context(), got.handler) },
		"Receive": func(s *herald.Subscription[int], got *tape[int]) error {
			d, err := s.Receive(t.Context())
			if err != nil {
				return err
			}
			got.add(d.Payload)
			d.Ack()
			_, err = s.Receive(t.Context())
			return err
		},
		"Messages": func(s *herald.Subscription[int], got *tape[int]) error {
			for d := range s.Messages(t.Context()) {
				got.add(d.Payload)
				d.Ack()
			}
			return s.Err()
		},
	} {
		_, s := newOne(t)
		var got tape[int]
		wantErr(t, what, consume(s, &got), herald.ErrDisconnected)
		wantEqual(t, []int{1}, got.list())
	}
}

// A running consumer is told when it has delivered the rest (G7).
func TestG07_DisconnectEndsRun(t *testing.T) {
	topic, gate, got := newBus[int](t), make(chan struct{}), tape[int]{}
	s := subscribe(t, topic, "s", herald.WithCapacity(1), herald.WithOverflow(policy.Disconnect()))
	begun := make(chan struct{}, 2)
	ran := running(t.Context(), s, func(ctx context.Context, m herald.Message[int]) error {
		begun <- struct{}{}
		<-gate
		return got.handler(ctx, m)
	})
	publishAll(t, topic, 1)
	<-begun
	publishAll(t, topic, 2)
	wantRefused(t, topic.Publish(t.Context(), 3), map[string]error{"s": herald.ErrDisconnected})
	close(gate)
	wantErr(t, "Run", <-ran, herald.ErrDisconnected)
	wantEqual(t, []int{1, 2}, got.list())
}

// A message that dies without a store is counted and logged, without its payload (G7).
func TestG07_DeadWithoutStoreIsLogged(t *testing.T) {
	var log bytes.Buffer
	topic := newBus[string](t, herald.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	s := subscribe(t, topic, "s", herald.WithRetry(policy.Never()))
	publishAll(t, topic, "secret")
	stepWith(t, s, func(context.Context, herald.Message[string]) error { return errAttempt })
	wantTally(t, s, tally{Offered: 1, Accepted: 1, Dead: 1})
	line := log.String()
	for _, want := range []string{"level=WARN", "topic=bus", "subscription=s", "seq=1", errAttempt.Error(), "retries exhausted"} {
		if !strings.Contains(line, want) {
			t.Errorf("log lacks %s: %s", want, line)
		}
	}
	if strings.Contains(line, "secret") {
		t.Errorf("payload logged: %s", line)
	}
}
