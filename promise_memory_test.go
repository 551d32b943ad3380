package herald_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// TestG35_AMessageIsTheHandlersOwn: what a handler, a filter or a key function does to its Message stays there: the next
// attempt and other subscriptions get it as published. Headers can't be changed at all, and a batch's slice is free.
func TestG35_AMessageIsTheHandlersOwn(t *testing.T) {
	topic := newBus[[2]int](t)
	spoil := func(m *herald.Message[[2]int]) {
		*m = herald.Message[[2]int]{Payload: [2]int{-1, -1}}
		m.Key, m.Seq, m.Priority, m.Attempt = "spoilt", 99, herald.Low, 99
	}
	spoilt := subscribe(t, topic.
		Filter(func(m herald.Message[[2]int]) bool { spoil(&m); return true }).
		KeyBy(func(m herald.Message[[2]int]) string { spoil(&m); return "k" }), "spoilt", herald.WithRetry(policy.Schedule{0}))
	other := subscribe(t, topic, "other")

	given := map[string]string{"a": "1"}
	batch := [][2]int{{1, 2}, {3, 4}}
	_, err := topic.PublishBatch(t.Context(), batch, herald.WithKey("k"), herald.WithPriority(herald.High),
		herald.WithHeaders(herald.NewHeaders(given)))
	wantErr(t, "PublishBatch", err, nil)
	given["a"], batch[0], batch[1] = "2", [2]int{}, [2]int{}

	var got []herald.Message[[2]int]
	look := func(_ context.Context, m herald.Message[[2]int]) error {
		got = append(got, m)
		spoil(&m)
		if len(got) == 1 {
			return errBoom
		}
		return nil
	}
	for range 3 {
		stepWith(t, spoilt, look)
	}
	for range 2 {
		stepWith(t, other, look)
	}
	for i, want := range []string{"[1 2] k 1 1 high", "[1 2] k 1 2 high", "[3 4] k 2 1 high", "[1 2] k 1 1 high", "[3 4] k 2 1 high"} {
		m := got[i]
		wantEqual(t, want, fmt.Sprint(m.Payload, " ", m.Key, " ", m.Seq, " ", m.Attempt, " ", m.Priority))
		wantEqual(t, herald.NewHeaders(map[string]string{"a": "1"}), m.Headers())
	}
}

// TestG35_ThePayloadIsShared: where it's a pointer, all subscriptions have the same one.
func TestG35_ThePayloadIsShared(t *testing.T) {
	topic := newBus[*int](t)
	a, b := subscribe(t, topic, "a"), subscribe(t, topic, "b")
	p := new(int)
	publishAll(t, topic, p)
	for _, s := range []*herald.Subscription[*int]{a, b} {
		if got := takeAll(t, s); len(got) != 1 || got[0] != p {
			t.Errorf("got %v, want %p", got, p)
		}
	}
}

type big = *[1 << 12]byte

// publishWeak publishes a payload that nobody else has.
func publishWeak(ctx context.Context, topic *herald.Topic[big], opts ...herald.PublishOption) weak.Pointer[[1 << 12]byte] {
	p := new([1 << 12]byte)
	_ = topic.Publish(ctx, p, opts...)
	return weak.Make(p)
}

// wantGone fails unless the garbage collector finds that nobody has it any more.
func wantGone(t *testing.T, what string, w weak.Pointer[[1 << 12]byte]) {
	t.Helper()
	for range 5 { // a worker on its way to sleep may still have it in a register
		if runtime.GC(); w.Value() == nil {
			return
		}
		synctest.Wait()
	}
	t.Errorf("%s: the payload is still reachable", what)
}

// TestG36_AnEndedPayloadIsCollectable: at once, whatever the end was, while the subscription and its consumer live on;
// that it was the last message, and that more are waiting, makes no difference.
func TestG36_AnEndedPayloadIsCollectable(t *testing.T) {
	ok := func(context.Context, herald.Message[big]) error { return nil }
	fail := func(context.Context, herald.Message[big]) error { return errBoom }
	run := func(h herald.Handler[big]) func(context.Context, *testing.T, *herald.Subscription[big]) {
		return func(ctx context.Context, _ *testing.T, s *herald.Subscription[big]) {
			running(ctx, s, h)
			synctest.Wait()
		}
	}
	step := func(h herald.Handler[big]) func(context.Context, *testing.T, *herald.Subscription[big]) {
		return func(_ context.Context, t *testing.T, s *herald.Subscription[big]) { stepWith(t, s, h) }
	}
	pull := func(settle func(*herald.Delivery[big])) func(context.Context, *testing.T, *herald.Subscription[big]) {
		return func(ctx context.Context, t *testing.T, s *herald.Subscription[big]) {
			d, err := s.Receive(ctx)
			wantErr(t, "Receive", err, nil)
			settle(d)
		}
	}
	again := func(opts ...herald.PublishOption) func(context.Context, *testing.T, *herald.Topic[big]) {
		return func(ctx context.Context, _ *testing.T, topic *herald.Topic[big]) {
			_ = topic.Publish(ctx, nil, opts...)
		}
	}
	one, k := herald.WithCapacity(1), herald.WithKey("k")
	for name, tt := range map[string]struct {
		opts  []herald.SubOption
		pub   []herald.PublishOption
		first bool                                                         // nil takes the only room before it
		then  func(context.Context, *testing.T, *herald.Topic[big])        // after it was published
		use   func(context.Context, *testing.T, *herald.Subscription[big]) // and then
		view  func(*herald.Topic[big]) herald.View[big]
	}{
		"delivered by Run":       {use: run(ok)},
		"delivered by 3 workers": {opts: opts(herald.WithConcurrency(3)), use: run(ok)},
		"delivered by Step":      {use: step(ok)},
		"delivered by Receive":   {use: pull(func(d *herald.Delivery[big]) { _ = d.Ack() })},
		"delivered with a key":   {pub: []herald.PublishOption{k}, use: run(ok)},
		"delivered late": {pub: []herald.PublishOption{herald.WithDelay(1)}, use: func(ctx context.Context, _ *testing.T, s *herald.Subscription[big]) {
			run(ok)(ctx, nil, s)
			time.Sleep(1)
		}},
		"dead in Run":           {use: run(fail)},
		"dead by panic in Run":  {use: run(func(_ context.Context, m herald.Message[big]) error { panic("at it") })},
		"dead by Goexit in Run": {use: run(func(context.Context, herald.Message[big]) error { runtime.Goexit(); return nil })},
		"dead in Step":          {use: step(fail)},
		"dead by Nack":          {use: pull(func(d *herald.Delivery[big]) { _ = d.Nack(errBoom) })},
		"lease lost": {use: func(ctx context.Context, t *testing.T, s *herald.Subscription[big]) {
			pull(func(*herald.Delivery[big]) { time.Sleep(time.Hour) })(ctx, t, s)
			s.Stats()
		}},
		"evicted":                     {opts: opts(one, herald.WithOverflow(policy.DropOldest())), then: again()},
		"dropped, the newest":         {opts: opts(one, herald.WithOverflow(policy.DropNewest())), first: true},
		"dropped, the lowest":         {opts: opts(one, herald.WithOverflow(policy.DropOldest())), first: true, pub: []herald.PublishOption{herald.WithPriority(herald.Low)}},
		"refused":                     {opts: opts(one, herald.WithOverflow(policy.Reject())), first: true},
		"refused after a wait":        {opts: opts(one, herald.WithOverflow(policy.Block(time.Second))), first: true},
		"overflowed, nobody keeps it": {opts: opts(one), first: true},
		"superseded":                  {opts: opts(herald.WithLatest()), pub: []herald.PublishOption{k}, then: again(k)},
		"discarded":                   {use: func(_ context.Context, _ *testing.T, s *herald.Subscription[big]) { s.Discard() }},
		"expired, seen by Stats": {pub: []herald.PublishOption{herald.WithTTL(1)}, use: func(_ context.Context, _ *testing.T, s *herald.Subscription[big]) {
			time.Sleep(time.Hour)
			s.Stats()
		}},
		"expired, seen by Run": {pub: []herald.PublishOption{herald.WithTTL(1)}, use: func(ctx context.Context, _ *testing.T, s *herald.Subscription[big]) {
			s.Pause()
			run(ok)(ctx, nil, s)
			time.Sleep(time.Hour)
		}},
		"filtered": {view: func(topic *herald.Topic[big]) herald.View[big] {
			return topic.Filter(func(herald.Message[big]) bool { return false })
		}},
		"a filter that panics": {view: func(topic *herald.Topic[big]) herald.View[big] {
			return topic.Filter(func(herald.Message[big]) bool { panic("no") })
		}},
	} {
		for _, busy := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/busy=%v", name, busy), func(t *testing.T) {
				inBubble(t, func(ctx context.Context, t *testing.T) {
					topic := newBus[big](t)
					v := topic.Filter(func(herald.Message[big]) bool { return true })
					if tt.view != nil {
						v = tt.view(topic)
					}
					s := subscribe(t, v, "s", append(tt.opts, herald.WithRetry(policy.Never()))...)
					if tt.first {
						publishAll(t, topic, nil)
					}
					w := publishWeak(ctx, topic, tt.pub...)
					if busy {
						again(herald.WithDelay(10*time.Hour))(ctx, t, topic)
					}
					if tt.then != nil {
						tt.then(ctx, t, topic)
					}
					if tt.use != nil {
						tt.use(ctx, t, s)
					}
					synctest.Wait()
					wantGone(t, name, w)
					checkSound(t, s.Stats())
					runtime.KeepAlive(s)
					s.Discard()
				})
			})
		}
	}
}

// TestG36_ThePublishersContextIsLetGo: with WithPublisherValues a message holds it, and no longer than it lives.
func TestG36_ThePublishersContextIsLetGo(t *testing.T) {
	topic := newBus[big](t, herald.WithPublisherValues())
	s := subscribe(t, topic, "s")
	value := new([1 << 12]byte)
	w := weak.Make(value)
	_ = topic.Publish(context.WithValue(context.Background(), ctxKey("value"), value), nil)
	value = nil
	runtime.GC()
	stepWith(t, s, func(ctx context.Context, _ herald.Message[big]) error {
		wantEqual(t, true, ctx.Value(ctxKey("value")) != nil)
		return nil
	})
	inBubble(t, func(_ context.Context, t *testing.T) { wantGone(t, "publisher's value", w) })
	runtime.KeepAlive(s)
}

// TestG14_ManyKeysLeaveNothingBehind: 100,000 keys, each used once, and the memory of an idle subscription is what it was.
func TestG14_ManyKeysLeaveNothingBehind(t *testing.T) {
	const keys, slack = 100_000, 1 << 20
	for _, concurrency := range []int{1, 3} {
		inBubble(t, func(ctx context.Context, t *testing.T) {
			topic := newBus[int](t)
			s := subscribe(t, topic, "s", herald.WithConcurrency(concurrency), herald.WithCapacity(keys))
			before := heapInUse()
			for i := range keys {
				wantErr(t, "Publish", topic.Publish(ctx, i, herald.WithKey(fmt.Sprint("key-", i))), nil)
			}
			full := heapInUse()
			running(ctx, s, func(context.Context, herald.Message[int]) error { return nil })
			synctest.Wait()
			after := heapInUse()
			if full < before+10*slack {
				t.Errorf("%d keys took %d bytes: the test tests nothing", keys, full-before)
			}
			if after > before+slack {
				t.Errorf("%d bytes before, %d while full, %d after", before, full, after)
			}
			wantTally(t, s, tally{Offered: keys, Accepted: keys, Delivered: keys})
		})
	}
}

// heapInUse is how many bytes are reachable.
func heapInUse() uint64 {
	runtime.GC()
	runtime.GC() // what the first one's finalizers and pools let go
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
