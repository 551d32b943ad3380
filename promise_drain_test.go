package herald_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// drains are Drain of a subscription and of its topic.
var drains = map[string]func(context.Context, *herald.Topic[int], *herald.Subscription[int]) error{
	"subscription": func(ctx context.Context, _ *herald.Topic[int], s *herald.Subscription[int]) error {
		return s.Drain(ctx)
	},
	"topic": func(ctx context.Context, topic *herald.Topic[int], _ *herald.Subscription[int]) error {
		return topic.Drain(ctx)
	},
}

// Drain closes and returns nil when all is quiet: nothing queued, delayed or in flight, the dead letters stored (G33).
func TestG33_DrainWaitsForQuiet(t *testing.T) {
	for what, drain := range drains {
		bubble(t, what, func(ctx context.Context, t *testing.T) {
			topic, got := newBus[int](t), tape[int]{}
			stored := false
			s := subscribe(t, topic.DeadLetterTo(func(herald.DeadLetter[int]) error {
				time.Sleep(time.Second)
				stored = true
				return nil
			}), "s")
			publishAll(t, topic, 1, 2)
			ran := running(ctx, s, func(ctx context.Context, m herald.Message[int]) error {
				time.Sleep(time.Minute)
				if m.Payload == 2 {
					return policy.Permanent(errAttempt)
				}
				return got.handler(ctx, m)
			})
			start := time.Now()
			wantErr(t, "Drain", drain(ctx, topic, s), nil)
			wantEqual(t, 2*time.Minute+time.Second, time.Since(start))
			if !stored || len(got.list()) != 1 {
				t.Errorf("stored %v, handled %v", stored, got.list())
			}
			wantErr(t, "Run", <-ran, nil)
			wantErr(t, "Drain again", drain(ctx, topic, s), nil)
		})
	}
}

// At the end of ctx it returns a DrainError that counts what is left, by subscription, and names the handlers under
// way; it may be called again (G33).
func TestG33_DrainErrorSaysWhatIsLeft(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic, gate := newBus[int](t), make(chan struct{})
		stuck, idle, quiet := subscribe(t, topic, "stuck"), subscribe(t, topic, "idle"), subscribe(t, topic, "quiet")
		publishAll(t, topic, 1, 2, 3)
		wantErr(t, "Publish", topic.Publish(ctx, 4, herald.WithDelay(time.Hour)), nil)
		takeAll(t, quiet)
		quiet.Discard()
		ran := running(ctx, stuck, func(context.Context, herald.Message[int]) error { <-gate; return nil })
		settle()
		start := time.Now()
		short, cancel := context.WithTimeoutCause(ctx, time.Minute, errAttempt)
		defer cancel()
		err := topic.Drain(short)
		wantEqual(t, time.Minute, time.Since(start))
		wantErr(t, "Drain", err, errAttempt)
		e, ok := errors.AsType[*herald.DrainError](err)
		if !ok || len(e.Left) != 2 {
			t.Fatalf("Drain = %#v", err)
		}
		first, second := e.Left[0], e.Left[1]
		wantEqual(t, []any{"bus", "stuck", uint64(2), uint64(1), uint64(1), 1},
			[]any{first.Topic, first.Name, first.Queued, first.Delayed, first.InFlight, len(first.Running)})
		if r := first.Running[0]; r.Seq != 1 || r.Attempt != 1 || !r.Since.Equal(start) {
			t.Errorf("running %+v", r)
		}
		wantEqual(t, []any{"idle", uint64(3), uint64(1), 0}, []any{second.Name, second.Queued, second.Delayed, len(second.Running)})
		for _, want := range []string{"bus/stuck", "2 queued", "1 in flight", "bus/idle", "1 delayed", errAttempt.Error()} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q is not in %v", want, err)
			}
		}
		close(gate)
		stuck.Discard()
		idle.Discard()
		wantErr(t, "Drain again", topic.Drain(ctx), nil)
		wantErr(t, "Run", <-ran, nil)
	})
}

// A ctx that is done already is no reason to fail where there's nothing to wait for.
func TestG33_DrainOfTheQuiet(t *testing.T) {
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for what, drain := range drains {
		topic := newBus[int](t)
		s := subscribe(t, topic, "s")
		publishAll(t, topic, 1)
		err := drain(done, topic, s)
		if e, ok := errors.AsType[*herald.DrainError](err); !ok || len(e.Left) != 1 || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: Drain = %v", what, err)
		}
		takeAll(t, s)
		wantErr(t, "Drain", drain(done, topic, s), nil)
	}
}

// The topic's Drain waits for every subscription that was open when the topic closed, also for one that is closed
// again, by hand, in the meantime (G33).
func TestG33_DrainWaitsForWhatIsClosedTwice(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newBus[int](t)
		s := subscribe(t, topic, "s")
		publishAll(t, topic, 1)
		topic.Close()
		s.Close()
		wantEqual(t, []string{"s"}, statesOf(topic))
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if e, ok := errors.AsType[*herald.DrainError](topic.Drain(short)); !ok || len(e.Left) != 1 {
			t.Errorf("Drain = %v", e)
		}
		takeAll(t, s)
		wantErr(t, "Drain", topic.Drain(ctx), nil)
	})
}

// Several may drain at the same time, topic and subscriptions, and all learn of the end (G33).
func TestG33_ManyDrains(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newBus[int](t)
		s := subscribe(t, topic, "s")
		publishAll(t, topic, 1)
		topic.Close() // else it may forget s, where that is drained first
		var results []<-chan error
		for range 3 {
			for _, drain := range drains {
				results = append(results, background(func() error { return drain(ctx, topic, s) }))
			}
			results = append(results, background(func() error { return s.WaitIdle(ctx) }))
		}
		settle()
		for _, r := range results {
			if !pending(r) {
				takeAll(t, s)
				t.Fatalf("it's not quiet: %v", <-r)
			}
		}
		takeAll(t, s)
		for _, r := range results {
			wantErr(t, "Drain or WaitIdle", <-r, nil)
		}
	})
}

// Drain and WaitIdle wait for Resume, or for ctx (G33).
func TestG33_DrainWaitsForResume(t *testing.T) {
	for what, wait := range map[string]func(context.Context, *herald.Topic[int], *herald.Subscription[int]) error{
		"topic": drains["topic"], "subscription": drains["subscription"],
		"WaitIdle": func(ctx context.Context, _ *herald.Topic[int], s *herald.Subscription[int]) error {
			return s.WaitIdle(ctx)
		},
	} {
		bubble(t, what, func(ctx context.Context, t *testing.T) {
			topic := newBus[int](t)
			s := subscribe(t, topic, "s")
			ran := running(ctx, s, func(context.Context, herald.Message[int]) error { return nil })
			s.Pause()
			publishAll(t, topic, 1)
			short, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			wantErr(t, what+", paused", wait(short, topic, s), context.DeadlineExceeded)
			waited := background(func() error { return wait(ctx, topic, s) })
			time.Sleep(time.Minute)
			if !pending(waited) {
				t.Fatalf("%s while it's paused = %v", what, <-waited)
			}
			s.Resume()
			wantErr(t, what, <-waited, nil)
			s.Close()
			wantErr(t, "Run", <-ran, nil)
		})
	}
}

// WaitIdle returns at a moment at which it's quiet, and closes nothing.
func TestG33_WaitIdle(t *testing.T) {
	topic := newBus[int](t)
	s := subscribe(t, topic, "s")
	for v := range 3 {
		publishAll(t, topic, v)
		waited := background(func() error { return s.WaitIdle(t.Context()) })
		wantEqual(t, []int{v}, takeAll(t, s))
		wantErr(t, "WaitIdle", <-waited, nil)
	}
	if s.Stats().Closed {
		t.Error("closed")
	}
}
