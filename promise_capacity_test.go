package herald_test

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

var priorities = []herald.Priority{herald.Low, herald.Normal, herald.High, herald.Critical}

// askFirst is a policy of the user's own: it says what its plan does, and counts how often it was asked.
type askFirst struct {
	plan  policy.Action
	asked *atomic.Int32
}

func (p askFirst) OnFull(policy.Full) policy.Action {
	p.asked.Add(1)
	return p.plan
}

// overflowCase is a policy and what its account says once it has acted on one message.
type overflowCase struct {
	name  string
	plan  policy.Action
	acted func(n herald.SubStats) uint64
}

var overflowCases = []overflowCase{
	{"reject", policy.Reject(), func(n herald.SubStats) uint64 { return n.Refused }},
	{"drop newest", policy.DropNewest(), func(n herald.SubStats) uint64 { return n.DroppedBy.Newest }},
	{"drop oldest", policy.DropOldest(), func(n herald.SubStats) uint64 { return n.DroppedBy.Oldest }},
	{"dead letter", policy.DeadLetter(), func(n herald.SubStats) uint64 { return n.DeadBy.Overflow }},
	{"disconnect", policy.Disconnect(), func(n herald.SubStats) uint64 { return n.Refused }},
	{"block", policy.Block(time.Second), func(n herald.SubStats) uint64 { return n.Refused }},
	{"block, else", policy.Block(time.Second).Else(policy.DropNewest()),
		func(n herald.SubStats) uint64 { return n.DroppedBy.Newest }},
}

// newFull makes a subscription of the case's policy, plain or asked, with one message in flight and its queue filled
// with messages of all priorities, every third of them delayed.
func newFull(t *testing.T, c overflowCase, capacity int, o policy.Overflow) (*herald.Topic[int], *herald.Subscription[int]) {
	topic := newBus[int](t)
	s := subscribe(t, topic.DeadLetterTo(func(herald.DeadLetter[int]) error { return nil }), "s",
		herald.WithCapacity(capacity), herald.WithOverflow(o))
	publishAll(t, topic, -1)
	t.Cleanup(held(t, s))
	for i := range capacity {
		if n := c.acted(s.Stats()); n != 0 {
			t.Fatalf("acted on message %d of %d", i, capacity)
		}
		opts := []herald.PublishOption{herald.WithPriority(priorities[i%4])}
		if i%3 == 1 {
			opts = append(opts, herald.WithDelay(time.Hour))
		}
		wantErr(t, "Publish", topic.Publish(t.Context(), i, opts...), nil)
	}
	return topic, s
}

// The policy acts if and only if as many messages are queued and delayed, of all priorities together, as the capacity
// says: not one earlier and not one later. What is in flight doesn't count (G6).
func TestG06_PolicyActsExactlyAtCapacity(t *testing.T) {
	for _, c := range overflowCases {
		for _, capacity := range []int{1, 2, 3, 1024} {
			bubble(t, c.name+"/"+strconv.Itoa(capacity), func(ctx context.Context, t *testing.T) {
				topic, s := newFull(t, c, capacity, c.plan)
				_ = topic.Publish(ctx, 1)
				if n := s.Stats(); c.acted(n) != 1 || n.InFlight != 1 || n.Queued+n.Delayed != uint64(capacity) {
					t.Errorf("after one too many: %+v", n)
				}
			})
			bubble(t, c.name+", asked/"+strconv.Itoa(capacity), func(ctx context.Context, t *testing.T) {
				var asked atomic.Int32
				topic, s := newFull(t, c, capacity, askFirst{c.plan, &asked})
				if n := asked.Load(); n != 0 {
					t.Errorf("asked %d times while there is room", n)
				}
				tooMuch, cancel := context.WithTimeout(ctx, 3*time.Second) // a policy asked again blocks again
				defer cancel()
				_ = topic.Publish(tooMuch, 1)
				if n := s.Stats(); c.acted(n) != 1 || asked.Load() == 0 {
					t.Errorf("asked %d times: %+v", asked.Load(), n)
				}
			})
		}
	}
}

// Room is room at once: after each message that leaves the queue one more is accepted, and the next is not (G6).
func TestG06_RoomIsExact(t *testing.T) {
	for _, capacity := range []int{1, 2, 3, 1024} {
		topic := newBus[int](t)
		s := subscribe(t, topic, "s", herald.WithCapacity(capacity))
		full := func(after string) {
			t.Helper()
			wantRefused(t, topic.Publish(t.Context(), 0), map[string]error{"s": herald.ErrFull})
			if n := s.Stats(); n.Queued+n.Delayed != uint64(capacity) {
				t.Errorf("capacity %d, after %s: %+v", capacity, after, n)
			}
		}
		for range capacity {
			publishAll(t, topic, 0)
		}
		full("filling")
		open := held(t, s)
		publishAll(t, topic, 0)
		full("a pick")
		open()
		full("an end")
		s.Discard()
		for range capacity {
			publishAll(t, topic, 0)
		}
		full("Discard")
	}
}

// An attempt that failed comes back even to a full queue, so that queue and delayed exceed the capacity by at most the
// concurrency; meanwhile nothing is accepted, and what came back is not evicted for it (G6).
func TestG06_RetryComesBackToFullQueue(t *testing.T) {
	const concurrency, capacity = 3, 2
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newBus[int](t)
		s := subscribe(t, topic, "s", herald.WithCapacity(capacity), herald.WithConcurrency(concurrency),
			herald.WithRetryAside(), herald.WithRetry(policy.Schedule{time.Second}))
		gate := make(chan struct{})
		var got tape[int]
		ran := running(ctx, s, func(ctx context.Context, m herald.Message[int]) error {
			if m.Attempt == 1 && m.Payload < concurrency {
				<-gate
				return errAttempt
			}
			time.Sleep(time.Second)
			return got.handler(ctx, m)
		})
		for i := range concurrency {
			publishAll(t, topic, i)
			settle()
		}
		publishAll(t, topic, 3, 4)
		s.Pause()
		close(gate)
		settle()
		wantTally(t, s, tally{Offered: 5, Accepted: 5, Queued: 2, Delayed: 3})
		wantRefused(t, topic.Publish(ctx, 5), map[string]error{"s": herald.ErrFull})
		s.Resume()
		settle()
		wantTally(t, s, tally{Offered: 6, Accepted: 5, Refused: 1, Delayed: 3, InFlight: 2})
		wantRefused(t, topic.Publish(ctx, 5), map[string]error{"s": herald.ErrFull})
		wantErr(t, "Drain", s.Drain(ctx), nil)
		wantErr(t, "Run", <-ran, nil)
		if n := len(got.list()); n != 5 {
			t.Errorf("%d of 5 handled", n)
		}
	})
}

// What came back above the capacity stays above it: DropOldest evicts one for one (G6).
func TestG06_DropOldestAboveCapacity(t *testing.T) {
	topic := newBus[int](t)
	s := subscribe(t, topic, "s", herald.WithCapacity(1), herald.WithOverflow(policy.DropOldest()))
	publishAll(t, topic, 1)
	open := inFlight(t, s, func(context.Context, herald.Message[int]) error {
		publishAll(t, topic, 2) // fills the queue again
		return policy.Stop(nil) // gives 1 back
	})
	open()
	wantTally(t, s, tally{Offered: 2, Accepted: 2, Queued: 2})
	publishAll(t, topic, 3) // evicts 1, the oldest
	wantTally(t, s, tally{Offered: 3, Accepted: 3, Dropped: 1, Queued: 2})
	wantEqual(t, []int{2, 3}, takeAll(t, s))
}

// A message that has expired takes no room: the offer that finds the queue full notices (G6).
func TestG06_ExpiredMessagesTakeNoRoom(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newBus[int](t)
		s := subscribe(t, topic, "s", herald.WithCapacity(2))
		for i := range 2 {
			wantErr(t, "Publish", topic.Publish(ctx, i, herald.WithTTL(time.Second)), nil)
		}
		time.Sleep(time.Second - 1)
		wantRefused(t, topic.Publish(ctx, 2), map[string]error{"s": herald.ErrFull})
		time.Sleep(time.Nanosecond)
		publishAll(t, topic, 3, 4)
		wantRefused(t, topic.Publish(ctx, 5), map[string]error{"s": herald.ErrFull})
		wantEqual(t, []int{3, 4}, takeAll(t, s))
	})
}

// Of publishers that come at the same time exactly as many find room as there is (G6).
func TestG06_ExactAmongManyPublishers(t *testing.T) {
	const publishers, each = 4, 300
	for _, capacity := range []int{1, 2, 3, 1024} {
		topic := newBus[int](t)
		s := subscribe(t, topic, "s", herald.WithCapacity(capacity))
		var accepted atomic.Int64
		var g sync.WaitGroup
		for range publishers {
			g.Go(func() {
				for range each {
					if topic.Publish(t.Context(), 0) == nil {
						accepted.Add(1)
					}
				}
			})
		}
		g.Wait()
		if accepted.Load() != int64(capacity) {
			t.Errorf("capacity %d: %d accepted", capacity, accepted.Load())
		}
		c := uint64(capacity)
		wantTally(t, s, tally{Offered: publishers * each, Accepted: c, Refused: publishers*each - c, Queued: c})
	}
}
