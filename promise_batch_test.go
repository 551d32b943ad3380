package herald_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// PublishBatch offers its values in their order, each a message of its own, with the same options and time, and vs may
// be used again afterwards (G8).
func TestG08_BatchOffersInOrder(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newBus[int](t)
		s := subscribe(t, topic, "s")
		publishAll(t, topic, 0)
		vs := []int{1, 2, 3}
		n, err := topic.PublishBatch(ctx, vs, herald.WithKey("k"), herald.WithPriority(herald.High), herald.WithHeader("h", "v"))
		wantEqual(t, []any{3, error(nil)}, []any{n, err})
		clear(vs)
		now := time.Now()
		for want := 1; want <= 3; want++ {
			d, ok := s.TryReceive()
			if !ok {
				t.Fatal("nothing there")
			}
			wantEqual(t, []any{want, uint64(want + 1), "k", herald.High, "v", true},
				[]any{d.Payload, d.Seq, d.Key, d.Priority, d.Headers().Get("h"), d.Time().Equal(now)})
			d.Ack()
		}
		wantEqual(t, []int{0}, takeAll(t, s))
	})
}

// A batch of nothing is nothing.
func TestG08_EmptyBatch(t *testing.T) {
	topic := newBus[int](t)
	for _, vs := range [][]int{nil, {}} {
		if n, err := topic.PublishBatch(t.Context(), vs); n != 0 || err != nil {
			t.Errorf("PublishBatch = %d, %v", n, err)
		}
	}
	if n := topic.Stats().Published; n != 0 {
		t.Errorf("%d published", n)
	}
}

// It stops at the first value that some subscription refuses: what came before was taken by all, that one by those the
// error doesn't name, what comes after by none (G8).
func TestG08_BatchStopsAtFirstRefusal(t *testing.T) {
	topic := newBus[int](t)
	before := subscribe(t, topic, "before")
	picky := subscribe(t, topic, "picky", herald.WithCapacity(2))
	after := subscribe(t, topic, "after")
	n, err := topic.PublishBatch(t.Context(), []int{1, 2, 3, 4, 5})
	if n != 2 {
		t.Errorf("%d accepted", n)
	}
	wantRefused(t, err, map[string]error{"picky": herald.ErrFull})
	if e, _ := errors.AsType[*herald.PublishError](err); e.Seq != 3 {
		t.Errorf("error %+v", e)
	}
	wantEqual(t, []int{1, 2, 3}, takeAll(t, before))
	wantEqual(t, []int{1, 2}, takeAll(t, picky))
	wantEqual(t, []int{1, 2, 3}, takeAll(t, after))
	if n := topic.Stats().Published; n != 3 {
		t.Errorf("%d published", n)
	}
}

// A drop is no refusal: the batch goes on.
func TestG08_BatchGoesOnAfterDrops(t *testing.T) {
	topic := newBus[int](t)
	oldest := subscribe(t, topic, "oldest", herald.WithCapacity(1), herald.WithOverflow(policy.DropOldest()))
	newest := subscribe(t, topic, "newest", herald.WithCapacity(1), herald.WithOverflow(policy.DropNewest()))
	n, err := topic.PublishBatch(t.Context(), []int{1, 2, 3})
	wantEqual(t, []any{3, error(nil)}, []any{n, err})
	wantEqual(t, []int{3}, takeAll(t, oldest))
	wantEqual(t, []int{1}, takeAll(t, newest))
}

// A value that has to wait for room holds up those after it, for all subscriptions (G8).
func TestG08_BatchWaitsForEachValue(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newBus[int](t)
		slow := subscribe(t, topic, "slow", herald.WithCapacity(1), herald.WithOverflow(policy.Block(0)))
		fast := subscribe(t, topic, "fast")
		type result struct {
			n   int
			err error
		}
		short, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		published := background(func() (r result) {
			r.n, r.err = topic.PublishBatch(short, []int{1, 2, 3, 4})
			return r
		})
		settle()
		wantEqual(t, []int{1, 2}, takeAll(t, fast))
		stepWith(t, slow, func(context.Context, herald.Message[int]) error { return nil })
		settle()
		wantEqual(t, []int{3}, takeAll(t, fast))
		r := <-published // ctx has ended
		if r.n != 2 {
			t.Errorf("%d accepted", r.n)
		}
		wantRefused(t, r.err, map[string]error{"slow": context.DeadlineExceeded})
		wantEqual(t, []int{2}, takeAll(t, slow))
		wantEqual(t, []int(nil), takeAll(t, fast))
	})
}

// Between two values the batch notices that ctx has ended or the topic has closed: the rest is offered to nobody (G8).
func TestG08_BatchNoticesTheEnd(t *testing.T) {
	for what, c := range map[string]struct {
		end  func(*herald.Topic[int], context.CancelCauseFunc)
		want error
	}{
		"ctx":   {func(_ *herald.Topic[int], cancel context.CancelCauseFunc) { cancel(errAttempt) }, errAttempt},
		"close": {func(topic *herald.Topic[int], _ context.CancelCauseFunc) { topic.Close() }, herald.ErrClosed},
	} {
		topic := newBus[int](t)
		ctx, cancel := context.WithCancelCause(t.Context())
		var got tape[int]
		subscribe(t, topic.Filter(func(m herald.Message[int]) bool {
			got.add(m.Payload)
			if m.Payload == 2 {
				c.end(topic, cancel)
			}
			return true
		}), "s")
		n, err := topic.PublishBatch(ctx, []int{1, 2, 3, 4})
		if n != 2 {
			t.Errorf("%s: %d accepted", what, n)
		}
		wantErr(t, what, err, c.want)
		if e, ok := errors.AsType[*herald.Error](err); !ok || e.Op != "publish batch" || e.Topic != "bus" {
			t.Errorf("%s: error %#v", what, err)
		}
		wantEqual(t, []int{1, 2}, got.list())
		cancel(nil)
	}
}

// WithID on more than one value is an error, and nobody gets any of them (G8).
func TestG08_BatchWithID(t *testing.T) {
	topic := newBus[int](t)
	s := subscribe(t, topic, "s")
	n, err := topic.PublishBatch(t.Context(), []int{1, 2}, herald.WithID("id"))
	if n != 0 {
		t.Errorf("%d accepted", n)
	}
	wantErr(t, "two with one ID", err, herald.ErrOption)
	wantTally(t, s, tally{})
	n, err = topic.PublishBatch(t.Context(), []int{1}, herald.WithID("id"))
	wantEqual(t, []any{1, error(nil)}, []any{n, err})
	d, _ := s.TryReceive()
	if d.ID() != "id" {
		t.Errorf("ID is %q", d.ID())
	}
	d.Ack()
}

// IDs that herald makes are unique, also across topics of one name (G8).
func TestG08_IDsAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for range 10 {
		topic := newBus[int](t)
		s := subscribe(t, topic, "s")
		publishAll(t, topic, 1, 2, 3)
		for d, ok := s.TryReceive(); ok; d, ok = s.TryReceive() {
			if id := d.ID(); seen[id] || id == "" || id != d.ID() {
				t.Errorf("ID %q again", id)
			}
			seen[d.ID()] = true
			d.Ack()
		}
	}
	if len(seen) != 30 {
		t.Errorf("%d IDs", len(seen))
	}
}

// A hollowError panics when it is looked into.
type hollowError struct{ inner error }

func (e *hollowError) Error() string { return "hollow" }
func (e *hollowError) Unwrap() error { return e.inner }

// A handler's error whose own methods panic, and a nil *BatchError, are failed attempts of the whole batch (G15, G16).
func TestG16_BatchErrorsThatPanic(t *testing.T) {
	var none *herald.BatchError
	for name, err := range map[string]error{"typed nil": (*hollowError)(nil), "nil BatchError": none} {
		topic := newBus[int](t)
		s := subscribe(t, topic, "s", herald.WithRetry(policy.Never()))
		publishAll(t, topic, 1, 2)
		topic.Close()
		ran := s.RunBatch(t.Context(), 8, 0, func(context.Context, []herald.Message[int]) error { return err })
		n := s.Stats()
		if ran != nil || n.Dead != 2 || n.InFlight != 0 {
			t.Errorf("%s: RunBatch = %v, %+v", name, ran, n)
		}
	}
}
