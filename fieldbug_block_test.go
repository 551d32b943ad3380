package herald_test

import (
	"context"
	"testing"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// Faults that users of other buses met with publishers that wait.

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
