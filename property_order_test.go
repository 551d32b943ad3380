package herald_test

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// TestPropertySorted: what is there is handled by priority (G11), then in the order of publishing (G12), be it by Run, Step
// or Messages (G27), also when handlers publish more (G18). The model is a slice. Of the options the first go by herald's
// fast lane, the others don't.
func TestPropertySorted(t *testing.T) {
	for name, opts := range map[string][]herald.SubOption{
		"plain":  nil,
		"aside":  {herald.WithRetryAside()},
		"latest": {herald.WithLatest()}, // without keys, so there's nothing to supersede
		"evict":  {herald.WithOverflow(policy.DropOldest())},
	} {
		t.Run(name, func(t *testing.T) {
			checkProperty(t, 20, 4, func(r *rapid.T) {
				rapid.SyncTest(r, func(r *rapid.T) { checkSorted(r, opts) })
			})
		})
	}
}

func checkSorted(r *rapid.T, opts []herald.SubOption) {
	t := &sortedTrial{T: r, topic: new(herald.Topic[int])}
	r.Cleanup(func() { t.topic.Close() })
	for i := range rapid.SampledFrom([]int{1, 3}).Draw(r, "subscriptions") {
		s, err := t.topic.Subscribe(strconv.Itoa(i), append(opts, herald.WithCapacity(1<<20))...)
		if err != nil {
			r.Fatal(err)
		}
		consume := sortedWays[rapid.IntRange(0, len(sortedWays)-1).Draw(r, "way")]
		t.subs = append(t.subs, &sortedSub{Subscription: s, consume: consume})
	}
	for range rapid.IntRange(1, 6).Draw(r, "rounds") {
		for _, b := range rapid.SliceOfN(burst, 0, 6).Draw(r, "published") {
			t.publish(b)
		}
		for _, s := range t.subs {
			n := rapid.IntRange(0, len(s.queue)).Draw(r, "handled")
			meanwhile := rapid.SliceOfN(burst, 0, min(n, 8)).Draw(r, "meanwhile")
			s.some(t, n, meanwhile)
		}
	}
	for _, s := range t.subs {
		s.some(t, len(s.queue), nil)
	}
}

// A sortedBurst is a number of messages of one priority, or none.
type sortedBurst struct {
	n        int
	priority herald.Priority
}

var burst = rapid.Custom(func(r *rapid.T) sortedBurst {
	return sortedBurst{
		n:        rapid.SampledFrom([]int{0, 1, 1, 2, 9, 50}).Draw(r, "n"),
		priority: rapid.SampledFrom(somePriorities).Draw(r, "priority"),
	}
})

type sortedTrial struct {
	*rapid.T
	topic     *herald.Topic[int]
	subs      []*sortedSub
	published int
}

// A sortedSub is a subscription and its model.
type sortedSub struct {
	*herald.Subscription[int]
	queue   []sortedMessage
	consume sortedWay
}

type sortedMessage struct {
	payload  int
	priority herald.Priority
}

func (t *sortedTrial) publish(b sortedBurst) {
	for range b.n {
		t.published++
		if err := t.topic.Publish(context.Background(), t.published, herald.WithPriority(b.priority)); err != nil {
			t.Errorf("Publish = %v", err)
		}
		for _, s := range t.subs {
			s.queue = append(s.queue, sortedMessage{t.published, b.priority})
		}
	}
}

// next is the first of the highest priority.
func (s *sortedSub) next() sortedMessage {
	m := slices.MaxFunc(s.queue, func(a, b sortedMessage) int { return cmp.Compare(a.priority, b.priority) })
	i := slices.Index(s.queue, m)
	s.queue = slices.Delete(s.queue, i, i+1)
	return m
}

// some lets the subscription handle the next n messages. The first of them publish more.
func (s *sortedSub) some(t *sortedTrial, n int, meanwhile []sortedBurst) {
	if n == 0 {
		return
	}
	handled := 0
	s.consume(s.Subscription, n, func(payload int) {
		if handled == n {
			t.Errorf("%q handles %d, want nothing", s.Name(), payload)
			return
		}
		if want := s.next(); payload != want.payload {
			t.Errorf("%q handles %d, want %d (%v)", s.Name(), payload, want.payload, want.priority)
		}
		if handled < len(meanwhile) {
			t.publish(meanwhile[handled])
		}
		handled++
	})
	if handled != n {
		t.Errorf("%q handled %d, want %d", s.Name(), handled, n)
	}
}

// A sortedWay has the next n messages handled, which are there.
type sortedWay func(s *herald.Subscription[int], n int, handle func(payload int))

var sortedWays = []sortedWay{
	runSome,
	func(s *herald.Subscription[int], n int, handle func(int)) {
		// G16: the first time is the wrong moment, which changes nothing.
		_ = s.Run(context.Background(), func(context.Context, herald.Message[int]) error { return policy.Stop(nil) })
		runSome(s, n, handle)
	},
	func(s *herald.Subscription[int], n int, handle func(int)) { // G33: a pause, not the end of ctx, stops it
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = s.Run(ctx, func(_ context.Context, m herald.Message[int]) error {
				handle(m.Payload)
				if n--; n == 0 {
					s.Pause()
				}
				return nil
			})
		}()
		synctest.Wait()
		cancel()
		<-ended
		s.Resume()
	},
	func(s *herald.Subscription[int], n int, handle func(int)) {
		for range n {
			_, _ = s.Step(context.Background(), func(_ context.Context, m herald.Message[int]) error {
				handle(m.Payload)
				return nil
			})
		}
	},
	func(s *herald.Subscription[int], n int, handle func(int)) {
		for d := range s.Messages(context.Background()) {
			handle(d.Payload)
			_ = d.Ack()
			if n--; n == 0 {
				break
			}
		}
	},
}

func runSome(s *herald.Subscription[int], n int, handle func(int)) {
	ctx, cancel := context.WithCancel(context.Background())
	_ = s.Run(ctx, func(_ context.Context, m herald.Message[int]) error {
		handle(m.Payload)
		if n--; n == 0 {
			cancel()
		}
		return nil
	})
}
