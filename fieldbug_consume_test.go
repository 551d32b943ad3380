package herald_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// TestB22_APanicStarvesNobody: kdlbs/kandev PR#3295, Tencent/WeKnora#1580. A handler's panic is one failed attempt with
// value and stack; the subscription and its neighbour go on. (G16)
func TestB22_APanicStarvesNobody(t *testing.T) {
	r := newRig(t, herald.WithRetry(policy.Schedule{0}))
	neighbour := subscribe(t, r.topic, "neighbour")
	publishAll(t, r.topic, "m1", "m2")
	r.steps(r.handle(func(m herald.Message[string]) error {
		if m.Payload == "m1" {
			panic("m1")
		}
		return nil
	}))
	r.wantSeen("m1 m1 m2")
	wantEqual(t, []string{"m1", "m2"}, takeAll(t, neighbour))
	if s := r.sub.Stats(); s.Retried != 1 || s.DeadBy.RetriesExhausted != 1 || !panics("m1")(r.letters[0].Err) {
		t.Errorf("%+v, %v", s, r.letters[0].Err)
	}
}

// A rude value doesn't want to be printed.
type rude struct{}

func (rude) Error() string { panic("from Error") }

// TestB23_WhateverIsPanicked: lileio/pubsub PR#29. Recovering doesn't die on a value that is no error, nor on one whose
// methods panic themselves, nor when it's logged: each is one failed attempt. (G16)
func TestB23_WhateverIsPanicked(t *testing.T) {
	all := &slog.HandlerOptions{Level: slog.LevelDebug}
	topic := newBus[int](t, herald.WithLogger(slog.New(slog.NewTextHandler(io.Discard, all))))
	s := subscribe(t, topic, "s", herald.WithRetry(policy.Schedule{0}))
	acts := []func(){
		func() { panic("s") },
		func() { panic(42) },
		func() { panic(errBoom) },
		func() { panic(nil) },
		func() { panic(rude{}) },
		func() { panic([]func(){nil}) }, // not even comparable
		func() { clear([]int(nil)[:1]) },
		func() { var p *int; *p = 1 },
		func() { runtime.Goexit() },
	}
	for i := range acts {
		publishAll(t, topic, i)
	}
	publishAll(t, topic, len(acts))
	topic.Close()
	calls := make([]int, len(acts)+1)
	returns(t, "Run", func() {
		_ = s.Run(t.Context(), func(_ context.Context, m herald.Message[int]) error {
			calls[m.Payload]++
			if m.Payload < len(acts) {
				acts[m.Payload]()
			}
			return nil
		})
	})
	wantEqual(t, []int{2, 2, 2, 2, 2, 2, 2, 2, 2, 1}, calls)
	wantEqual(t, uint64(1), s.Stats().Delivered)
}

// TestB35_PoppedItemsAreLetGo: tikv/tikv#19275, alpacax/alpamon#470, ethereum/go-ethereum PR#21572, adrianbrad/queue#45.
// Nothing of a burst stays reachable once it's drained, by whatever kind of draining. (G36)
func TestB35_PoppedItemsAreLetGo(t *testing.T) {
	for name, drain := range map[string]func(*herald.Subscription[*[1 << 20]byte]){
		"Step":    func(s *herald.Subscription[*[1 << 20]byte]) { takeAll(t, s) },
		"Discard": func(s *herald.Subscription[*[1 << 20]byte]) { s.Discard() },
		"TryReceive": func(s *herald.Subscription[*[1 << 20]byte]) {
			for d, ok := s.TryReceive(); ok; d, ok = s.TryReceive() {
				_ = d.Ack()
			}
		},
	} {
		topic := newBus[*[1 << 20]byte](t)
		s := subscribe(t, topic, "s")
		var all []weak.Pointer[[1 << 20]byte]
		for i := range 100 {
			p := new([1 << 20]byte)
			_ = topic.Publish(t.Context(), p, herald.WithPriority(herald.Priority(i%4-1)), herald.WithKey([]string{"", "k"}[i%2]))
			all = append(all, weak.Make(p))
		}
		drain(s)
		runtime.GC()
		for i, w := range all {
			if w.Value() != nil {
				t.Errorf("%s: payload %d is still reachable", name, i)
			}
		}
		runtime.KeepAlive(s)
	}
}

// TestB54_NackedMessageIsNotOvertaken: apache/pulsar#15317, apache/pulsar-client-go#351. In order, nothing happens
// between a failure and its retry; aside, the others do. (G22)
func TestB54_NackedMessageIsNotOvertaken(t *testing.T) {
	for name, consume := range consumers {
		for want, o := range map[string][]herald.SubOption{
			"0#1@0s 0#2@1s 1#1@1s 2#1@1s 3#1@1s 4#1@1s": nil,
			"0#1@0s 1#1@0s 2#1@0s 3#1@0s 4#1@0s 0#2@1s": {herald.WithRetryAside()},
		} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newRig(t, append(o, herald.WithRetry(policy.Schedule{time.Second}))...)
					publishAll(t, r.topic, "0", "1", "2", "3", "4")
					consume(r, 6, r.handle(fails("0", 1)))
					r.wantTrace(want)
				})
			})
		}
	}
}

// TestB56_TheKeyOutlivesItsConsumer: apache/pulsar PR#7106, #9940. What is in flight of a key holds back the rest of it
// while workers come and go: within a Run, and from one receiver to the next. (G14)
func TestB56_TheKeyOutlivesItsConsumer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := herald.WithKey("k")
		r := newRig(t, herald.WithConcurrency(3), herald.WithRetry(policy.Schedule{time.Minute}))
		r.publish("m1", k)
		held := r.receive()
		r.publish("m2", k)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := r.sub.Receive(ctx) // another receiver comes and goes
		wantErr(t, "Receive", err, context.DeadlineExceeded)
		_ = held.Nack(errBoom) // now it waits for its retry, and its consumer is gone
		r.start(func() {
			_ = r.sub.Run(t.Context(), r.handle(func(herald.Message[string]) error { time.Sleep(time.Second); return nil }))
		})
		r.publish("other", herald.WithKey("o"))
		time.Sleep(time.Hour)
		r.wantTrace("m1#1@0s other#1@1s m1#2@1m1s m2#1@1m2s")
	})
}

// TestB57_AKeyThatEndsAsItsNextMessageComes: grafana/dskit PR#1042, PR#1047. Every message of a key that comes and goes is
// handled, each time; after 10,000 keys nothing is left but an idle subscription. (G14)
func TestB57_AKeyThatEndsAsItsNextMessageComes(t *testing.T) {
	const rounds, keys = 5000, 10_000
	for _, concurrency := range []int{1, 3} {
		topic := newBus[int](t)
		s := subscribe(t, topic, "s", herald.WithConcurrency(concurrency), herald.WithOverflow(policy.Block(0)))
		handled := make(chan int)
		ctx, cancel := context.WithCancel(t.Context())
		ended := running(ctx, s, func(ctx context.Context, m herald.Message[int]) error {
			select {
			case handled <- m.Payload:
			case <-ctx.Done():
			}
			return nil
		})
		ok := returns(t, "a message of a key that is ending", func() {
			for i := range rounds { // the next comes while the worker ends the one before
				_ = topic.Publish(ctx, i, herald.WithKey([]string{"k", "l"}[i/7%2]))
				if got := <-handled; got != i {
					t.Errorf("got %d, want %d", got, i)
				}
			}
			var consuming sync.WaitGroup
			consuming.Go(func() {
				for range keys {
					<-handled
				}
			})
			for i := range keys {
				_ = topic.Publish(ctx, i, herald.WithKey(fmt.Sprint(i)))
			}
			consuming.Wait()
			wantErr(t, "WaitIdle", s.WaitIdle(ctx), nil)
		})
		cancel()
		if ok {
			<-ended
			wantEqual(t, uint64(rounds+keys), s.Stats().Delivered)
		}
	}
}

// TestB58_TheLetterHasCauseAndHeaders: JasperFx/wolverine PR#2265, knative-extensions/eventing-rabbitmq#833,
// wework/grabbit#41. (G28)
func TestB58_TheLetterHasCauseAndHeaders(t *testing.T) {
	errs := []error{errors.New("E1"), errors.New("E2"), errors.New("E3")}
	for name, consume := range consumers {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			r.publish("m", herald.WithID("7"), herald.WithKey("k"), herald.WithPriority(herald.High), herald.WithHeader("a", "1"))
			r.publish("end", herald.WithPriority(herald.Low))
			consume(r, 4, func(_ context.Context, m herald.Message[string]) error {
				if m.Payload == "end" {
					return nil
				}
				return fmt.Errorf("%s: %w", name, errs[m.Attempt-1])
			})
			d := r.letters[0]
			wantEqual(t, []any{"m", "7", "k", herald.High, "1", int32(3), "bus", "sub", herald.RetriesExhausted},
				[]any{d.Payload, d.ID(), d.Key, d.Priority, d.Headers().Get("a"), d.Attempt, d.Topic(), d.Subscription, d.Reason})
			wantErr(t, "the last error", d.Err, errs[2])
			wantEqual(t, []bool{true, true}, []bool{d.Time().Equal(r.begun), d.At.Equal(r.begun.Add(300 * time.Millisecond))})
		})
	}
}

// TestB70_ARetryIsNoDuplicate: Particular/NServiceBus PR#5557, apache/pulsar#5218. An ID that was refused, or whose first
// attempt failed, is as good as new: the bus itself remembers none. (G30)
func TestB70_ARetryIsNoDuplicate(t *testing.T) {
	r := newRig(t, herald.WithCapacity(1), herald.WithOverflow(policy.Reject()), herald.WithRetry(policy.Schedule{0}))
	r.publish("filler")
	id := herald.WithID("1")
	wantErr(t, "Publish", r.topic.Publish(t.Context(), "m", id), herald.ErrFull)
	r.steps(r.handle(nil))
	r.publish("m", id)
	r.steps(r.handle(fails("m", 1)))
	r.publish("m", id)
	r.steps(r.handle(nil))
	r.wantSeen("filler m m m")
	wantEqual(t, uint64(3), r.sub.Stats().Delivered)
}
