package herald_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/heraldbus/herald"
)

// TestG13_ASecondConsumerIsBusy: whatever consumes, another kind, or another Run or Step, is ErrBusy meanwhile, and
// welcome afterwards.
func TestG13_ASecondConsumerIsBusy(t *testing.T) {
	blocked := func(r *rig) herald.Handler[string] {
		return func(ctx context.Context, _ herald.Message[string]) error { <-ctx.Done(); return nil }
	}
	holders := map[string]func(context.Context, *rig){
		"Run": func(ctx context.Context, r *rig) { _ = r.sub.Run(ctx, blocked(r)) },
		"RunBatch": func(ctx context.Context, r *rig) {
			_ = r.sub.RunBatch(ctx, 2, 0, func(context.Context, []herald.Message[string]) error { <-ctx.Done(); return nil })
		},
		"Run, idle": func(ctx context.Context, r *rig) { r.sub.Discard(); _ = r.sub.Run(ctx, blocked(r)) },
		"Step":      func(ctx context.Context, r *rig) { _, _ = r.sub.Step(ctx, blocked(r)) },
		"Receive":   func(ctx context.Context, r *rig) { d, _ := r.sub.Receive(ctx); <-ctx.Done(); _ = d.Ack() },
		"Receive, waiting": func(ctx context.Context, r *rig) {
			r.sub.Discard()
			_, _ = r.sub.Receive(ctx)
		},
		"Messages": func(ctx context.Context, r *rig) {
			for d := range r.sub.Messages(ctx) {
				<-ctx.Done()
				_ = d.Ack()
			}
		},
	}
	type call = func(context.Context, *rig) error
	pushes := map[string]call{
		"RunBatch": func(ctx context.Context, r *rig) error {
			return r.sub.RunBatch(ctx, 2, 0, func(context.Context, []herald.Message[string]) error { return nil })
		},
		"Run":  func(ctx context.Context, r *rig) error { return r.sub.Run(ctx, r.handle(nil)) },
		"Step": func(ctx context.Context, r *rig) error { _, err := r.sub.Step(ctx, r.handle(nil)); return err },
	}
	pulls := map[string]call{
		"Receive": func(ctx context.Context, r *rig) error { _, err := r.sub.Receive(ctx); return err },
		"Messages": func(ctx context.Context, r *rig) error {
			for range r.sub.Messages(ctx) {
			}
			return r.sub.Err()
		},
		"TryReceive": func(_ context.Context, r *rig) error {
			if _, ok := r.sub.TryReceive(); ok {
				return nil
			}
			return herald.ErrBusy
		},
	}
	for holder, hold := range holders {
		pulling := strings.HasPrefix(holder, "Receive") || holder == "Messages"
		t.Run(holder, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				r.publish("m")
				ctx, cancel := context.WithCancel(t.Context())
				ended := r.start(func() { hold(ctx, r) })
				synctest.Wait()
				for name, intrude := range pushes {
					if err := intrude(t.Context(), r); !errors.Is(err, herald.ErrBusy) {
						t.Errorf("%s: %v, want ErrBusy", name, err)
					}
				}
				for name, intrude := range pulls {
					if pulling {
						continue // pulls are one consumer: several may wait
					}
					if err := intrude(t.Context(), r); !errors.Is(err, herald.ErrBusy) {
						t.Errorf("%s: %v, want ErrBusy", name, err)
					}
				}
				cancel()
				<-ended
				r.publish("n")
				r.steps(r.handle(nil))
				r.wantSeen("n")
			})
		})
	}
}

// TestG33_PauseIsMindedAtOnce: no message is handed out after Pause has returned, however many wait and whoever called
// it; Resume goes on in the same place.
func TestG33_PauseIsMindedAtOnce(t *testing.T) {
	for _, within := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			publishAll(t, r.topic, "a", "b", "c", "d")
			gate := make(chan struct{})
			r.start(func() {
				_ = r.sub.Run(t.Context(), r.handle(func(m herald.Message[string]) error {
					if m.Payload != "b" {
						return nil
					}
					if within {
						r.sub.Pause()
						return nil
					}
					<-gate
					return nil
				}))
			})
			synctest.Wait()
			if !within {
				r.sub.Pause()
			}
			close(gate)
			synctest.Wait()
			r.wantSeen("a b")
			r.sub.Resume()
			synctest.Wait()
			r.wantSeen("a b c d")
		})
	}
}
