package herald_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

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

// tailscale/tailscale#18012: a handler that publishes into its own full queue waits for itself. Here DropOldest keeps
// the newest, and Block is a deadlock that's found at once; later messages flow in both cases.
func TestB03_PublishIntoOwnFullQueue(t *testing.T) {
	for what, c := range map[string]struct {
		plan    policy.Action
		handled []int
		dropped uint64
		refused uint64
	}{
		"drop oldest": {policy.DropOldest(), []int{0, 3}, 2, 0},
		"drop newest": {policy.DropNewest(), []int{0, 1}, 2, 0},
		"block":       {policy.Block(0), []int{0, 1}, 0, 2},
		"reject":      {policy.Reject(), []int{0, 1}, 0, 2},
	} {
		bubble(t, what, func(ctx context.Context, t *testing.T) {
			topic, got := newBus[int](t), tape[int]{}
			s := subscribe(t, topic, "s", herald.WithCapacity(1), herald.WithOverflow(c.plan))
			start := time.Now()
			ran := running(ctx, s, func(ctx context.Context, m herald.Message[int]) error {
				got.add(m.Payload)
				if m.Payload > 0 {
					return nil
				}
				ctx, cancel := context.WithTimeout(ctx, time.Second)
				defer cancel()
				for i := range 3 {
					err := topic.Publish(ctx, i+1)
					if refused := c.refused > 0 && i > 0; refused != (err != nil) {
						t.Errorf("Publish(%d) = %v", i+1, err)
					}
					if c.plan.Kind() == policy.KindBlock && i > 0 {
						wantErr(t, "Publish", err, herald.ErrDeadlock)
					}
				}
				return nil
			})
			publishAll(t, topic, 0)
			settle()
			wantEqual(t, c.handled, got.list())
			publishAll(t, topic, 4)
			wantErr(t, "Drain", topic.Drain(ctx), nil)
			wantErr(t, "Run", <-ran, nil)
			wantEqual(t, append(c.handled, 4), got.list())
			wantEqual(t, time.Duration(0), time.Since(start))
			if n := s.Stats(); n.Dropped != c.dropped || n.Refused != c.refused {
				t.Errorf("%+v", n)
			}
		})
	}
}

// flosell/lambdacd#145, libp2p/go-eventbus PR#8: a publisher is stuck for ever on a subscriber that unsubscribes.
func TestB04_PublisherStuckOnLeavingSubscriber(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic, gate := newBus[int](t), make(chan struct{})
		s := subscribe(t, topic, "s", blocking(0)...)
		other := subscribe(t, topic, "other")
		ran := running(ctx, s, func(context.Context, herald.Message[int]) error { <-gate; return nil })
		publishAll(t, topic, 1)
		settle()
		publishAll(t, topic, 2)
		published := background(func() error { return topic.Publish(ctx, 3) })
		settle()
		if !pending(published) {
			t.Fatal("it doesn't wait")
		}
		start := time.Now()
		s.Close()
		wantErr(t, "Publish", <-published, nil)
		wantEqual(t, time.Duration(0), time.Since(start))
		wantEqual(t, []int{1, 2, 3}, takeAll(t, other))
		close(gate)
		wantErr(t, "Run", <-ran, nil)
		wantTally(t, s, tally{Offered: 2, Accepted: 2, Delivered: 2})
	})
}

// Siblings: it's Disconnect that makes the subscriber leave, or the handler that holds up the publisher does.
func TestB04_PublisherStuckOnOneThatIsMadeToLeave(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newBus[int](t)
		s := subscribe(t, topic, "s", herald.WithCapacity(1), herald.WithOverflow(overflowFunc(func(f policy.Full) policy.Action {
			if f.Priority == herald.Critical {
				return policy.Disconnect()
			}
			return policy.Block(0)
		})))
		publishAll(t, topic, 1)
		var waiting []<-chan error
		for range 2 {
			waiting = append(waiting, background(func() error { return topic.Publish(ctx, 2) }))
		}
		settle()
		wantRefused(t, topic.Publish(ctx, 3, herald.WithPriority(herald.Critical)), map[string]error{"s": herald.ErrDisconnected})
		for _, w := range waiting {
			wantErr(t, "Publish", <-w, nil)
		}
		wantTally(t, s, tally{Offered: 2, Accepted: 1, Refused: 1, Queued: 1})
	})
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newBus[int](t)
		s := subscribe(t, topic, "s", blocking(0)...)
		publishAll(t, topic, 1)
		var published <-chan error
		stepWith(t, s, func(context.Context, herald.Message[int]) error {
			publishAll(t, topic, 2)
			published = background(func() error { return topic.Publish(ctx, 3) })
			settle()
			return s.Close()
		})
		wantErr(t, "Publish", <-published, nil)
		wantEqual(t, []int{2}, takeAll(t, s))
	})
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

// libp2p/go-libp2p-pubsub#636: Publish doesn't mind its ctx, and what it gave up is delivered all the same.
func TestB36_PublishMindsItsContext(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic, gate, got := newBus[int](t), make(chan struct{}), tape[int]{}
		s := subscribe(t, topic, "s", blocking(0)...)
		ran := running(ctx, s, func(ctx context.Context, m herald.Message[int]) error {
			<-gate
			return got.handler(ctx, m)
		})
		publishAll(t, topic, 1)
		settle()
		publishAll(t, topic, 2)
		start := time.Now()
		cancelled, cancel := context.WithCancel(ctx)
		go func() {
			time.Sleep(time.Second)
			cancel()
		}()
		wantRefused(t, topic.Publish(cancelled, 3), map[string]error{"s": context.Canceled})
		wantEqual(t, time.Second, time.Since(start))
		close(gate)
		wantErr(t, "Drain", topic.Drain(ctx), nil)
		wantErr(t, "Run", <-ran, nil)
		wantEqual(t, []int{1, 2}, got.list())
	})
}

// libp2p/go-libp2p-pubsub#636 with ThreeDotsLabs/watermill#247: a publish that was cancelled is half delivered, and
// nobody knows to whom. Here the error names who didn't get it; publishing it again is a message of its own.
func TestB37_CancelledPublishSaysWhoGotIt(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newBus[int](t)
		s1 := subscribe(t, topic, "s1")
		s2 := subscribe(t, topic, "s2", blocking(0)...)
		s3 := subscribe(t, topic, "s3")
		publishAll(t, topic, 0)
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		err := topic.Publish(short, 1, herald.WithID("m"))
		wantRefused(t, err, map[string]error{"s2": context.DeadlineExceeded})
		wantEqual(t, []int{0, 1}, takeAll(t, s1))
		wantEqual(t, []int{0}, takeAll(t, s2))
		wantEqual(t, []int{0, 1}, takeAll(t, s3))
		wantErr(t, "Publish again", topic.Publish(ctx, 1, herald.WithID("m")), nil)
		for _, s := range []*herald.Subscription[int]{s1, s2, s3} {
			wantEqual(t, []int{1}, takeAll(t, s))
		}
	})
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
