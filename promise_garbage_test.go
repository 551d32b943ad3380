package herald_test

import (
	"context"
	"runtime"
	"strconv"
	"testing"
	"weak"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// collected fails unless what p points to is garbage.
func collected[T any](t *testing.T, what string, p weak.Pointer[T]) {
	t.Helper()
	for range 10 {
		if runtime.GC(); p.Value() == nil {
			return
		}
	}
	t.Errorf("%s is still reachable", what)
}

// Nothing of a closed subscription is reachable from the topic, whether it was quiet or not, nor from a dead letter
// (G34).
func TestG34_ClosedSubscriptionIsGarbage(t *testing.T) {
	for what, end := range map[string]func(*herald.Topic[int], *herald.Subscription[int]){
		"closed":  func(_ *herald.Topic[int], s *herald.Subscription[int]) { s.Close(); s.Discard() },
		"queued":  func(_ *herald.Topic[int], s *herald.Subscription[int]) { s.Close() },
		"drained": func(_ *herald.Topic[int], s *herald.Subscription[int]) { s.Discard(); s.Drain(t.Context()) },
		"consumed": func(_ *herald.Topic[int], s *herald.Subscription[int]) {
			s.Close()
			s.Run(t.Context(), func(context.Context, herald.Message[int]) error { return nil })
		},
		"topic closed": func(topic *herald.Topic[int], s *herald.Subscription[int]) { topic.Close(); s.Discard() },
		"topic closed after": func(topic *herald.Topic[int], s *herald.Subscription[int]) {
			s.Discard()
			topic.Close()
		},
		"disconnected": func(topic *herald.Topic[int], s *herald.Subscription[int]) { topic.Publish(t.Context(), 3) },
		"deadlock refused": func(topic *herald.Topic[int], s *herald.Subscription[int]) {
			s.Step(t.Context(), func(ctx context.Context, _ herald.Message[int]) error {
				topic.Publish(ctx, 3)
				return nil
			})
			s.Close()
			s.Discard()
		},
	} {
		topic, box := newBus[int](t), letterBox[int]{}
		stays := subscribe(t, topic, "stays")
		plan := policy.Disconnect()
		if what == "deadlock refused" {
			plan = policy.Block(0)
		}
		gone := weak.Make(func() *herald.Subscription[int] {
			s := subscribe(t, topic.DeadLetterTo(box.put), "s", herald.WithCapacity(1), herald.WithRetry(policy.Never()),
				herald.WithOverflow(plan))
			publishAll(t, topic, 1)
			stepWith(t, s, func(context.Context, herald.Message[int]) error { return errAttempt })
			publishAll(t, topic, 2)
			end(topic, s)
			return s
		}())
		collected(t, what, gone)
		if len(box.list()) != 1 {
			t.Errorf("%s: %d letters", what, len(box.list()))
		}
		runtime.KeepAlive(topic)
		runtime.KeepAlive(stays)
	}
}

// A message and a dead letter keep nothing of their topic in memory (G34).
func TestG34_TopicIsGarbage(t *testing.T) {
	var letter herald.DeadLetter[int]
	var delivery *herald.Delivery[int]
	var message herald.Message[int]
	gone := weak.Make(func() *herald.Topic[int] {
		topic, err := herald.NewTopic[int]("bus", silent())
		if err != nil {
			t.Fatal(err)
		}
		s := subscribe(t, topic.DeadLetterTo(func(d herald.DeadLetter[int]) error { letter = d; return nil }), "s",
			herald.WithRetry(policy.Never()))
		publishAll(t, topic, 1, 2)
		stepWith(t, s, func(_ context.Context, m herald.Message[int]) error { message = m; return errAttempt })
		delivery, _ = s.TryReceive()
		topic.Close()
		return topic
	}())
	collected(t, "topic", gone)
	if letter.Topic() != "bus" || message.Topic() != "bus" || delivery.Topic() != "bus" {
		t.Error("they have forgotten where they come from")
	}
}

// A publisher that has gone, in whatever way, leaves nothing in the program-wide list of waits: its subscription can be
// collected (G34).
func TestG34_GoneWaitsAreForgotten(t *testing.T) {
	for what, c := range map[string]struct {
		plan policy.Overflow
	}{
		"rejected": {policy.Block(1)},
		"policy panics": {overflowFunc(func(f policy.Full) policy.Action {
			if f.Waited == 0 {
				return policy.Block(1)
			}
			panic("policy")
		})},
		"policy exits": {overflowFunc(func(f policy.Full) policy.Action {
			if f.Waited == 0 {
				return policy.Block(1)
			}
			runtime.Goexit()
			return policy.Reject()
		})},
	} {
		var gone weak.Pointer[herald.Subscription[int]]
		returns(t, what, func() {
			gone = weak.Make(func() *herald.Subscription[int] {
				topic := newBus[int](t)
				first := subscribe(t, topic, "first", herald.WithCapacity(1), herald.WithOverflow(c.plan))
				s := subscribe(t, topic, "s")
				publishAll(t, topic, 1)
				done := make(chan struct{})
				go func() {
					defer close(done)
					s.Step(t.Context(), func(ctx context.Context, _ herald.Message[int]) error {
						return topic.Publish(ctx, 2)
					})
				}()
				<-done
				first.Close()
				s.Close()
				s.Discard()
				return s
			}())
		})
		collected(t, strconv.Quote(what), gone)
	}
}
