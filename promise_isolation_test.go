package herald_test

import (
	"context"
	"testing"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// A neighbour is a subscription in trouble: made on the topic, and put into trouble. The function returned gets it out
// again.
type neighbour func(ctx context.Context, t *testing.T, topic *herald.Topic[int]) (out func())

func allow(herald.Message[int]) bool { return true }

var neighbours = map[string]neighbour{
	"slow": func(ctx context.Context, t *testing.T, topic *herald.Topic[int]) func() {
		s := subscribe(t, topic, "bad", herald.WithOverflow(policy.DropOldest()), herald.WithCapacity(2))
		ctx, cancel := context.WithCancel(ctx)
		go s.Run(ctx, func(ctx context.Context, _ herald.Message[int]) error {
			select {
			case <-time.After(time.Minute):
			case <-ctx.Done():
			}
			return nil
		})
		return cancel
	},
	"stuck": func(ctx context.Context, t *testing.T, topic *herald.Topic[int]) func() {
		s := subscribe(t, topic, "bad", herald.WithOverflow(policy.DropNewest()), herald.WithCapacity(1))
		publishAll(t, topic, -1)
		return held(t, s)
	},
	"paused": func(ctx context.Context, t *testing.T, topic *herald.Topic[int]) func() {
		s := subscribe(t, topic, "bad")
		ctx, cancel := context.WithCancel(ctx)
		go s.Run(ctx, func(context.Context, herald.Message[int]) error { return nil })
		s.Pause()
		return cancel
	},
	"handler panics": func(ctx context.Context, t *testing.T, topic *herald.Topic[int]) func() {
		s := subscribe(t, topic, "bad", herald.WithRetry(policy.Never()))
		ctx, cancel := context.WithCancel(ctx)
		go s.Run(ctx, func(context.Context, herald.Message[int]) error { panic("handler") })
		return cancel
	},
	"filter panics": func(ctx context.Context, t *testing.T, topic *herald.Topic[int]) func() {
		subscribe(t, topic.Filter(func(herald.Message[int]) bool { panic("filter") }), "bad")
		return func() {}
	},
	"key panics": func(ctx context.Context, t *testing.T, topic *herald.Topic[int]) func() {
		subscribe(t, topic.KeyBy(func(herald.Message[int]) string { panic("key") }), "bad")
		return func() {}
	},
	"store panics": func(ctx context.Context, t *testing.T, topic *herald.Topic[int]) func() {
		subscribe(t, topic.Filter(func(herald.Message[int]) bool { panic("filter") }).
			DeadLetterTo(func(herald.DeadLetter[int]) error { panic("store") }), "bad")
		return func() {}
	},
	"full, drops": func(ctx context.Context, t *testing.T, topic *herald.Topic[int]) func() {
		subscribe(t, topic, "bad", herald.WithCapacity(1), herald.WithOverflow(policy.DropOldest()))
		return func() {}
	},
	"closed": func(ctx context.Context, t *testing.T, topic *herald.Topic[int]) func() {
		subscribe(t, topic, "bad").Close()
		return func() {}
	},
	"policy panics": func(ctx context.Context, t *testing.T, topic *herald.Topic[int]) func() {
		subscribe(t, topic, "bad", herald.WithCapacity(1),
			herald.WithOverflow(overflowFunc(func(policy.Full) policy.Action { panic("policy") })))
		return func() {}
	},
}

// A slow, stuck, paused, panicking, full or closed subscription changes nothing for another: whether that one was
// there first or came later, it gets everything, in order, at once (G10).
func TestG10_TroubleStaysAtHome(t *testing.T) {
	for what, trouble := range neighbours {
		bubble(t, what, func(ctx context.Context, t *testing.T) {
			topic, first, second := newBus[int](t), tape[int]{}, tape[int]{}
			elder := subscribe(t, topic, "elder")
			out := trouble(ctx, t, topic)
			younger := subscribe(t, topic, "younger")
			takeAll(t, elder)
			firstRan, secondRan := running(ctx, elder, first.handler), running(ctx, younger, second.handler)
			start := time.Now()
			publishAll(t, topic, 1, 2, 3, 4, 5)
			settle()
			wantEqual(t, []int{1, 2, 3, 4, 5}, first.list())
			wantEqual(t, []int{1, 2, 3, 4, 5}, second.list())
			wantEqual(t, time.Duration(0), time.Since(start))
			wantTally(t, younger, tally{Offered: 5, Accepted: 5, Delivered: 5})
			elder.Close()
			younger.Close()
			wantErr(t, "Run", <-firstRan, nil)
			wantErr(t, "Run", <-secondRan, nil)
			out()
		})
	}
}

// One that refuses is in the publisher's error, and that is all: the others have the message (G10).
func TestG10_RefusalConcernsNobodyElse(t *testing.T) {
	for what, plan := range map[string]policy.Action{"reject": policy.Reject(), "disconnect": policy.Disconnect()} {
		topic := newBus[int](t)
		elder := subscribe(t, topic, "elder")
		subscribe(t, topic, "bad", herald.WithCapacity(1), herald.WithOverflow(plan))
		younger := subscribe(t, topic, "younger")
		publishAll(t, topic, 1)
		if err := topic.Publish(t.Context(), 2); err == nil {
			t.Errorf("%s: no error", what)
		}
		wantEqual(t, []int{1, 2}, takeAll(t, elder))
		wantEqual(t, []int{1, 2}, takeAll(t, younger))
	}
}

// Under Block one that is stuck delays the publisher, but only after all others have been offered the message, and
// other publishers to other topics not at all (G10).
func TestG10_BlockDelaysOnlyThePublisher(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic, got := newBus[int](t), tape[int]{}
		stuck := subscribe(t, topic, "stuck", herald.WithCapacity(1), herald.WithOverflow(policy.Block(0)))
		free := subscribe(t, topic, "free")
		ran := running(ctx, free, got.handler)
		publishAll(t, topic, 1)
		var waiting []<-chan error
		for i := range 3 {
			waiting = append(waiting, background(func() error { return topic.Publish(ctx, 2+i) }))
			settle()
			wantEqual(t, 2+i, len(got.list())) // it has it already
		}
		wantEqual(t, []int{1, 2, 3, 4}, got.list())
		wantTally(t, free, tally{Offered: 4, Accepted: 4, Delivered: 4})
		stuck.Close()
		for _, w := range waiting {
			wantErr(t, "Publish", <-w, nil)
		}
		free.Close()
		wantErr(t, "Run", <-ran, nil)
	})
}

// Statistics, pausing and discarding of one subscription don't touch another's.
func TestG10_AccountsAreApart(t *testing.T) {
	topic := newBus[int](t)
	a, b := subscribe(t, topic, "a"), subscribe(t, topic.Filter(allow), "b")
	publishAll(t, topic, 1, 2, 3)
	a.Pause()
	if n := a.Discard(); n != 3 {
		t.Errorf("%d discarded", n)
	}
	wantTally(t, b, tally{Offered: 3, Accepted: 3, Queued: 3})
	if b.Stats().Paused || !a.Stats().Paused {
		t.Error("the other one is paused")
	}
	wantEqual(t, []int{1, 2, 3}, takeAll(t, b))
	wantTally(t, a, tally{Offered: 3, Accepted: 3, Discarded: 3})
}
