package herald_test

import (
	"context"
	"sync"
	"testing"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// Who subscribed before a publish began is offered the message, who closed before is not (G3).
func TestG03_OpenSubscriptionsAreOffered(t *testing.T) {
	topic := newBus[int](t)
	publishAll(t, topic, 0) // nobody's
	a := subscribe(t, topic, "a")
	publishAll(t, topic, 1)
	b := subscribe(t, topic, "b")
	publishAll(t, topic, 2)
	a.Close()
	publishAll(t, topic, 3)
	b.Close()
	publishAll(t, topic, 4) // nobody's
	wantEqual(t, []int{1, 2}, takeAll(t, a))
	wantEqual(t, []int{2, 3}, takeAll(t, b))
	if n := topic.Stats().Published; n != 5 {
		t.Errorf("%d published", n)
	}
}

// A handler that subscribes while a message is being dispatched does not get that message, but the next (G3).
func TestG03_SubscribeInsideHandler(t *testing.T) {
	topic := newBus[int](t)
	first := subscribe(t, topic, "first")
	publishAll(t, topic, 1)
	var late *herald.Subscription[int]
	stepWith(t, first, func(context.Context, herald.Message[int]) error {
		late = subscribe(t, topic, "late")
		return nil
	})
	publishAll(t, topic, 2)
	wantEqual(t, []int{2}, takeAll(t, late))
}

// One publish fans out over one snapshot: what a filter, policy or Put does to the list meanwhile comes too late, for
// those after it too (G3).
func TestG03_FanOutIsOneSnapshot(t *testing.T) {
	topic := newBus[int](t)
	var once sync.Once
	var change func()
	subscribe(t, topic.Filter(func(herald.Message[int]) bool {
		once.Do(change)
		return true
	}), "early")
	leaver := subscribe(t, topic, "leaver")
	stayer := subscribe(t, topic, "stayer")
	var joiner *herald.Subscription[int]
	change = func() {
		leaver.Close()
		joiner = subscribe(t, topic, "joiner")
	}
	publishAll(t, topic, 1, 2)
	wantTally(t, leaver, tally{}) // closed before its turn: not offered, no error
	wantEqual(t, []int{1, 2}, takeAll(t, stayer))
	wantEqual(t, []int{2}, takeAll(t, joiner))
}

// A publish inside a filter is a publish of its own: it sees the list as it is then, and is complete when it returns
// (G3).
func TestG03_NestedPublish(t *testing.T) {
	topic := newBus[int](t)
	subscribe(t, topic.Filter(func(m herald.Message[int]) bool {
		if m.Payload == 1 {
			publishAll(t, topic, 10)
		}
		return true
	}), "early")
	s := subscribe(t, topic, "s")
	publishAll(t, topic, 1)
	wantEqual(t, []int{10, 1}, takeAll(t, s))
}

// Seq is the topic's number of the message, 1, 2, 3, … and the same in every subscription (G3).
func TestG03_SeqIsTheSameEverywhere(t *testing.T) {
	topic := newBus[int](t)
	seqs := func(s *herald.Subscription[int]) (got []uint64) {
		for d, ok := s.TryReceive(); ok; d, ok = s.TryReceive() {
			got = append(got, d.Seq)
			d.Ack()
		}
		return got
	}
	a := subscribe(t, topic, "a")
	publishAll(t, topic, 7)
	b := subscribe(t, topic.Filter(func(m herald.Message[int]) bool { return m.Payload != 8 }), "b")
	publishAll(t, topic, 7, 8, 7)
	wantEqual(t, []uint64{1, 2, 3, 4}, seqs(a))
	wantEqual(t, []uint64{2, 4}, seqs(b))
}

// A message is offered to a subscription that opens or closes while it's published, or it is not, but never half or
// twice; what came before Close began is delivered (G3).
func TestG03_SubscribeAndCloseDuringPublish(t *testing.T) {
	const rounds, perRound = 200, 20
	topic := newBus[int](t)
	for range rounds {
		publishAll(t, topic, 0)
		s := subscribe(t, topic, "s", herald.WithOverflow(policy.Reject()))
		var g sync.WaitGroup
		g.Go(func() {
			for i := range perRound {
				if err := topic.Publish(t.Context(), i+1); err != nil {
					t.Errorf("Publish = %v", err)
				}
			}
		})
		g.Go(func() { s.Close() })
		g.Wait()
		got := takeAll(t, s)
		for i, v := range got {
			if v != i+1 {
				t.Fatalf("got %v: not what a prefix of the publishes is", got)
			}
		}
		n := uint64(len(got))
		wantTally(t, s, tally{Offered: n, Accepted: n, Delivered: n})
	}
}
