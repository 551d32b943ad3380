package herald_test

import (
	"context"
	"testing"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// blocked is a publish that waits for room in the full subscription s of capacity 1.
func blocked(ctx context.Context, t *testing.T, o policy.Overflow) (*herald.Topic[int], *herald.Subscription[int], <-chan error) {
	t.Helper()
	topic := newBus[int](t)
	s := subscribe(t, topic, "s", herald.WithCapacity(1), herald.WithOverflow(o))
	publishAll(t, topic, 1)
	published := background(func() error { return topic.Publish(ctx, 2) })
	settle()
	if n := s.Stats(); !pending(published) || n.Waiting != 1 || n.Offered != 1 {
		t.Fatalf("the publish does not wait: %+v", n)
	}
	return topic, s, published
}

// Block waits for room, however long that takes where it has no limit, and is accepted at once when there is some
// (G7).
func TestG07_BlockWaitsForRoom(t *testing.T) {
	for what, room := range map[string]func(*herald.Subscription[int]){
		"a pick": func(s *herald.Subscription[int]) {
			s.Step(t.Context(), func(context.Context, herald.Message[int]) error { return nil })
		},
		"a lease": func(s *herald.Subscription[int]) { s.TryReceive() },
		"Discard": func(s *herald.Subscription[int]) { s.Discard() },
	} {
		bubble(t, what, func(ctx context.Context, t *testing.T) {
			_, s, published := blocked(ctx, t, policy.Block(0))
			time.Sleep(59 * time.Minute)
			room(s)
			settle()
			if pending(published) {
				t.Fatal("room, and the publisher waits")
			}
			wantErr(t, "Publish", <-published, nil)
			if n := s.Stats(); n.Queued != 1 || n.Waiting != 0 || n.Accepted != 2 {
				t.Errorf("%+v", n)
			}
		})
	}
}

// Expiry makes room as well: who notices it lets the waiting publisher in (G7).
func TestG07_BlockWaitsForExpiry(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newBus[int](t)
		s := subscribe(t, topic, "s", herald.WithCapacity(1), herald.WithOverflow(policy.Block(0)))
		s.Pause()
		ran := running(ctx, s, func(context.Context, herald.Message[int]) error { return nil })
		start := time.Now()
		wantErr(t, "Publish", topic.Publish(ctx, 1, herald.WithTTL(time.Second)), nil)
		wantErr(t, "Publish", topic.Publish(ctx, 2), nil)
		wantEqual(t, time.Second, time.Since(start))
		s.Resume()
		wantErr(t, "Drain", s.Drain(ctx), nil)
		wantErr(t, "Run", <-ran, nil)
		wantTally(t, s, tally{Offered: 2, Accepted: 2, Dead: 1, Delivered: 1})
	})
}

// Block waits for its time and then rejects: ErrFull, exactly then (G7).
func TestG07_BlockWaitsItsTime(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		start := time.Now()
		_, s, published := blocked(ctx, t, policy.Block(time.Second))
		wantRefused(t, <-published, map[string]error{"s": herald.ErrFull})
		wantEqual(t, time.Second, time.Since(start))
		wantTally(t, s, tally{Offered: 2, Accepted: 1, Refused: 1, Queued: 1})
		wantEqual(t, []int{1}, takeAll(t, s)) // not delivered later
	})
}

// Block waits as long as ctx allows: at its end the publish is refused with its cause (G7).
func TestG07_BlockWaitsForContext(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		ctx, cancel := context.WithTimeoutCause(ctx, time.Second, errAttempt)
		defer cancel()
		start := time.Now()
		_, s, published := blocked(ctx, t, policy.Block(time.Minute))
		err := <-published
		wantRefused(t, err, map[string]error{"s": errAttempt})
		wantErr(t, "Publish", err, context.DeadlineExceeded)
		wantEqual(t, time.Second, time.Since(start))
		wantTally(t, s, tally{Offered: 2, Accepted: 1, Refused: 1, Queued: 1})
		wantEqual(t, []int{1}, takeAll(t, s))
	})
}

// Close, of subscription or topic, lets the waiting publisher go at once: it wasn't offered, which is no error (G7).
func TestG07_BlockWaitsForClose(t *testing.T) {
	for what, end := range map[string]func(context.Context, *herald.Topic[int], *herald.Subscription[int]){
		"subscription": func(_ context.Context, _ *herald.Topic[int], s *herald.Subscription[int]) { s.Close() },
		"topic":        func(_ context.Context, topic *herald.Topic[int], _ *herald.Subscription[int]) { topic.Close() },
		"Drain": func(ctx context.Context, topic *herald.Topic[int], _ *herald.Subscription[int]) {
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			topic.Drain(ctx)
		},
	} {
		bubble(t, what, func(ctx context.Context, t *testing.T) {
			topic, s, published := blocked(ctx, t, policy.Block(0))
			end(ctx, topic, s)
			settle()
			if pending(published) {
				t.Fatal("the publisher waits for what is closed")
			}
			wantErr(t, "Publish", <-published, nil)
			wantTally(t, s, tally{Offered: 1, Accepted: 1, Queued: 1})
			wantEqual(t, []int{1}, takeAll(t, s))
		})
	}
}

// When Block's time is up, what Else says happens, exactly then (G7).
func TestG07_Else(t *testing.T) {
	second := policy.Block(time.Second)
	for _, c := range []struct {
		name    string
		plan    policy.Action
		after   time.Duration
		refused error
		left    []int
		want    func(herald.SubStats) uint64
	}{
		{"reject", second.Else(policy.Reject()), time.Second, herald.ErrFull, []int{1},
			func(n herald.SubStats) uint64 { return n.Refused }},
		{"drop newest", second.Else(policy.DropNewest()), time.Second, nil, []int{1},
			func(n herald.SubStats) uint64 { return n.DroppedBy.Newest }},
		{"drop oldest", second.Else(policy.DropOldest()), time.Second, nil, []int{2},
			func(n herald.SubStats) uint64 { return n.DroppedBy.Oldest }},
		{"disconnect", second.Else(policy.Disconnect()), time.Second, herald.ErrDisconnected, []int{1},
			func(n herald.SubStats) uint64 { return n.Refused }},
		{"dead letter", second.Else(policy.DeadLetter()), time.Second, nil, []int{1},
			func(n herald.SubStats) uint64 { return n.DeadBy.Overflow }},
		{"block", second.Else(policy.Block(2 * time.Second)), 3 * time.Second, herald.ErrFull, []int{1},
			func(n herald.SubStats) uint64 { return n.Refused }},
		{"block, drop", second.Else(policy.Block(2 * time.Second)).Else(policy.DropOldest()), 3 * time.Second, nil, []int{2},
			func(n herald.SubStats) uint64 { return n.DroppedBy.Oldest }},
	} {
		bubble(t, c.name, func(ctx context.Context, t *testing.T) {
			topic := newBus[int](t)
			view := topic.DeadLetterTo(func(herald.DeadLetter[int]) error { return nil })
			s := subscribe(t, view, "s", herald.WithCapacity(1), herald.WithOverflow(c.plan))
			publishAll(t, topic, 1)
			start := time.Now()
			err := topic.Publish(ctx, 2)
			if c.refused == nil {
				wantErr(t, "Publish", err, nil)
			} else {
				wantRefused(t, err, map[string]error{"s": c.refused})
			}
			wantEqual(t, c.after, time.Since(start))
			if n := s.Stats(); c.want(n) != 1 || n.Waiting != 0 {
				t.Errorf("%+v", n)
			}
			wantEqual(t, c.left, takeAll(t, s))
		})
	}
}

// Block(0) inside an Else waits as long as ctx allows.
func TestG07_ElseWithoutLimit(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		_, s, published := blocked(ctx, t, policy.Block(time.Second).Else(policy.Block(0)))
		time.Sleep(30 * time.Minute)
		wantEqual(t, []int{1, 2}, takeAll(t, s))
		wantErr(t, "Publish", <-published, nil)
	})
}
