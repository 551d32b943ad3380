package herald_test

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// Faults that users of other buses met while publishing; the numbers are those of the project's list.

// ThreeDotsLabs/watermill#317: the second Subscribe on a closed bus hangs, for the first left a lock behind.
func TestB01_SubscribeOnClosedTopic(t *testing.T) {
	topic, err := herald.NewTopic[int]("bus")
	if err != nil {
		t.Fatal(err)
	}
	returns(t, "a call after Close", func() {
		wantErr(t, "Close", topic.Close(), nil)
		for range 2 {
			_, err := topic.Subscribe("s")
			wantErr(t, "Subscribe", err, herald.ErrClosed)
			wantErr(t, "Publish", topic.Publish(t.Context(), 1), herald.ErrClosed)
			wantErr(t, "Close", topic.Close(), nil)
		}
	})
}

// Siblings: an error of any other kind leaves no lock behind either, of Subscribe, Publish or Replay.
func TestB01_ErrorsLeaveNoLock(t *testing.T) {
	topic, err := herald.NewTopic[int]("bus", silent(), herald.WithSubscriptionLimit(1))
	if err != nil {
		t.Fatal(err)
	}
	box := letterBox[int]{}
	s := subscribe(t, topic.DeadLetterTo(box.put), "s", herald.WithCapacity(1), herald.WithOverflow(policy.Reject()))
	publishAll(t, topic, 1)
	stepWith(t, s, func(context.Context, herald.Message[int]) error { return policy.Permanent(errAttempt) })
	publishAll(t, topic, 2)
	returns(t, "a call after an error", func() {
		for range 2 {
			wantErr(t, "duplicate", second(topic.Subscribe("s")), herald.ErrDuplicate)
			wantErr(t, "limit", second(topic.Subscribe("more")), herald.ErrLimit)
			wantErr(t, "full", topic.Publish(t.Context(), 3), herald.ErrFull)
			wantErr(t, "Replay", box.list()[0].Replay(t.Context()), herald.ErrFull)
			wantErr(t, "option", topic.Publish(t.Context(), 3, herald.WithTTL(-1)), herald.ErrOption)
		}
		wantEqual(t, []int{2}, takeAll(t, s))
	})
}

// asaskevich/EventBus#35, #52: a Publish from inside a handler never returns, for handlers run under the bus's lock.
func TestB02_PublishInsideHandler(t *testing.T) {
	a, b, gotA, gotB := newBusNamed[int](t, "a"), newBusNamed[int](t, "b"), tape[int]{}, tape[int]{}
	sa, sb := subscribe(t, a, "s"), subscribe(t, b, "s")
	ranA := running(t.Context(), sa, func(ctx context.Context, m herald.Message[int]) error {
		gotA.add(m.Payload)
		if m.Payload == 20 {
			return a.Publish(ctx, 21)
		}
		defer a.Close()
		return b.Publish(ctx, 1)
	})
	ranB := running(t.Context(), sb, func(ctx context.Context, m herald.Message[int]) error {
		defer b.Close()
		return gotB.handler(ctx, m)
	})
	publishAll(t, a, 20)
	wantErr(t, "Run", <-ranA, nil)
	wantErr(t, "Run", <-ranB, nil)
	wantEqual(t, []int{20, 21}, gotA.list())
	wantEqual(t, []int{1}, gotB.list())
}

// ThreeDotsLabs/watermill#247: one stuck subscriber stops the others, for they're served one after the other.
func TestB16_StuckSubscriberStopsOthers(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic, gate, got := newBus[int](t), make(chan struct{}), tape[int]{}
		a, b := subscribe(t, topic, "a"), subscribe(t, topic, "b")
		ranA := running(ctx, a, func(context.Context, herald.Message[int]) error { <-gate; return nil })
		ranB := running(ctx, b, got.handler)
		publishAll(t, topic, 1, 2, 3)
		settle()
		wantEqual(t, []int{1, 2, 3}, got.list())
		topic.Close()
		wantErr(t, "Run", <-ranB, nil)
		close(gate)
		wantErr(t, "Run", <-ranA, nil)
	})
}

// yohamta0/donburi-ecs#102, nanomsg/mangos-v1#219: a publish that nobody subscribes to panics, or blocks for good.
func TestB18_PublishToNobody(t *testing.T) {
	var zero herald.Topic[int]
	for what, topic := range map[string]*herald.Topic[int]{"zero": &zero, "new": newBus[int](t), "left": newBus[int](t)} {
		if what == "left" {
			subscribe(t, topic, "s", blocking(0)...).Close()
		}
		returns(t, what, func() {
			for i := range 10 {
				publishAll(t, topic, i)
			}
		})
		if n := topic.Stats(); n.Published != 10 || n.Subscriptions != 0 {
			t.Errorf("%s: %+v", what, n)
		}
	}
}

// nanomsg/nng#1308: what one subscriber changes in a message another one sees.
func TestB39_SubscribersShareNoMessage(t *testing.T) {
	topic := newBus[int](t)
	kv := map[string]string{"h": "original"}
	s1 := subscribe(t, topic, "s1", retryAtOnce(nil)...)
	s2 := subscribe(t, topic, "s2")
	wantErr(t, "Publish", topic.Publish(t.Context(), 1, herald.WithHeaders(herald.NewHeaders(kv)), herald.WithKey("k")), nil)
	kv["h"] = "changed by the publisher"
	for i, s := range []*herald.Subscription[int]{s1, s1, s2} {
		stepWith(t, s, func(_ context.Context, m herald.Message[int]) error {
			if m.Headers().Get("h") != "original" || m.Key != "k" || m.Payload != 1 || m.Headers().Len() != 1 {
				t.Errorf("handler %d sees %+v", i, m)
			}
			mine := map[string]string{}
			for k, v := range m.Headers().All() {
				mine[k] = v + ", changed by " + strconv.Itoa(i)
			}
			m.Key, m.Payload, m.Meta = "changed", 99, herald.Meta{}
			if i == 0 {
				return errors.New("once more")
			}
			return nil
		})
	}
}

// Particular/NServiceBus PR#5557, apache/pulsar#5218: an ID is recorded before success, and what comes again with it is
// dropped. A publish that was refused has used up nothing: the same ID is taken and handled when there's room.
func TestB70_RefusedIDIsTakenLater(t *testing.T) {
	topic := newBus[int](t)
	s := subscribe(t, topic, "s", herald.WithCapacity(1))
	publishAll(t, topic, 0)
	wantRefused(t, topic.Publish(t.Context(), 1, herald.WithID("1")), map[string]error{"s": herald.ErrFull})
	wantEqual(t, []int{0}, takeAll(t, s))
	for range 2 { // the core itself knows no duplicates
		wantErr(t, "Publish", topic.Publish(t.Context(), 1, herald.WithID("1")), nil)
		stepWith(t, s, func(_ context.Context, m herald.Message[int]) error {
			if m.ID() != "1" {
				t.Errorf("ID is %q", m.ID())
			}
			return nil
		})
	}
}
