package broker_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/broker"
	"github.com/heraldbus/herald/policy"
)

// ThreeDotsLabs/watermill#317: the second Subscribe on a closed bus hangs.
func TestB01_SubscribeAfterClose(t *testing.T) {
	b := newBroker(t)
	x := topic[int](t, b, "x")
	b.Close()
	for range 2 {
		wantErr(t, herald.ErrClosed, second(x.Subscribe("s")))
		wantErr(t, herald.ErrClosed, second(broker.Match[int](b, "x").Subscribe("s")))
		wantErr(t, herald.ErrClosed, broker.Handle(b, "x", "s", ignore[int]))
		wantErr(t, herald.ErrClosed, broker.Publish(t.Context(), b, "x", 1))
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// Siblings of B01: a lock that stays after any other error.
func TestB01_AfterErrors(t *testing.T) {
	b := newBroker(t, broker.WithTopicLimit(1), broker.WithPatternLimit(1))
	topic[int](t, b, "x")
	match[int](t, b, "x", "s")
	for range 2 {
		for what, err := range map[string]error{
			"limit":           second(broker.Topic[int](b, "y")),
			"type":            second(broker.Topic[string](b, "x")),
			"pattern limit":   broker.Handle(b, ">", "other", ignore[int]),
			"duplicate":       broker.Handle(b, ">", "s", ignore[int]),
			"its topic's":     second(topic[int](t, b, "x").Subscribe("s")),
			"not found":       b.Unsubscribe("other"),
			"topic not found": b.Delete("other"),
			"pattern":         broker.Handle(b, "..", "other", ignore[int]),
		} {
			if err == nil {
				t.Errorf("%s: no error", what)
			}
		}
	}
}

// asaskevich/EventBus#35, #52: a publish from inside a handler never returns.
func TestB02_PublishInHandler(t *testing.T) {
	for _, mode := range []string{"Run", "RunUntilIdle"} {
		bubble(t, func(t *testing.T) {
			b := newBroker(t)
			topic[int](t, b, "B")
			var j journal
			handle(t, b, "A", "A", func(ctx context.Context, m herald.Message[int]) error {
				j.note("A %d", m.Payload)
				switch m.Payload {
				case 20:
					return broker.Publish(ctx, b, "A", 21)
				case 21:
					return broker.Publish(ctx, b, "B", 1)
				}
				return nil
			})
			handle(t, b, "B", "B", func(_ context.Context, m herald.Message[int]) error {
				j.note("B %d", m.Payload)
				return nil
			})
			publish(t, topic[int](t, b, "A"), 20)
			if mode == "Run" {
				result := start(t.Context(), b)
				b.Close()
				<-result
			} else {
				untilIdle(t, b)
			}
			wantEqual(t, []string{"A 20", "A 21", "B 1"}, j.take())
		})
	}
}

// krasimir/EventBus#11, scottcorgan/tiny-emitter#1, mnot/thor PR#95: unsubscribing during dispatch skips the next one. The
// subscriber leaves on the publisher's path, where the list is walked.
func TestB06_UnsubscribeDuringDispatch(t *testing.T) {
	b := newBroker(t)
	s1, err := broker.Match[int](b, "x").Filter(func(m herald.Message[int]) bool {
		b.Unsubscribe("s1")
		return true
	}).Subscribe("s1")
	if err != nil {
		t.Fatal(err)
	}
	s2, s3 := match[int](t, b, "x", "s2"), match[any](t, b, "x", "s3")
	publish(t, topic[int](t, b, "x"), 1, 2)
	for i, want := range []uint64{0, 2, 2} {
		s := []interface{ Stats() herald.SubStats }{s1, s2, s3}[i].Stats()
		if s.Accepted != want {
			t.Errorf("s%d accepted %d, want %d", i+1, s.Accepted, want)
		}
	}
}

// software-mansion/argent#870: a subscriber added during dispatch gets the event being dispatched.
func TestB07_SubscribeDuringDispatch(t *testing.T) {
	b := newBroker(t)
	var late *herald.Subscription[int]
	var once sync.Once
	_, err := broker.Match[int](b, "x").Filter(func(herald.Message[int]) bool {
		once.Do(func() { late = match[int](t, b, ">", "late") })
		return true
	}).Subscribe("s1")
	if err != nil {
		t.Fatal(err)
	}
	publish(t, topic[int](t, b, "x"), 1, 2)
	wantEqual(t, []int{2}, drain(t, late, func(v int) int { return v }))
}

// libp2p/go-libp2p PR#3034, ThreeDotsLabs/watermill#351: the second Close panics.
func TestB10_CloseAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBroker(t)
		sub := match[int](t, b, ">", "s")
		handle(t, b, ">", "h", ignore[int])
		x := topic[int](t, b, "x")
		publish(t, x, 1)
		result := start(t.Context(), b)
		var all sync.WaitGroup
		for range 3 {
			for _, end := range []func() error{
				b.Close, sub.Close, x.Close,
				func() error { sub.Discard(); return b.Drain(t.Context()) },
				func() error { b.Unsubscribe("h"); return nil },
				func() error { b.Delete("x"); return nil },
			} {
				all.Go(func() {
					if err := end(); err != nil {
						t.Error(err)
					}
				})
			}
		}
		all.Wait()
		if err := errors.Join(<-result, b.Close(), b.Close(), sub.Close(), x.Close()); err != nil {
			t.Error(err)
		}
	})
}

// nats-io/nats.go#898, nats-io/nats.net PR#1085: a drain loses queued messages.
func TestB13_DrainLosesNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBroker(t)
		gate := make(chan struct{})
		var j journal
		handle(t, b, "x", "s", func(ctx context.Context, m herald.Message[int]) error {
			<-gate
			return noting[int](&j, "s", nil)(ctx, m)
		})
		var want []string
		for v := range 10 {
			publish(t, topic[int](t, b, "x"), v)
			want = append(want, fmt.Sprint("s x ", v))
		}
		result := start(t.Context(), b)
		drained := make(chan error, 1)
		go func() { drained <- b.Drain(t.Context()) }()
		synctest.Wait()
		wantErr(t, herald.ErrClosed, broker.Publish(t.Context(), b, "x", 10))
		close(gate)
		if err := errors.Join(<-drained, <-result); err != nil {
			t.Error(err)
		}
		wantEqual(t, want, j.take())
	})
}

// B15's kind: a shutdown sits out the whole retry delay. Close changes no delay, but the end of Run's context ends the wait
// at once, and a Drain says what is left.
func TestB15_ShutdownDuringRetryDelay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBroker(t)
		handle(t, b, "x", "s", noting[int](&journal{}, "s", errBoom), herald.WithRetry(policy.Schedule{time.Hour}))
		publish(t, topic[int](t, b, "x"), 1)
		ctx, cancel := context.WithCancel(t.Context())
		result := start(ctx, b)
		time.Sleep(time.Second)
		cancel()
		begun := time.Now()
		wantErr(t, context.Canceled, <-result)
		err := b.Drain(ctx)
		if e, ok := errors.AsType[*herald.DrainError](err); !ok || len(e.Left) != 1 || time.Since(begun) > 0 {
			t.Errorf("Drain = %v after %v", err, time.Since(begun))
		}
	})
}

// ThreeDotsLabs/watermill#247: one stuck subscriber stops the others.
func TestB16_StuckStopsNoOther(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBroker(t)
		gate := make(chan struct{})
		handle(t, b, "x", "stuck", func(context.Context, herald.Message[int]) error { <-gate; return nil })
		var j journal
		handleNoting[int](t, b, &j, "x", "free")
		publish(t, topic[int](t, b, "x"), 1)
		result := start(t.Context(), b)
		wantEqual(t, []string{"free x 1"}, j.take())
		close(gate)
		b.Close()
		<-result
	})
}

// yohamta0/donburi-ecs#102, nanomsg/mangos-v1#219: a publish without subscribers panics or blocks.
func TestB18_NobodyListens(t *testing.T) {
	var b broker.Broker
	x := topic[int](t, &b, "x")
	for i := range 10 {
		publish(t, x, i)
		if err := broker.Publish(t.Context(), &b, "x", i); err != nil {
			t.Error(err)
		}
	}
	match[int](t, &b, "x", "gone", herald.WithCapacity(1), herald.WithOverflow(policy.Block(0))).Close()
	publish(t, x, 10)
	wantErr(t, broker.ErrNotFound, broker.Publish(t.Context(), &b, "y", 1))
	if s := x.Stats(); s.Published != 21 || s.Subscriptions != 0 {
		t.Errorf("%+v", s)
	}
	if n := untilIdle(t, &b); n != 0 {
		t.Errorf("handled %d", n)
	}
}

// asaskevich/EventBus#60, PR#48, PR#69: several one-shot handlers run twice, or stay.
func TestB19_OneShotHandlers(t *testing.T) {
	b := newBroker(t)
	calls := map[string]int{}
	for _, name := range []string{"1", "2", "3"} {
		handle(t, b, "x", name, func(context.Context, herald.Message[int]) error {
			calls[name]++
			return b.Unsubscribe(name)
		})
	}
	x := topic[int](t, b, "x")
	for v := range 2 {
		publish(t, x, v)
		untilIdle(t, b)
	}
	wantEqual(t, map[string]int{"1": 1, "2": 1, "3": 1}, calls)
	wantEqual(t, nil, names(b))
}

// GoogleCloudPlatform/scion PR#1166, Azure/go-shuttle#30, tendermint/tendermint PR#8323: a nil handler is taken, or a failed
// call returns a typed nil. (TestG01_BadArguments has the others.)
func TestB21_NilHandler(t *testing.T) {
	b := newBroker(t)
	if err := broker.Handle[int](b, "x", "s", nil); !errors.Is(err, herald.ErrOption) {
		t.Errorf("Handle = %v", err)
	}
	if sub, err := broker.Match[int](b, "").Subscribe("s"); sub != nil || err == nil {
		t.Errorf("Subscribe = %v, %v", sub, err)
	}
	if topic, err := broker.Topic[int](b, ""); topic != nil || err == nil {
		t.Errorf("Topic = %v, %v", topic, err)
	}
	handle(t, b, "x", "s", ignore[*order])
	publish(t, topic[*order](t, b, "x"), nil) // a nil payload is a value
	if n := untilIdle(t, b); n != 1 {
		t.Errorf("handled %d", n)
	}
}

// kdlbs/kandev PR#3295, Tencent/WeKnora#1580: a panic in a handler kills the process, or starves others.
func TestB22_PanicStopsNoOther(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBroker(t)
		handle(t, b, "x", "panics", func(context.Context, herald.Message[int]) error { panic(errBoom) }, herald.WithRetry(never))
		var j journal
		handleNoting[int](t, b, &j, "x", "fine")
		publish(t, topic[int](t, b, "x"), 1, 2)
		result := start(t.Context(), b)
		wantEqual(t, []string{"fine x 1", "fine x 2"}, j.take())
		for l := range b.DeadLetters().All() {
			p, ok := errors.AsType[*herald.PanicError](l.Err)
			if !ok || p.Value != errBoom || len(p.Stack) == 0 {
				t.Errorf("letter: %v", l)
			}
		}
		b.Close()
		if err := <-result; err != nil || b.DeadLetters().Len() != 2 {
			t.Error(err, b.DeadLetters().Len())
		}
	})
}

// emqx/emqtt#17, node-red/node-red#5962, eclipse-paho/paho.mqtt.java#773: overlapping patterns deliver several copies. A
// subscription has one pattern; each whose pattern matches gets one copy.
func TestB80_OverlappingPatterns(t *testing.T) {
	for _, first := range []string{"topic", "patterns"} {
		b := newBroker(t)
		var j journal
		if first == "topic" {
			topic[int](t, b, "a.b")
		}
		for _, pattern := range []string{"a.*", "a.>", "a.b", "*.b", ">", "*.*"} {
			handleNoting[int](t, b, &j, pattern, pattern)
			handleNoting[any](t, b, &j, pattern, "any "+pattern)
		}
		handleNoting[int](t, b, &j, "a.c", "another")
		publish(t, topic[int](t, b, "a.b"), 1)
		untilIdle(t, b)
		wantEqual(t, []string{
			"a.* a.b 1", "any a.* a.b 1", "a.> a.b 1", "any a.> a.b 1", "a.b a.b 1", "any a.b a.b 1",
			"*.b a.b 1", "any *.b a.b 1", "> a.b 1", "any > a.b 1", "*.* a.b 1", "any *.* a.b 1",
		}, j.take())
	}
}

// Siblings of B80: one handler under several names gets one each; a topic asked for again, or deleted and made again, is
// joined once.
func TestB80_JoinedOnce(t *testing.T) {
	b := newBroker(t)
	sub := match[int](t, b, ">", "s")
	for range 3 {
		topic[int](t, b, "x")
		match[any](t, b, "x", "other").Close()
	}
	publish(t, topic[int](t, b, "x"), 1)
	b.Delete("x")
	publish(t, topic[int](t, b, "x"), 2)
	wantEqual(t, []int{1, 2}, drain(t, sub, func(v int) int { return v }))
}
