package herald_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// From inside a handler, middleware, filter, key function, policy or Put every call on the topic, the subscription
// and others returns, with the handler's context where there is one (G18).
func TestG18_CallsReturn(t *testing.T) {
	for name, site := range allSites() {
		t.Run(name, func(t *testing.T) {
			for what, call := range calls {
				sc := newScene(t, site, call)
				if !returns(t, what, func() { sc.play(site) }) {
					return // the rest of this site would hang as well
				}
				sc.checkAlive(t)
			}
		})
	}
}

// insideHandler calls f inside a handler of own, by each way to run one, in a bubble.
func insideHandler(t *testing.T, f func(ctx context.Context, t *testing.T, sc *scene)) {
	t.Helper()
	for name, site := range handlerSites {
		bubble(t, name, func(_ context.Context, t *testing.T) {
			sc := newScene(t, site, func(ctx context.Context, sc *scene) { f(ctx, t, sc) })
			sc.play(site)
			sc.topic.Close()
		})
	}
}

// Drain and WaitIdle of oneself, with the handler's context or one that descends from it, would wait for ever: they
// are ErrDeadlock at once (G18). What Drain closes is closed all the same.
func TestG18_WaitingForOneself(t *testing.T) {
	waits := map[string]func(ctx context.Context, sc *scene) error{
		"WaitIdle":    func(ctx context.Context, sc *scene) error { return sc.own.WaitIdle(ctx) },
		"Drain":       func(ctx context.Context, sc *scene) error { return sc.own.Drain(ctx) },
		"Topic.Drain": func(ctx context.Context, sc *scene) error { return sc.topic.Drain(ctx) },
	}
	type key struct{}
	derive := map[string]func(context.Context) (context.Context, context.CancelFunc){
		"same": func(ctx context.Context) (context.Context, context.CancelFunc) { return ctx, func() {} },
		"timeout": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Minute)
		},
		"value": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithValue(ctx, key{}, 1), func() {}
		},
		"no cancel": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithoutCancel(ctx), func() {}
		},
	}
	for what, wait := range waits {
		for how, derived := range derive {
			insideHandler(t, func(ctx context.Context, t *testing.T, sc *scene) {
				ctx, cancel := derived(ctx)
				defer cancel()
				start := time.Now()
				err := wait(ctx, sc)
				wantErr(t, what+", "+how, err, herald.ErrDeadlock)
				wantEqual(t, time.Duration(0), time.Since(start))
				e, ok := errors.AsType[*herald.DeadlockError](err)
				if !ok {
					t.Fatalf("%s: error %#v", what, err)
				}
				wantEqual(t, []string{"scene/own", "scene/own"}, e.Chain)
				if at, ok := errors.AsType[*herald.Error](err); !ok || at.Topic != "scene" || at.Subscription != "own" {
					t.Errorf("%s: error %#v does not name the subscription", what, err)
				}
				if closed := sc.own.Stats().Closed; closed != (what != "WaitIdle") {
					t.Errorf("%s: closed is %v", what, closed)
				}
			})
		}
	}
}

// So it is however deep: the handler of another subscription that own's handler steps is inside own's too (G18).
func TestG18_WaitingForOneselfDeepDown(t *testing.T) {
	insideHandler(t, func(ctx context.Context, t *testing.T, sc *scene) {
		ok, err := sc.other.Step(ctx, func(ctx context.Context, _ herald.Message[int]) error {
			wantErr(t, "WaitIdle of the outer", sc.own.WaitIdle(ctx), herald.ErrDeadlock)
			wantErr(t, "Drain of the inner", sc.other.Drain(ctx), herald.ErrDeadlock)
			return nil
		})
		if !ok || err != nil {
			t.Errorf("Step of the other = %v, %v", ok, err)
		}
		wantErr(t, "WaitIdle of the other", sc.other.WaitIdle(ctx), nil) // it's quiet now, and not oneself
	})
}

// With a foreign context it can't be known: such a Drain waits for its context.
func TestG18_WaitingWithForeignContext(t *testing.T) {
	insideHandler(t, func(_ context.Context, t *testing.T, sc *scene) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		wantErr(t, "WaitIdle", sc.own.WaitIdle(ctx), context.DeadlineExceeded)
	})
}

// Consuming oneself inside a handler is ErrBusy, consuming another subscription works (G18).
func TestG18_ConsumingInsideHandler(t *testing.T) {
	nothing := func(context.Context, herald.Message[int]) error { return nil }
	insideHandler(t, func(ctx context.Context, t *testing.T, sc *scene) {
		_, err := sc.own.Step(ctx, nothing)
		wantErr(t, "Step", err, herald.ErrBusy)
		wantErr(t, "Run", sc.own.Run(ctx, nothing), herald.ErrBusy)
		_, err = sc.own.Receive(ctx)
		wantErr(t, "Receive", err, herald.ErrBusy)
		for range sc.own.Messages(ctx) {
			t.Error("Messages yields")
		}
		wantErr(t, "Err", sc.own.Err(), herald.ErrBusy)
		sc.other.Close()
		wantErr(t, "Run of the other", sc.other.Run(ctx, nothing), nil)
		if n := sc.other.Stats().Delivered; n != 1 {
			t.Errorf("%d delivered to the other", n)
		}
	})
}

// A handler that publishes to its own topic is the consumer of that message later, in order (G18).
func TestG18_PublishInsideHandler(t *testing.T) {
	topic, got := newBus[int](t), tape[int]{}
	s := subscribe(t, topic, "s")
	publishAll(t, topic, 1)
	ran := running(t.Context(), s, func(ctx context.Context, m herald.Message[int]) error {
		got.add(m.Payload)
		if m.Payload == 5 {
			return s.Close()
		}
		return topic.Publish(ctx, m.Payload+1)
	})
	wantErr(t, "Run", <-ran, nil)
	wantEqual(t, []int{1, 2, 3, 4, 5}, got.list())
}

// Closing oneself inside a handler detaches; the message is delivered, and so is what is queued (G18).
func TestG18_CloseInsideHandler(t *testing.T) {
	topic, got := newBus[int](t), tape[int]{}
	s := subscribe(t, topic, "s")
	publishAll(t, topic, 1, 2)
	wantErr(t, "Run", s.Run(t.Context(), func(_ context.Context, m herald.Message[int]) error {
		got.add(m.Payload)
		s.Close()
		publishAll(t, topic, 3) // not offered any more
		return nil
	}), nil)
	wantEqual(t, []int{1, 2}, got.list())
	wantTally(t, s, tally{Offered: 2, Accepted: 2, Delivered: 2})
}

// Put can replay the letter that it's given: it's home before Put returns (G18).
func TestG18_ReplayInsidePut(t *testing.T) {
	topic := newBus[int](t)
	s := subscribe(t, topic.DeadLetterTo(func(d herald.DeadLetter[int]) error {
		if d.Replays() == 3 {
			return nil
		}
		return d.Replay(context.Background())
	}), "s", herald.WithRetry(policy.Never()))
	publishAll(t, topic, 1)
	for range 4 {
		stepWith(t, s, func(context.Context, herald.Message[int]) error { return errAttempt })
	}
	wantTally(t, s, tally{Offered: 1, Accepted: 4, Replayed: 3, Dead: 4})
}
