package herald_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// Faults that users of other buses met with subscribing, unsubscribing and user code on the publisher's path.

// krasimir/EventBus#11, scottcorgan/tiny-emitter#1, mnot/thor PR#95: unsubscribing during dispatch makes the next
// subscriber miss the event, for the list is changed while it's walked.
func TestB06_UnsubscribeDuringDispatch(t *testing.T) {
	for leaver := range 3 {
		topic := newBus[int](t)
		var subs [3]*herald.Subscription[int]
		for i := range subs {
			subs[i] = subscribe(t, topic, string(rune('a'+i)))
		}
		publishAll(t, topic, 1)
		stepWith(t, subs[leaver], func(context.Context, herald.Message[int]) error { return subs[leaver].Close() })
		publishAll(t, topic, 2)
		for i, s := range subs {
			if i == leaver {
				wantEqual(t, []int(nil), takeAll(t, s))
			} else {
				wantEqual(t, []int{1, 2}, takeAll(t, s))
			}
		}
	}
}

// Sibling: a filter, which runs while the list is walked, closes its own, the one before or the one after.
func TestB06_UnsubscribeWhileTheListIsWalked(t *testing.T) {
	for leaver := range 3 {
		topic := newBus[int](t)
		var subs [3]*herald.Subscription[int]
		for i := range subs {
			subs[i] = subscribe(t, topic.Filter(func(m herald.Message[int]) bool {
				if i == 1 && m.Payload == 1 {
					subs[leaver].Close()
				}
				return true
			}), string(rune('a'+i)))
		}
		publishAll(t, topic, 1, 2)
		want := [][]int{{1, 2}, {1, 2}, {1, 2}}
		want[leaver] = nil
		if leaver == 0 {
			want[0] = []int{1} // it had it before
		}
		for i, s := range subs {
			wantEqual(t, want[i], takeAll(t, s))
		}
	}
}

// software-mansion/argent#870: a subscriber that a handler adds gets the event that's being dispatched.
func TestB07_SubscribeDuringDispatch(t *testing.T) {
	topic := newBus[int](t)
	s1 := subscribe(t, topic, "s1")
	publishAll(t, topic, 1)
	var s2 *herald.Subscription[int]
	stepWith(t, s1, func(context.Context, herald.Message[int]) error {
		s2 = subscribe(t, topic, "s2")
		return nil
	})
	publishAll(t, topic, 2)
	wantEqual(t, []int{2}, takeAll(t, s2))
	wantEqual(t, []int{2}, takeAll(t, s1))
}

// asaskevich/EventBus#60, PR#48, PR#69: several one-shot handlers run twice or aren't removed. Herald has none of its
// own; one that closes itself and discards the rest is one, however many there are and whatever is queued.
func TestB19_OneShotHandlers(t *testing.T) {
	topic, got := newBus[int](t), tape[string]{}
	var subs []*herald.Subscription[int]
	var runs []<-chan error
	for _, name := range []string{"a", "b", "c"} {
		s := subscribe(t, topic, name)
		s.Pause()
		subs = append(subs, s)
		runs = append(runs, running(t.Context(), s, func(context.Context, herald.Message[int]) error {
			got.add(name)
			s.Close()
			s.Discard()
			return nil
		}))
	}
	publishAll(t, topic, 1, 2)
	for _, s := range subs {
		s.Resume()
	}
	for _, ran := range runs {
		wantErr(t, "Run", <-ran, nil)
	}
	publishAll(t, topic, 3)
	all := got.list()
	slices.Sort(all)
	wantEqual(t, []string{"a", "b", "c"}, all)
	if n := topic.Stats().Subscriptions; n != 0 {
		t.Errorf("%d are left", n)
	}
}

// Azure/go-shuttle#30, GoogleCloudPlatform/scion PR#1166, tendermint/tendermint PR#8323: a nil handler is taken and
// blows up at the first message, and a failed subscribe returns something that is not nil.
func TestB21_NilIsRefusedAtOnce(t *testing.T) {
	topic := newBus[*int](t)
	s := subscribe(t, topic, "s")
	wantErr(t, "Run", s.Run(t.Context(), nil), herald.ErrOption)
	wantErr(t, "Run", s.Run(noContext, func(context.Context, herald.Message[*int]) error { return nil }), herald.ErrOption)
	wantErr(t, "Step", second(s.Step(t.Context(), nil)), herald.ErrOption)
	for what, v := range map[string]herald.View[*int]{
		"filter": topic.Filter(nil), "key": topic.KeyBy(nil), "put": topic.DeadLetterTo(nil),
	} {
		failed, err := v.Subscribe("nil")
		wantErr(t, what, err, herald.ErrOption)
		if any(failed) != any((*herald.Subscription[*int])(nil)) {
			t.Errorf("%s: %v and an error", what, failed)
		}
	}
	publishAll(t, topic, nil) // a nil payload is a value
	wantEqual(t, []*int{nil}, takeAll(t, s))
}

// zeroc-ice/ice#6615: a filter that throws breaks the publish, and leaves state behind.
func TestB25_FilterPanics(t *testing.T) {
	topic, box := newBus[int](t), letterBox[int]{}
	s1 := subscribe(t, topic.DeadLetterTo(box.put).Filter(func(m herald.Message[int]) bool {
		if m.Payload == 1 {
			panic(errors.New("filter"))
		}
		return true
	}), "s1")
	s2 := subscribe(t, topic, "s2")
	publishAll(t, topic, 1, 2)
	wantEqual(t, []int{1, 2}, takeAll(t, s2))
	wantEqual(t, []int{2}, takeAll(t, s1))
	wantTally(t, s1, tally{Offered: 2, Accepted: 2, Dead: 1, Delivered: 1})
	if n := s1.Stats().DeadBy.FilterFailed; n != 1 || len(box.list()) != 1 {
		t.Errorf("%d filter errors, %d letters", n, len(box.list()))
	}
}

// Siblings: a policy that panics, a Put that does, and all of them in one publish.
func TestB25_EverythingPanics(t *testing.T) {
	topic := newBus[int](t)
	first := subscribe(t, topic, "first")
	bad := topic.DeadLetterTo(func(herald.DeadLetter[int]) error { panic("put") })
	subscribe(t, bad.Filter(func(herald.Message[int]) bool { panic("filter") }), "filter")
	subscribe(t, bad.KeyBy(func(herald.Message[int]) string { panic("key") }), "key")
	subscribe(t, bad, "policy", herald.WithCapacity(1),
		herald.WithOverflow(overflowFunc(func(policy.Full) policy.Action { panic("policy") })))
	last := subscribe(t, topic, "last")
	publishAll(t, topic, 1, 2)
	wantEqual(t, []int{1, 2}, takeAll(t, first))
	wantEqual(t, []int{1, 2}, takeAll(t, last))
	for s := range topic.Subscriptions() {
		checkSound(t, s)
		if s.Offered != 2 || s.PutFailed != s.Dead {
			t.Errorf("%+v", s)
		}
	}
}
