package herald_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// stillWaits fails unless nothing has come of published after a minute.
func stillWaits(t *testing.T, published <-chan error) {
	t.Helper()
	time.Sleep(time.Minute)
	settle()
	if !pending(published) {
		t.Fatalf("Publish = %v", <-published)
	}
}

// A paused subscription can go on at any time: waiting for it is no deadlock (G19).
func TestG19_NotWhilePaused(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newBus[int](t)
		s, published, ran := fillOwn(ctx, t, topic, func(ctx context.Context, s *herald.Subscription[int]) error {
			s.Pause()
			publishAll(t, topic, 1)
			return topic.Publish(ctx, 2)
		})
		stillWaits(t, published)
		s.Discard() // room
		wantErr(t, "Publish", <-published, nil)
		s.Resume()
		s.Close()
		wantErr(t, "Run", <-ran, nil)
	})
}

// Nor is it one while something in the queue is due later (G19).
func TestG19_NotWhileSomethingIsDue(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newBus[int](t)
		s, published, ran := fillOwn(ctx, t, topic, func(ctx context.Context, _ *herald.Subscription[int]) error {
			wantErr(t, "first Publish", topic.Publish(ctx, 1, herald.WithDelay(30*time.Minute)), nil)
			return topic.Publish(ctx, 2)
		})
		stillWaits(t, published)
		s.Discard()
		wantErr(t, "Publish", <-published, nil)
		s.Close()
		wantErr(t, "Run", <-ran, nil)
	})
}

// Nor while another worker is busy: it will make room. Where it doesn't, because it begins to wait as well or has
// nothing it may pick, that's when it's found (G19).
func TestG19_NotWhileAnotherWorkerIsBusy(t *testing.T) {
	for what, keys := range map[string][2]string{"free": {"a", "b"}, "behind the key": {"a", "a"}} {
		bubble(t, what, func(ctx context.Context, t *testing.T) {
			topic, finish, busy := newBus[int](t), make(chan struct{}), make(chan struct{})
			published := make(chan error, 1)
			s := subscribe(t, topic, "s", append(blocking(0), herald.WithConcurrency(2))...)
			ran := running(ctx, s, func(ctx context.Context, m herald.Message[int]) error {
				switch m.Payload {
				case 1:
					close(busy)
					<-finish
				case 2:
					wantErr(t, "Publish", topic.Publish(ctx, 3, herald.WithKey(keys[1])), nil)
					published <- topic.Publish(ctx, 4)
				}
				return nil
			})
			publishAll(t, topic, 1)
			<-busy
			wantErr(t, "Publish", topic.Publish(ctx, 2, herald.WithKey(keys[0])), nil)
			stillWaits(t, published)
			close(finish)
			settle()
			if keys[0] != keys[1] {
				wantErr(t, "Publish", <-published, nil)
			} else {
				wantDeadlock(t, <-published, "s", "bus/s", "bus/s")
			}
			s.Close()
			wantErr(t, "Run", <-ran, nil)
		})
	}
}

// Nor where the wait has an Else, or the policy will be asked again: it ends by itself (G19).
func TestG19_NotWithElse(t *testing.T) {
	for what, o := range map[string]policy.Overflow{
		"else": policy.Block(time.Minute).Else(policy.DropOldest()),
		"asked again": overflowFunc(func(f policy.Full) policy.Action {
			if f.Waited == 0 {
				return policy.Block(time.Minute)
			}
			return policy.DropOldest()
		}),
	} {
		bubble(t, what, func(ctx context.Context, t *testing.T) {
			topic := newBus[int](t)
			start := time.Now()
			s, published, ran := fillOwn(ctx, t, topic, func(ctx context.Context, _ *herald.Subscription[int]) error {
				publishAll(t, topic, 1)
				return topic.Publish(ctx, 2)
			}, herald.WithOverflow(o))
			wantErr(t, "Publish", <-published, nil)
			wantEqual(t, time.Minute, time.Since(start))
			s.Close()
			wantErr(t, "Run", <-ran, nil)
			wantTally(t, s, tally{Offered: 3, Accepted: 3, Dropped: 1, Delivered: 2})
		})
	}
}

// Nor where the one it waits for has no consumer yet, or a pull consumer, whose code's waits can't be known (G19).
func TestG19_NotWithoutRun(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic, other := newBus[int](t), newBusNamed[int](t, "other")
		idle := subscribe(t, other, "idle", blocking(0)...)
		publishAll(t, other, 0)
		s, published, ran := fillOwn(ctx, t, topic, func(ctx context.Context, _ *herald.Subscription[int]) error { return other.Publish(ctx, 1) })
		stillWaits(t, published)
		d, ok := idle.TryReceive()
		if !ok {
			t.Fatal("nothing there")
		}
		wantErr(t, "Publish", <-published, nil)
		wantErr(t, "Ack", d.Ack(), nil)
		s.Close()
		wantErr(t, "Run", <-ran, nil)
	})
}

// A handler that waits and whose Run's ctx ends gets that ctx's end, and not a deadlock.
func TestG19_RunsContextEndsTheWait(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic, other := newBus[int](t), newBusNamed[int](t, "other")
		subscribe(t, other, "idle", blocking(0)...)
		publishAll(t, other, 0)
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_, published, ran := fillOwn(short, t, topic, func(ctx context.Context, _ *herald.Subscription[int]) error { return other.Publish(ctx, 1) })
		wantRefused(t, <-published, map[string]error{"idle": context.DeadlineExceeded})
		wantErr(t, "Run", <-ran, context.DeadlineExceeded)
	})
}

// records is a log handler that keeps what it's given, flattened.
type records struct{ tape[map[string]any] }

func (r *records) Enabled(context.Context, slog.Level) bool { return true }

func (r *records) Handle(_ context.Context, rec slog.Record) error {
	m := map[string]any{"level": rec.Level, "msg": rec.Message, "at": time.Now()}
	rec.Attrs(func(a slog.Attr) bool {
		m[a.Key] = a.Value.Any()
		return true
	})
	r.add(m)
	return nil
}

func (r *records) WithAttrs([]slog.Attr) slog.Handler { return r }
func (r *records) WithGroup(string) slog.Handler      { return r }

// With a foreign context a deadlock can't be known: the publisher that waits logs every 5 s, to the logger of the
// topic that it waits for, which handler, message and age it waits for. They are in SubStats.Running too (G19).
func TestG19_ForeignContextLogs(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		var log records
		topic := newBus[int](t, herald.WithLogger(slog.New(&log)))
		start := time.Now()
		s, published, ran := fillOwn(ctx, t, topic, func(context.Context, *herald.Subscription[int]) error {
			time.Sleep(time.Second)
			publishAll(t, topic, 1)
			return topic.Publish(ctx, 2) // not the handler's ctx
		})
		time.Sleep(17 * time.Second)
		if n := s.Stats(); len(n.Running) != 1 || n.Running[0].Seq != 1 || !n.Running[0].Since.Equal(start) || n.Waiting != 1 {
			t.Errorf("%+v", n)
		}
		all := log.list()
		if len(all) != 3 {
			t.Fatalf("%d records in 16 s: %v", len(all), all)
		}
		for i, rec := range all {
			waited := time.Duration(5*(i+1)) * time.Second
			wantEqual(t, []any{slog.LevelWarn, "bus", "s", uint64(1), waited + time.Second, waited},
				[]any{rec["level"], rec["topic"], rec["subscription"], rec["handling"], rec["for"], rec["waited"]})
			if at := rec["at"].(time.Time); !at.Equal(start.Add(time.Second + waited)) {
				t.Errorf("record %d at %v", i, at.Sub(start))
			}
		}
		s.Discard()
		wantErr(t, "Publish", <-published, nil)
		s.Close()
		wantErr(t, "Run", <-ran, nil)
		time.Sleep(time.Minute)
		if n := len(log.list()); n != 3 {
			t.Errorf("%d records after the wait", n-3)
		}
	})
}

// Any publisher that waits logs so, for each subscription that it still waits for, and says if one is paused or has no
// consumer (G19).
func TestG19_EveryWaitLogs(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		var log records
		topic := newBus[int](t, herald.WithLogger(slog.New(&log)))
		subscribe(t, topic, "idle", blocking(0)...)
		paused := subscribe(t, topic, "paused", blocking(0)...)
		subscribe(t, topic, "rejects later", blocking(6*time.Second)...)
		paused.Pause()
		runCtx, cancelRun := context.WithCancel(ctx)
		ran := running(runCtx, paused, func(context.Context, herald.Message[int]) error { return nil })
		publishAll(t, topic, 1)
		short, cancel := context.WithTimeout(ctx, 11*time.Second)
		defer cancel()
		_ = topic.Publish(short, 2)
		seen := map[string]int{}
		for _, rec := range log.list() {
			name := rec["subscription"].(string)
			seen[name]++
			wantEqual(t, []any{name == "paused", name == "paused"}, []any{rec["paused"], rec["consumed"]})
		}
		wantEqual(t, map[string]int{"idle": 2, "paused": 2, "rejects later": 1}, seen)
		cancelRun()
		<-ran
	})
}
