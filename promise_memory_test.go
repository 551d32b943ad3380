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

type big = *[1 << 12]byte

// An estate is where a payload is to come to its end.
type estate struct {
	t     *testing.T
	ctx   context.Context
	topic *herald.Topic[big]
	sub   *herald.Subscription[big]
}

// leave publishes a payload that nobody else has.
func (e *estate) leave(opts ...herald.PublishOption) weak.Pointer[[1 << 12]byte] {
	p := new([1 << 12]byte)
	_ = e.topic.Publish(e.ctx, p, opts...)
	return weak.Make(p)
}

// again publishes something else.
func (e *estate) again(opts ...herald.PublishOption) { _ = e.topic.Publish(e.ctx, nil, opts...) }

// run lets a Run come to rest.
func (e *estate) run(h herald.Handler[big]) {
	running(e.ctx, e.sub, h)
	synctest.Wait()
}

func (e *estate) receive() *herald.Delivery[big] {
	d, err := e.sub.Receive(e.ctx)
	wantErr(e.t, "Receive", err, nil)
	return d
}

// filterByHeader is a filter that does as the message says.
func filterByHeader(m herald.Message[big]) bool {
	if m.Headers().Get("filter") == "panic" {
		panic("no")
	}
	return m.Headers().Get("filter") == ""
}

// wantGone fails unless the garbage collector finds that nobody has it any more.
func wantGone(t *testing.T, w weak.Pointer[[1 << 12]byte]) {
	t.Helper()
	for range 5 { // a worker on its way to sleep may still have it in a register
		if runtime.GC(); w.Value() == nil {
			return
		}
		synctest.Wait()
	}
	t.Error("the payload is still reachable")
}

// TestG36_AnEndedPayloadIsCollectable: at once, whatever the end was, while the subscription and its consumer live on;
// whether it was the last message or more are waiting makes no difference.
func TestG36_AnEndedPayloadIsCollectable(t *testing.T) {
	ok := func(context.Context, herald.Message[big]) error { return nil }
	fail := func(context.Context, herald.Message[big]) error { return errBoom }
	panicking := func(_ context.Context, m herald.Message[big]) error { panic("at it") }
	exiting := func(context.Context, herald.Message[big]) error { runtime.Goexit(); return nil }
	with := func(o ...herald.PublishOption) []herald.PublishOption { return o }
	k, brief := herald.WithKey("k"), herald.WithTTL(1)
	for name, tt := range map[string]struct {
		opts []herald.SubOption
		pub  []herald.PublishOption
		end  func(*estate) // nil: the queue is full, or the filter knows
	}{
		"delivered by Run":       {nil, nil, func(e *estate) { e.run(ok) }},
		"delivered by 3 workers": {opts(herald.WithConcurrency(3)), nil, func(e *estate) { e.run(ok) }},
		"delivered by RunBatch": {nil, nil, func(e *estate) {
			background(func() error {
				return e.sub.RunBatch(e.ctx, 3, 0, func(context.Context, []herald.Message[big]) error { return nil })
			})
		}},
		"delivered by Step":    {nil, nil, func(e *estate) { stepWith(e.t, e.sub, ok) }},
		"delivered by Receive": {nil, nil, func(e *estate) { _ = e.receive().Ack() }},
		"delivered with a key": {nil, with(k), func(e *estate) { e.run(ok) }},
		"delivered late":       {nil, with(herald.WithDelay(1)), func(e *estate) { e.run(ok); time.Sleep(time.Nanosecond) }},
		"delivered, the next one in hand": {nil, nil, func(e *estate) {
			e.again()
			e.again()
			e.run(func(ctx context.Context, m herald.Message[big]) error {
				if m.Payload == nil {
					<-ctx.Done()
				}
				return nil
			})
		}},
		"dead in Run":           {nil, nil, func(e *estate) { e.run(fail) }},
		"dead by panic in Run":  {nil, nil, func(e *estate) { e.run(panicking) }},
		"dead by Goexit in Run": {nil, nil, func(e *estate) { e.run(exiting) }},
		"dead in Step":          {nil, nil, func(e *estate) { stepWith(e.t, e.sub, fail) }},
		"dead by Nack":          {nil, nil, func(e *estate) { _ = e.receive().Nack(errBoom) }},
		"lease lost":            {nil, nil, func(e *estate) { e.receive(); time.Sleep(time.Hour); e.sub.Stats() }},
		"evicted": {opts(herald.WithOverflow(policy.DropOldest())), nil, func(e *estate) {
			e.again()
			e.again()
		}},
		"superseded":             {opts(herald.WithLatest()), with(k), func(e *estate) { e.again(k) }},
		"discarded":              {nil, nil, func(e *estate) { e.sub.Discard() }},
		"expired, seen by Stats": {nil, with(brief), func(e *estate) { time.Sleep(time.Nanosecond); e.sub.Stats() }},
		"expired, seen by Run": {nil, with(brief), func(e *estate) {
			e.sub.Pause()
			e.run(ok)
			time.Sleep(time.Nanosecond)
		}},
		// those that never got in
		"dropped, the newest":         {opts(herald.WithOverflow(policy.DropNewest())), nil, nil},
		"dropped, the lowest":         {opts(herald.WithOverflow(policy.DropOldest())), with(herald.WithPriority(herald.Low)), nil},
		"refused":                     {opts(herald.WithOverflow(policy.Reject())), nil, nil},
		"refused after a wait":        {opts(herald.WithOverflow(policy.Block(time.Second))), nil, nil},
		"overflowed, nobody keeps it": {nil, nil, nil},
		"filtered":                    {nil, with(herald.WithHeader("filter", "false")), nil},
		"a filter that panics":        {nil, with(herald.WithHeader("filter", "panic")), nil},
	} {
		for _, busy := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/busy=%v", name, busy), func(t *testing.T) {
				inBubble(t, func(ctx context.Context, t *testing.T) {
					e := &estate{t: t, ctx: ctx, topic: newBus[big](t)}
					e.sub = subscribe(t, e.topic.Filter(filterByHeader), "s",
						append(opts(herald.WithCapacity(2), herald.WithRetry(policy.Never())), tt.opts...)...)
					if busy || tt.end == nil {
						e.again(herald.WithDelay(10 * time.Hour))
					}
					if tt.end == nil {
						e.again()
					}
					w := e.leave(tt.pub...)
					if tt.end != nil {
						tt.end(e)
					}
					synctest.Wait()
					wantGone(t, w)
					checkSound(t, e.sub.Stats())
					runtime.KeepAlive(e.sub)
					e.sub.Discard()
				})
			})
		}
	}
}

// TestG36_DiscardedBehindOneInHand: what Discard drops is let go while a handler is under way, for as long as that takes.
func TestG36_DiscardedBehindOneInHand(t *testing.T) {
	for _, p := range []herald.Priority{herald.Low, herald.Normal, herald.High} {
		inBubble(t, func(ctx context.Context, t *testing.T) {
			e := &estate{t: t, ctx: ctx, topic: newBus[big](t)}
			e.sub = subscribe(t, e.topic, "s")
			e.again()
			w := e.leave(herald.WithPriority(p))
			e.again()
			e.run(func(ctx context.Context, m herald.Message[big]) error {
				if m.Payload == nil {
					<-ctx.Done()
				}
				return nil
			})
			e.sub.Discard()
			wantGone(t, w)
			checkSound(t, e.sub.Stats())
			runtime.KeepAlive(e.sub)
		})
	}
}

// A bigError is an error that holds a payload.
type bigError struct{ big }

func (bigError) Error() string { return "big" }

// TestG36_TheErrorIsLetGo: an attempt's error, and what a handler panicked with, live no longer than the message.
func TestG36_TheErrorIsLetGo(t *testing.T) {
	for name, h := range map[string]func(error) error{
		"error": func(err error) error { return err },
		"panic": func(err error) error { panic(err) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(ctx context.Context, t *testing.T) {
				e := &estate{t: t, ctx: ctx, topic: newBus[big](t)}
				e.sub = subscribe(t, e.topic, "s", herald.WithRetry(policy.Schedule{0}))
				e.again()
				var w weak.Pointer[[1 << 12]byte]
				e.run(func(context.Context, herald.Message[big]) error {
					p := new([1 << 12]byte)
					w = weak.Make(p)
					return h(bigError{p})
				})
				wantGone(t, w)
				runtime.KeepAlive(e.sub)
			})
		})
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
	inBubble(t, func(_ context.Context, t *testing.T) { wantGone(t, w) })
	runtime.KeepAlive(s)
}

// TestG14_ManyKeysLeaveNothingBehind: 100,000 keys, each used once, and an idle subscription has the
// memory that it had before.
func TestG14_ManyKeysLeaveNothingBehind(t *testing.T) {
	const keys, slack = 100_000, 1 << 20
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newBus[int](t)
		s := subscribe(t, topic, "s", herald.WithConcurrency(3), herald.WithCapacity(keys))
		before := heapInUse()
		for i := range keys {
			_ = topic.Publish(ctx, i, herald.WithKey(fmt.Sprint("key-", i)))
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

// heapInUse is how many bytes are reachable.
func heapInUse() uint64 {
	runtime.GC()
	runtime.GC() // what the first one's finalizers and pools let go
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
