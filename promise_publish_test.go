package herald_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// nil means that every subscription that was offered the message accepted it, whether it keeps it or not (G8).
func TestG08_NilMeansAcceptedByAll(t *testing.T) {
	topic := newBus[int](t)
	wantErr(t, "Publish to nobody", topic.Publish(t.Context(), 0), nil)
	free := subscribe(t, topic, "free")
	drops := subscribe(t, topic, "drops", herald.WithCapacity(1), herald.WithOverflow(policy.DropNewest()))
	filters := subscribe(t, topic.Filter(func(m herald.Message[int]) bool { return m.Payload == 1 }), "filters")
	publishAll(t, topic, 1, 2)
	wantTally(t, free, tally{Offered: 2, Accepted: 2, Queued: 2})
	wantTally(t, drops, tally{Offered: 2, Accepted: 2, Dropped: 1, Queued: 1})
	wantTally(t, filters, tally{Offered: 2, Accepted: 1, Filtered: 1, Queued: 1})
}

// Else it's a PublishError that names topic, message, and each subscription that did not accept it, with the reason;
// all others did (G8).
func TestG08_PublishErrorNamesWhoRefused(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newBus[int](t)
		plans := map[string]policy.Action{
			"a rejects":     policy.Reject(),
			"b disconnects": policy.Disconnect(),
			"c blocks":      policy.Block(time.Second),
			"d free":        policy.Reject(),
			"e drops":       policy.DropOldest(),
			"f blocks":      policy.Block(time.Second).Else(policy.Disconnect()),
			"g else":        policy.Block(2 * time.Second).Else(policy.DropNewest()),
		}
		subs := map[string]*herald.Subscription[int]{}
		for _, name := range strings.Split("a rejects,b disconnects,c blocks,d free,e drops,f blocks,g else", ",") {
			subs[name] = subscribe(t, topic, name, herald.WithCapacity(1), herald.WithOverflow(plans[name]))
		}
		publishAll(t, topic, 1)
		takeAll(t, subs["d free"])
		err := topic.Publish(ctx, 2)
		wantRefused(t, err, map[string]error{"a rejects": herald.ErrFull, "b disconnects": herald.ErrDisconnected,
			"c blocks": herald.ErrFull, "f blocks": herald.ErrDisconnected})
		e, _ := errors.AsType[*herald.PublishError](err)
		wantEqual(t, []any{"bus", uint64(2)}, []any{e.Topic, e.Seq})
		for name, s := range subs {
			refused := refusal(e, name) != nil
			if strings.Contains(e.Error(), name) != refused {
				t.Errorf("%q: %v", name, e)
			}
			n := s.Stats()
			checkSound(t, n)
			if refused != (n.Refused == 1) || refused == (n.Accepted == 2) {
				t.Errorf("%s: refusal %v, statistics %+v", name, refusal(e, name), n)
			}
		}
	})
}

// refusal returns why the subscription refused, or nil.
func refusal(e *herald.PublishError, name string) error {
	for _, r := range e.Refused {
		if r.Subscription == name {
			return r.Err
		}
	}
	return nil
}

// The text of a PublishError has a bound, however many refused.
func TestG08_PublishErrorText(t *testing.T) {
	topic := newBus[int](t)
	for i := range 100 {
		subscribe(t, topic, "sub"+strconv.Itoa(i), herald.WithCapacity(1))
	}
	publishAll(t, topic, 1)
	err := topic.Publish(t.Context(), 2)
	e, _ := errors.AsType[*herald.PublishError](err)
	if len(e.Refused) != 100 {
		t.Errorf("%d refused", len(e.Refused))
	}
	if text := err.Error(); len(text) > 1000 || !strings.Contains(text, "sub0") || !strings.Contains(text, "92 more") {
		t.Error(text)
	}
}

// With a ctx that is done nobody gets the message, and the error is its cause (G8).
func TestG08_ContextDoneBefore(t *testing.T) {
	topic := newBus[int](t)
	s := subscribe(t, topic.Filter(func(herald.Message[int]) bool { t.Error("offered"); return true }), "s")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	caused, cancelCause := context.WithCancelCause(t.Context())
	cancelCause(errAttempt)
	for _, ctx := range []context.Context{cancelled, caused} {
		_, batchErr := topic.PublishBatch(ctx, []int{1, 2})
		for op, err := range map[string]error{"publish": topic.Publish(ctx, 1), "publish batch": batchErr} {
			wantErr(t, op, err, context.Cause(ctx))
			wantErr(t, op, err, ctx.Err())
			if e, ok := errors.AsType[*herald.Error](err); !ok || e.Op != op || e.Topic != "bus" {
				t.Errorf("%s: error %#v", op, err)
			}
		}
	}
	wantTally(t, s, tally{})
	if n := topic.Stats().Published; n != 0 {
		t.Errorf("%d published", n)
	}
}

// Publish offers to all that need not wait before it waits for any (G8).
func TestG08_OffersAllBeforeItWaits(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newBus[int](t)
		names := []string{"block 1", "free 1", "block 2", "drops", "block 3", "rejects", "free 2"}
		plan := map[byte]policy.Action{'b': policy.Block(0), 'f': policy.Block(0), 'd': policy.DropOldest(), 'r': policy.Reject()}
		subs := map[string]*herald.Subscription[int]{}
		for _, name := range names {
			subs[name] = subscribe(t, topic, name, herald.WithCapacity(1), herald.WithOverflow(plan[name[0]]))
		}
		publishAll(t, topic, 1)
		takeAll(t, subs["free 1"])
		takeAll(t, subs["free 2"])
		published := background(func() error { return topic.Publish(ctx, 2) })
		settle()
		if !pending(published) {
			t.Fatal("it doesn't wait")
		}
		for _, name := range names {
			n := subs[name].Stats()
			waits, decided := name[0] == 'b', n.Offered == 2
			if waits == decided || waits != (n.Waiting == 1) {
				t.Errorf("%s while the publisher waits: %+v", name, n)
			}
		}
		wantEqual(t, []int{2}, takeAll(t, subs["free 2"]))
		for _, name := range names {
			takeAll(t, subs[name])
		}
		wantRefused(t, <-published, map[string]error{"rejects": herald.ErrFull})
	})
}

// It waits for all of them at once, not for one after the other (G8).
func TestG08_WaitsForAllAtOnce(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newBus[int](t)
		var subs []*herald.Subscription[int]
		for i := range 5 {
			subs = append(subs, subscribe(t, topic, strconv.Itoa(i), herald.WithCapacity(1),
				herald.WithOverflow(policy.Block(time.Duration(i+1)*time.Second).Else(policy.DropNewest()))))
		}
		publishAll(t, topic, 1)
		start := time.Now()
		published := background(func() error { return topic.Publish(ctx, 2) })
		time.Sleep(time.Second / 2)
		subs[4].Discard() // the slowest has room first
		settle()
		wantTally(t, subs[4], tally{Offered: 2, Accepted: 2, Discarded: 1, Queued: 1})
		wantErr(t, "Publish", <-published, nil)
		wantEqual(t, 4*time.Second, time.Since(start))
		for _, s := range subs[:4] {
			wantTally(t, s, tally{Offered: 2, Accepted: 2, Dropped: 1, Queued: 1})
		}
	})
}

// A waiting publisher whose ctx ends is not delivered later to those it waited for, also when there's room then; those
// that had accepted keep the message (G8).
func TestG08_GivenUpIsNotDeliveredLater(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newBus[int](t)
		a := subscribe(t, topic, "a", herald.WithCapacity(1), herald.WithOverflow(policy.Block(0)))
		b := subscribe(t, topic, "b", herald.WithCapacity(1), herald.WithOverflow(policy.Block(0)))
		free := subscribe(t, topic, "free")
		publishAll(t, topic, 1)
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		published := background(func() error { return topic.Publish(short, 2) })
		settle()
		takeAll(t, b) // admits 2, and handles it
		wantRefused(t, <-published, map[string]error{"a": context.DeadlineExceeded})
		wantEqual(t, []int{1}, takeAll(t, a))
		publishAll(t, topic, 3)
		wantEqual(t, []int{3}, takeAll(t, a))
		wantEqual(t, []int{3}, takeAll(t, b))
		wantEqual(t, []int{1, 2, 3}, takeAll(t, free))
		wantTally(t, a, tally{Offered: 3, Refused: 1, Accepted: 2, Delivered: 2})
	})
}

// An offer that meets a closed subscription, or is released by its Close, was not offered and is no error (G8). That
// holds for Disconnect too, but for the publish that was its victim.
func TestG08_ReleasedByDisconnect(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newBus[int](t)
		s := subscribe(t, topic, "s", herald.WithCapacity(1),
			herald.WithOverflow(policy.Block(time.Second).Else(policy.Disconnect())))
		publishAll(t, topic, 1)
		first := background(func() error { return topic.Publish(ctx, 2) })
		time.Sleep(time.Millisecond)
		second := background(func() error { return topic.Publish(ctx, 3) })
		wantRefused(t, <-first, map[string]error{"s": herald.ErrDisconnected})
		wantErr(t, "Publish of the other", <-second, nil)
		wantTally(t, s, tally{Offered: 2, Refused: 1, Accepted: 1, Queued: 1})
	})
}

// Publish to a closed topic is ErrClosed, and names the topic (G8).
func TestG08_ClosedTopic(t *testing.T) {
	topic := newBus[int](t)
	s := subscribe(t, topic, "s")
	topic.Close()
	_, batchErr := topic.PublishBatch(t.Context(), []int{1})
	for op, err := range map[string]error{"publish": topic.Publish(t.Context(), 1), "publish batch": batchErr} {
		wantErr(t, op, err, herald.ErrClosed)
		if e, ok := errors.AsType[*herald.Error](err); !ok || e.Op != op || e.Topic != "bus" {
			t.Errorf("%s: error %#v", op, err)
		}
	}
	wantTally(t, s, tally{})
}
