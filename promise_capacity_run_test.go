package herald_test

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// How exact capacity is while a Run is at work, which may have taken more than the message in hand.

// fill publishes until the subscription is full, and returns how many it took.
func fill(ctx context.Context, t *testing.T, topic *herald.Topic[int], opts ...herald.PublishOption) (n int) {
	t.Helper()
	for {
		switch err := topic.Publish(ctx, n, opts...); {
		case err == nil:
			n++
		case errors.Is(err, herald.ErrFull):
			return n
		default:
			t.Errorf("Publish = %v", err)
			return n
		}
	}
}

// Seen from inside a handler of a Run there's room for exactly as many as the capacity and what is queued say, whether
// the messages are plain, keyed, of different priorities, or all that in turn (G6).
func TestG06_RoomIsExactInsideRun(t *testing.T) {
	kinds := map[string]func(i int) []herald.PublishOption{
		"plain": func(int) []herald.PublishOption { return nil },
		"priorities": func(i int) []herald.PublishOption {
			return []herald.PublishOption{herald.WithPriority(priorities[i%4])}
		},
		"keys": func(i int) []herald.PublishOption { return []herald.PublishOption{herald.WithKey(strconv.Itoa(i % 3))} },
		"mixed": func(i int) []herald.PublishOption {
			if i%2 == 0 {
				return nil
			}
			return []herald.PublishOption{herald.WithKey("k"), herald.WithPriority(priorities[i/2%4])}
		},
	}
	for what, kind := range kinds {
		for _, capacity := range []int{1, 2, 3, 64, 1024} {
			t.Run(what+"/"+strconv.Itoa(capacity), func(t *testing.T) {
				topic := newBus[int](t)
				s := subscribe(t, topic, "s", herald.WithCapacity(capacity))
				if n := fill(t.Context(), t, topic); n != capacity {
					t.Errorf("room for %d", n)
				}
				handled := 0
				ran := running(t.Context(), s, func(ctx context.Context, _ herald.Message[int]) error {
					handled++
					want := 1 // this message's place
					if handled == 3 {
						want += s.Discard()
					}
					if n := fill(ctx, t, topic, kind(handled)...); n != want {
						t.Errorf("message %d: room for %d, want %d", handled, n, want)
					}
					if n := s.Stats(); n.Queued != uint64(capacity) || n.InFlight != 1 {
						t.Errorf("message %d: %d queued, %d in flight", handled, n.Queued, n.InFlight)
					}
					if handled == 2*capacity+3 {
						s.Close()
						s.Discard()
					}
					return nil
				})
				wantErr(t, "Run", <-ran, nil)
			})
		}
	}
}

// However publishers and a Run race, no snapshot shows more queued than the capacity, nor more in flight than the
// concurrency (G6).
func TestG06_NeverAboveCapacity(t *testing.T) {
	const publishers, each = 3, 300
	for name, opts := range map[string][]herald.SubOption{
		"block":       {herald.WithOverflow(policy.Block(0))},
		"reject":      {herald.WithOverflow(policy.Reject())},
		"drop newest": {herald.WithOverflow(policy.DropNewest())},
		"drop oldest": {herald.WithOverflow(policy.DropOldest())},
		"workers":     {herald.WithOverflow(policy.Block(0)), herald.WithConcurrency(2)},
	} {
		for _, capacity := range []int{1, 2, 3, 100} {
			topic, stop := newBus[int](t), make(chan struct{})
			s := subscribe(t, topic, "s", append(opts, herald.WithCapacity(capacity))...)
			var watch, work sync.WaitGroup
			watch.Go(func() {
				for {
					n := s.Stats()
					checkSound(t, n)
					if n.Queued+n.Delayed > uint64(capacity) || n.InFlight > 2 || n.InFlight > 1 && name != "workers" {
						t.Errorf("%s, capacity %d: %+v", name, capacity, n)
						return
					}
					select {
					case <-stop:
						return
					default:
						runtime.Gosched()
					}
				}
			})
			ran := running(t.Context(), s, func(context.Context, herald.Message[int]) error { return nil })
			for id := range publishers {
				work.Go(func() {
					for i := range each {
						_ = topic.Publish(t.Context(), i, herald.WithPriority(priorities[(i+id)%4]))
					}
				})
			}
			work.Wait()
			close(stop)
			watch.Wait()
			wantErr(t, "Drain", topic.Drain(t.Context()), nil)
			wantErr(t, "Run", <-ran, nil)
		}
	}
}

// A Run that makes room serves those who wait in the order in which they came, however much it takes at a time (G9).
func TestG09_RunServesInOrder(t *testing.T) {
	for _, capacity := range []int{1, 3, 8} {
		bubble(t, strconv.Itoa(capacity), func(ctx context.Context, t *testing.T) {
			topic, got, gate := newBus[int](t), tape[int]{}, make(chan struct{})
			s := subscribe(t, topic, "s", herald.WithCapacity(capacity), herald.WithOverflow(policy.Block(0)))
			ran := running(ctx, s, func(ctx context.Context, m herald.Message[int]) error {
				<-gate
				return got.handler(ctx, m)
			})
			var want []int
			var waiting []<-chan error
			for i := range 30 {
				waiting = append(waiting, background(func() error { return topic.Publish(ctx, i) }))
				settle()
				want = append(want, i)
			}
			if n := s.Stats(); n.Waiting != 30-capacity-1 {
				t.Errorf("%d wait", n.Waiting)
			}
			close(gate)
			for _, w := range waiting {
				wantErr(t, "Publish", <-w, nil)
			}
			wantErr(t, "Drain", topic.Drain(ctx), nil)
			wantErr(t, "Run", <-ran, nil)
			wantEqual(t, want, got.list())
		})
	}
}

// One that comes while the Run makes room doesn't get in before one that was waiting already (G9).
func TestG09_NobodyOvertakesARun(t *testing.T) {
	topic, gate, got := newBus[int](t), make(chan struct{}), tape[int]{}
	s := subscribe(t, topic, "s", blocking(0)...)
	ran := running(t.Context(), s, func(ctx context.Context, m herald.Message[int]) error {
		<-gate
		return got.handler(ctx, m)
	})
	until := func(reached func(herald.SubStats) bool) {
		for !reached(s.Stats()) {
			runtime.Gosched()
		}
	}
	returns(t, "a publisher", func() {
		for round := range 500 {
			v := 4 * round
			publishAll(t, topic, v)
			until(func(n herald.SubStats) bool { return n.InFlight == 1 && n.Queued == 0 })
			publishAll(t, topic, v+1)
			var g sync.WaitGroup
			g.Go(func() { publishAll(t, topic, v+2) })
			until(func(n herald.SubStats) bool { return n.Waiting == 1 })
			g.Go(func() { gate <- struct{}{} }) // makes room
			g.Go(func() { publishAll(t, topic, v+3) })
			for range 3 {
				gate <- struct{}{}
			}
			g.Wait()
			until(func(n herald.SubStats) bool { return n.Queued+n.InFlight == 0 })
		}
	})
	s.Close()
	wantErr(t, "Run", <-ran, nil)
	for i, v := range got.list() {
		if i != v {
			t.Fatalf("%d was handled as number %d", v, i)
		}
	}
}
