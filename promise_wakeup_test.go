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

// queueUp lets n publishers wait for room in a subscription that is full, in the order of their values, which begin with
// 100; the i-th has the priority of its turn.
func queueUp(ctx context.Context, t *testing.T, topic *herald.Topic[int], n int) []<-chan error {
	t.Helper()
	var all []<-chan error
	for i := range n {
		all = append(all, background(func() error {
			return topic.Publish(ctx, 100+i, herald.WithPriority(priorities[i%4]))
		}))
		settle()
	}
	return all
}

// Waiting publishers are served first come, first served, whatever the priority of what they bring: as soon as there
// is room for one, the first goes in, and nobody else (G9).
func TestG09_FirstComeFirstServed(t *testing.T) {
	for _, capacity := range []int{1, 3} {
		bubble(t, strconv.Itoa(capacity), func(ctx context.Context, t *testing.T) {
			topic := newBus[int](t)
			s := subscribe(t, topic, "s", herald.WithCapacity(capacity), herald.WithOverflow(policy.Block(0)))
			for i := range capacity {
				publishAll(t, topic, i)
			}
			waiting := queueUp(ctx, t, topic, 12)
			for served := 1; served <= len(waiting); served++ {
				stepWith(t, s, func(context.Context, herald.Message[int]) error { return nil })
				settle()
				for i, w := range waiting {
					if pending(w) != (i >= served) {
						t.Fatalf("with room for %d, number %d waits: %v", served, i+1, pending(w))
					}
				}
			}
		})
	}
}

// Nobody overtakes those who wait: a publish that comes when room is made goes to the end of the line (G9).
func TestG09_NobodyOvertakes(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newBus[int](t)
		s := subscribe(t, topic, "s", herald.WithCapacity(1), herald.WithOverflow(policy.Block(0)))
		publishAll(t, topic, 1)
		first := queueUp(ctx, t, topic, 3)
		var late <-chan error
		stepWith(t, s, func(context.Context, herald.Message[int]) error {
			late = background(func() error { return topic.Publish(ctx, 999, herald.WithPriority(herald.Critical)) })
			settle()
			return nil
		})
		var got []int
		for range 4 {
			settle()
			stepWith(t, s, func(_ context.Context, m herald.Message[int]) error {
				got = append(got, m.Payload)
				return nil
			})
		}
		wantEqual(t, []int{100, 101, 102, 999}, got)
		for _, w := range append(first, late) {
			wantErr(t, "Publish", <-w, nil)
		}
	})
}

// Where much room is made at once, as many go in at once as fit, in order (G9).
func TestG09_RoomForSeveral(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newBus[int](t)
		s := subscribe(t, topic, "s", herald.WithCapacity(3), herald.WithOverflow(policy.Block(0)))
		publishAll(t, topic, 1, 2, 3)
		waiting := queueUp(ctx, t, topic, 5)
		s.Discard()
		settle()
		for i, w := range waiting {
			if pending(w) != (i >= 3) {
				t.Errorf("number %d waits: %v", i+1, pending(w))
			}
		}
		wantTally(t, s, tally{Offered: 6, Accepted: 6, Discarded: 3, Queued: 3})
		s.Close()
	})
}

// One that gives up leaves the line without a gap, wherever it stands (G9).
func TestG09_GivingUpLeavesNoGap(t *testing.T) {
	for leaver := range 3 {
		bubble(t, strconv.Itoa(leaver), func(ctx context.Context, t *testing.T) {
			topic := newBus[int](t)
			s := subscribe(t, topic, "s", herald.WithCapacity(1), herald.WithOverflow(policy.Block(0)))
			publishAll(t, topic, 0)
			var cancels []context.CancelFunc
			for i := range 3 {
				ctx, cancel := context.WithCancel(ctx)
				cancels = append(cancels, cancel)
				go topic.Publish(ctx, i+1)
				settle()
			}
			cancels[leaver]()
			settle()
			want := []int{0}
			for i := range 3 {
				if i != leaver {
					want = append(want, i+1)
				}
			}
			var got []int
			for range want {
				got = append(got, takeOne(t, s))
				settle()
			}
			wantEqual(t, want, got)
			for _, cancel := range cancels {
				cancel()
			}
		})
	}
}

func takeOne(t *testing.T, s *herald.Subscription[int]) (v int) {
	t.Helper()
	stepWith(t, s, func(_ context.Context, m herald.Message[int]) error {
		v = m.Payload
		return nil
	})
	return v
}

// A publisher that gives up at the moment at which it would be admitted is either accepted or not, and the room it
// doesn't take goes to the next (G9).
func TestG09_GivingUpWhileAdmitted(t *testing.T) {
	topic := newBus[int](t)
	s := subscribe(t, topic, "s", herald.WithCapacity(1), herald.WithOverflow(policy.Block(0)))
	ok := returns(t, "a publisher or consumer", func() {
		for range 300 {
			publishAll(t, topic, 1)
			leaving, leave := context.WithCancel(t.Context())
			first := background(func() error { return topic.Publish(leaving, 2) })
			second := background(func() error { return topic.Publish(t.Context(), 3) })
			var g sync.WaitGroup
			g.Go(leave)
			g.Go(func() { takeOne(t, s) })
			g.Wait()
			want := 1
			if <-first == nil {
				want++
			}
			for i := 0; i < want; {
				if ok, _ := s.Step(t.Context(), func(context.Context, herald.Message[int]) error { return nil }); ok {
					i++
				}
			}
			wantErr(t, "Publish", <-second, nil)
		}
	})
	if n := s.Stats(); ok && n.Waiting+int(n.Queued) != 0 {
		t.Errorf("%+v", n)
	}
}

// Never is there room and a waiting publisher, nor a message and an idle worker, with nobody on the way: publishers
// that block and a Run of any concurrency get everything through, and each publisher's messages in its order (G9).
func TestG09_NoLostWakeUp(t *testing.T) {
	const publishers, each = 4, 1000
	for _, c := range []struct{ capacity, concurrency int }{{1, 1}, {1, 3}, {2, 1}, {3, 2}, {1024, 1}} {
		topic := newBus[int](t)
		s := subscribe(t, topic, "s", herald.WithCapacity(c.capacity), herald.WithConcurrency(c.concurrency),
			herald.WithOverflow(policy.Block(0)))
		var handled atomic.Int64
		var last [publishers]int
		ok := returns(t, "publishers or Run", func() {
			ran := running(t.Context(), s, func(_ context.Context, m herald.Message[int]) error {
				handled.Add(1)
				if c.concurrency > 1 {
					return nil
				}
				id, i := m.Payload%publishers, m.Payload/publishers+1
				if last[id] != i-1 {
					t.Errorf("publisher %d: message %d after %d", id, i, last[id])
				}
				last[id] = i
				return nil
			})
			var g sync.WaitGroup
			for id := range publishers {
				g.Go(func() {
					for i := range each {
						publishAll(t, topic, i*publishers+id)
					}
				})
			}
			g.Wait()
			wantErr(t, "Drain", topic.Drain(t.Context()), nil)
			wantErr(t, "Run", <-ran, nil)
		})
		if ok && handled.Load() != publishers*each {
			t.Errorf("%+v: %d handled", c, handled.Load())
		}
	}
}

// A burst keeps all workers busy: each of several idle ones is woken (G9).
func TestG09_BurstWakesAllWorkers(t *testing.T) {
	const workers = 4
	for what, burst := range map[string]func(*herald.Topic[int]){
		"publishes": func(topic *herald.Topic[int]) { publishAll(t, topic, 1, 2, 3, 4) },
		"batch":     func(topic *herald.Topic[int]) { topic.PublishBatch(t.Context(), []int{1, 2, 3, 4}) },
		"delayed": func(topic *herald.Topic[int]) {
			topic.PublishBatch(t.Context(), []int{1, 2, 3, 4}, herald.WithDelay(time.Second))
		},
	} {
		bubble(t, what, func(ctx context.Context, t *testing.T) {
			topic := newBus[int](t)
			s := subscribe(t, topic, "s", herald.WithConcurrency(workers))
			var busy atomic.Int32
			gate := make(chan struct{})
			ran := running(ctx, s, func(context.Context, herald.Message[int]) error {
				busy.Add(1)
				<-gate
				return nil
			})
			settle()
			burst(topic)
			time.Sleep(time.Second)
			settle()
			if n := busy.Load(); n != workers {
				t.Errorf("%d of %d workers are busy", n, workers)
			}
			close(gate)
			wantErr(t, "Drain", s.Drain(ctx), nil)
			wantErr(t, "Run", <-ran, nil)
		})
	}
}
