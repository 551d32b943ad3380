package heraldslog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// TestNoFeedback: what appenders log with their context goes to the others, and
// doesn't come back by way of them.
func TestNoFeedback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		var ws [3]*writer
		for i := range ws {
			name := fmt.Sprint("w", i)
			ws[i] = &writer{on: func(ctx context.Context, rec slog.Record) error {
				ctx, cancel := context.WithCancel(ctx) // also when derived
				defer cancel()
				r.log.InfoContext(ctx, rec.Message+" "+name)
				return nil
			}}
			r.add(name, nil, ws[i])
		}
		result := r.start(t.Context())
		r.log.Info("m")
		synctest.Wait()
		wantErr(t, "Drain", r.Drain(t.Context()), nil)
		wantErr(t, "Run", result(), nil)
		for i, w := range ws {
			others := map[int][2]int{0: {1, 2}, 1: {0, 2}, 2: {0, 1}}[i]
			x, y := fmt.Sprint("w", others[0]), fmt.Sprint("w", others[1])
			want := map[string]bool{"m": true, "m " + x: true, "m " + y: true, "m " + x + " " + y: true, "m " + y + " " + x: true}
			got := map[string]bool{}
			for _, m := range w.written() {
				got[m] = true
			}
			wantDiff(t, want, got)
		}
	})
}

// TestFeedbackIsBounded: with a context from elsewhere it can't be known, but
// it neither waits nor grows.
func TestFeedbackIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		n := 0
		feeding := &writer{on: func(context.Context, slog.Record) error {
			if n++; n <= 1000 {
				r.log.Info("more")
				r.log.Info("and more")
			}
			return nil
		}}
		r.add("a", nil, feeding, herald.WithCapacity(2))
		result := r.start(t.Context())
		r.log.Info("m")
		synctest.Wait()
		wantErr(t, "Drain", r.Drain(t.Context()), nil)
		wantErr(t, "Run", result(), nil)
		s := r.of("a")
		if s.Wanted != s.Written+s.Lost || s.Lost == 0 || s.Waiting != 0 {
			t.Error(accounts(s))
		}
	})
}

// TestEveryCallFromInside an appender's handler, Enabled, a LogValuer and the
// error function returns. (G18)
func TestEveryCallFromInside(t *testing.T) {
	calls := map[string]func(context.Context, *rig) error{
		"Enabled": func(ctx context.Context, r *rig) error { r.Enabled(ctx, 0); return nil },
		"Handle":  func(ctx context.Context, r *rig) error { return r.Handle(ctx, slog.Record{Message: "inner"}) },
		"With":    func(ctx context.Context, r *rig) error { r.log.With("a", 1).InfoContext(ctx, "inner"); return nil },
		"Add":     func(_ context.Context, r *rig) error { return r.Add("new", nil, &writer{}) },
		"Run":     func(ctx context.Context, r *rig) error { return r.Run(ctx) },
		"Flush":   func(ctx context.Context, r *rig) error { return r.Flush(ctx) },
		"Close":   func(_ context.Context, r *rig) error { return r.Close() },
		"Drain":   func(ctx context.Context, r *rig) error { return r.Drain(ctx) },
		"Stats":   func(_ context.Context, r *rig) error { r.Stats(); return nil },
	}
	places := map[string]func(call func(context.Context)) (slog.Handler, any){
		"Handle": func(call func(context.Context)) (slog.Handler, any) {
			return &writer{on: func(ctx context.Context, _ slog.Record) error { call(ctx); return nil }}, nil
		},
		"Enabled": func(call func(context.Context)) (slog.Handler, any) { return &asking{call: call}, nil },
		"LogValuer": func(call func(context.Context)) (slog.Handler, any) {
			return &writer{}, calling(func() { call(context.Background()) })
		},
		"error function": func(call func(context.Context)) (slog.Handler, any) {
			return &writer{on: func(context.Context, slog.Record) error { return errDisk }}, calling(func() {})
		},
	}
	wantErrs := map[string]error{ // where it's an error
		"Run in Handle": herald.ErrBusy, "Run in Enabled": herald.ErrBusy, "Run in LogValuer": herald.ErrBusy, "Run in error function": herald.ErrBusy,
		"Flush in Handle": herald.ErrDeadlock, "Drain in Handle": herald.ErrDeadlock,
		"Drain in Enabled": context.DeadlineExceeded, "Flush in error function": context.DeadlineExceeded, "Drain in error function": context.DeadlineExceeded,
	}
	for place, make := range places {
		for name, f := range calls {
			t.Run(name+" in "+place, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newRig(t)
					called := false
					inside := func(ctx context.Context) {
						if called {
							return
						}
						called = true
						if place != "Handle" { // its context says where it is; others have to set a deadline
							var cancel context.CancelFunc
							ctx, cancel = context.WithTimeout(ctx, time.Second)
							defer cancel()
						}
						wantErr(t, name, f(ctx, r), wantErrs[name+" in "+place])
					}
					if place == "error function" {
						r.Handler.core.onError = func(error) { inside(context.Background()) }
					}
					h, value := make(inside)
					r.add("a", nil, h)
					result := r.start(t.Context())
					synctest.Wait()
					r.log.Info("m", "v", value)
					synctest.Wait()
					wantErr(t, "Drain", r.Drain(t.Context()), nil)
					wantErr(t, "Run", result(), nil)
					if !called {
						t.Error("not called")
					}
				})
			})
		}
	}
}

// An asking makes a call when a record is offered to it: the first time it's
// asked it's by the logger.
type asking struct {
	writer
	call  func(context.Context)
	asked int
}

func (a *asking) Enabled(ctx context.Context, _ slog.Level) bool {
	if a.asked++; a.asked > 1 {
		a.call(ctx)
	}
	return true
}

// A calling makes a call when it's asked for its value.
type calling func()

func (c calling) LogValue() slog.Value { c(); return slog.IntValue(1) }

// TestIdentity: to herald an appender is itself, though the record was logged
// in the handler of another topic. (G18)
func TestIdentity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		var orders herald.Topic[int]
		work, err := orders.Subscribe("work")
		if err != nil {
			t.Fatal(err)
		}
		waiting := &writer{on: func(ctx context.Context, _ slog.Record) error {
			wantErr(t, "WaitIdle of the other", work.WaitIdle(ctx), nil)
			wantErr(t, "Flush of its own", r.Flush(ctx), herald.ErrDeadlock)
			return nil
		}}
		r.add("waiting", nil, waiting)
		result := r.start(t.Context())
		if err := orders.Publish(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		orders.Close()
		wantErr(t, "Run of work", work.Run(t.Context(), func(ctx context.Context, _ herald.Message[int]) error {
			r.log.InfoContext(ctx, "m")
			synctest.Wait() // waiting waits
			return nil
		}), nil)
		wantErr(t, "Drain", r.Drain(t.Context()), nil)
		wantErr(t, "Run", result(), nil)
		wantWritten(t, waiting, "m")
	})
}

// TestCircle: that an appender and another topic's handler wait for room in
// each other is found. (G19)
func TestCircle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		orders, err := herald.NewTopic[int]("orders", herald.WithLogger(slog.New(slog.DiscardHandler)))
		if err != nil {
			t.Fatal(err)
		}
		full := []herald.SubOption{herald.WithCapacity(1), herald.WithOverflow(policy.Block(0))}
		work, err := orders.Subscribe("work", full...)
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		deadlocks, published := 0, 0
		note := func(err error) {
			mu.Lock()
			defer mu.Unlock()
			if errors.Is(err, herald.ErrDeadlock) {
				deadlocks++
			} else if err != nil && !errors.Is(err, herald.ErrClosed) {
				t.Errorf("publish: %v", err)
			}
		}
		ordering := &writer{on: func(ctx context.Context, _ slog.Record) error {
			mu.Lock()
			published++
			more := published < 100
			mu.Unlock()
			if more {
				note(orders.Publish(ctx, 0))
				note(orders.Publish(ctx, 0))
			}
			return nil
		}}
		r.add("ordering", nil, ordering, full...)
		result := r.start(t.Context())
		worked := make(chan error, 1)
		go func() {
			worked <- work.Run(t.Context(), func(ctx context.Context, m herald.Message[int]) error {
				note(r.Handle(ctx, slog.Record{Message: "1"}))
				note(r.Handle(ctx, slog.Record{Message: "2"}))
				return nil
			})
		}()
		note(orders.Publish(t.Context(), 0))
		synctest.Wait()
		wantErr(t, "Drain of orders", orders.Drain(t.Context()), nil)
		wantErr(t, "Drain", r.Drain(t.Context()), nil)
		wantErr(t, "Run of work", <-worked, nil)
		wantErr(t, "Run", result(), nil)
		if deadlocks == 0 {
			t.Error("no deadlock was found")
		}
	})
}
