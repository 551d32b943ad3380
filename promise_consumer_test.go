package herald_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// TestG13_WhatRunReturns: nil when closed and quiet, else what ended it.
func TestG13_WhatRunReturns(t *testing.T) {
	cause := errors.New("cause")
	for name, tt := range map[string]struct {
		opts []herald.SubOption
		end  func(r *rig, cancel context.CancelCauseFunc)
		want error
	}{
		"closed":             {nil, func(r *rig, _ context.CancelCauseFunc) { r.sub.Close() }, nil},
		"topic closed":       {nil, func(r *rig, _ context.CancelCauseFunc) { r.topic.Close() }, nil},
		"cancelled":          {nil, func(_ *rig, cancel context.CancelCauseFunc) { cancel(cause) }, cause},
		"cancelled, no word": {nil, func(_ *rig, cancel context.CancelCauseFunc) { cancel(nil) }, context.Canceled},
		"timed out":          {nil, func(*rig, context.CancelCauseFunc) { time.Sleep(time.Hour) }, context.DeadlineExceeded},
		"stopped":            {nil, func(r *rig, _ context.CancelCauseFunc) { r.publish("stop") }, cause},
		"waits for a retry": {nil, func(r *rig, cancel context.CancelCauseFunc) {
			r.publish("fail")
			synctest.Wait()
			cancel(cause)
		}, cause},
		"disconnected": {
			[]herald.SubOption{herald.WithCapacity(1), herald.WithOverflow(policy.Disconnect())},
			func(r *rig, _ context.CancelCauseFunc) {
				r.publish("slow")
				synctest.Wait()
				r.publish("queued")
				if err := r.topic.Publish(r.t.Context(), "victim"); !errors.Is(err, herald.ErrDisconnected) {
					r.t.Errorf("the publisher got %v", err)
				}
			},
			herald.ErrDisconnected,
		},
	} {
		for _, n := range []int{1, 3} {
			t.Run(fmt.Sprint(name, "/", n), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newRig(t, append(tt.opts, herald.WithConcurrency(n))...)
					ctx, cancel := context.WithCancelCause(t.Context())
					ctx, stop := context.WithTimeout(ctx, time.Minute)
					defer stop()
					var err error
					ended := r.start(func() {
						err = r.sub.Run(ctx, r.handle(func(m herald.Message[string]) error {
							switch m.Payload {
							case "stop":
								return policy.Stop(cause)
							case "fail":
								return errBoom
							case "slow":
								time.Sleep(time.Second)
							}
							return nil
						}))
					})
					synctest.Wait()
					tt.end(r, cancel)
					<-ended
					if !errors.Is(err, tt.want) {
						t.Errorf("Run returned %v, want %v", err, tt.want)
					}
					if again := r.sub.Run(ctx, r.handle(nil)); tt.want == nil && again != nil {
						t.Errorf("a second Run of a closed and quiet subscription returned %v", again)
					}
				})
			})
		}
	}
}

// TestG13_TheEndOfRunsContextIsAbrupt: no handler starts after it, whatever waits, and an attempt that fails after it
// doesn't count. (G33)
func TestG13_TheEndOfRunsContextIsAbrupt(t *testing.T) {
	for _, n := range []int{1, 3} {
		r := newRig(t, herald.WithConcurrency(n), herald.WithRetry(policy.Never()))
		publishAll(t, r.topic, "a", "b", "c", "d", "e")
		for _, consume := range []func(context.Context, herald.Handler[string]) error{
			r.sub.Run,
			func(ctx context.Context, h herald.Handler[string]) error { _, err := r.sub.Step(ctx, h); return err },
		} {
			ctx, cancel := context.WithCancelCause(t.Context())
			var started atomic.Int32
			err := consume(ctx, func(context.Context, herald.Message[string]) error {
				cancel(errBoom)
				started.Add(1)
				return errors.New("never mind")
			})
			wantErr(t, "the consumer", err, errBoom)
			wantEqual(t, true, started.Load() <= int32(n))
		}
		wantTally(t, r.sub, tally{Offered: 5, Accepted: 5, Queued: 5})
		r.steps(r.handle(func(m herald.Message[string]) error { wantEqual(t, int32(1), m.Attempt); return nil }))
		r.wantSeen("a b c d e")

		publishAll(t, r.topic, "a", "b", "c", "d", "e")
		ctx, cancel := context.WithCancelCause(t.Context())
		err := r.sub.Run(ctx, func(context.Context, herald.Message[string]) error { cancel(errBoom); return nil })
		wantErr(t, "Run", err, errBoom)
		if handled := r.sub.Stats().Delivered - 5; handled < 1 || handled > uint64(n) {
			t.Errorf("%d handled after the end, with %d workers", handled-1, n)
		}
	}
}

// TestG13_AfterCloseWhatIsQueuedIsDelivered: queued, delayed and failed messages all get their end, and no more come.
func TestG13_AfterCloseWhatIsQueuedIsDelivered(t *testing.T) {
	for name, consume := range consumers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				r.publish("queued")
				r.publish("delayed", herald.WithDelay(time.Minute))
				r.publish("fails")
				r.sub.Close()
				r.publish("nobody")
				consume(r, 4, r.handle(fails("fails", 1)))
				r.wantTrace("queued#1@0s fails#1@0s fails#2@100ms delayed#1@1m0s")
				if err := r.sub.Run(t.Context(), r.handle(nil)); err != nil {
					t.Error(err)
				}
				if _, err := r.sub.Receive(t.Context()); !errors.Is(err, herald.ErrClosed) {
					t.Errorf("Receive: %v, want ErrClosed", err)
				}
			})
		})
	}
}

// TestG13_HandlersHappenOneAfterTheOther: with concurrency 1 handlers may share state without a lock, whatever
// goroutine they run on: after a panic, a Goexit, and from one consumer to the next. The race detector is the judge.
func TestG13_HandlersHappenOneAfterTheOther(t *testing.T) {
	const n = 300
	r := newRig(t, herald.WithRetry(policy.Never()), herald.WithCapacity(4*n))
	for i := range 4 * n {
		r.publish(fmt.Sprint(i))
	}
	handled, inside, rude := 0, false, false // unsynchronised
	h := func(ctx context.Context, m herald.Message[string]) error {
		if inside {
			t.Error("two handlers at the same time")
		}
		inside = true
		runtime.Gosched()
		handled++
		inside = false
		switch {
		case rude && handled%7 == 0:
			panic("seventh")
		case rude && handled%5 == 0:
			runtime.Goexit()
		}
		return nil
	}
	for name, consume := range consumers {
		rude = name == "Run" // the others' callers would have to bear it
		<-r.start(func() { consume(r, n, h) })
	}
	if handled < n {
		t.Errorf("%d handled", handled)
	}
}

// TestG13_StepNeverWaits: with nothing ready it says so at once, whatever is to come.
func TestG13_StepNeverWaits(t *testing.T) {
	cause := errors.New("cause")
	for name, prepare := range map[string]func(*rig){
		"empty":   func(*rig) {},
		"closed":  func(r *rig) { r.sub.Close() },
		"delayed": func(r *rig) { r.publish("later", herald.WithDelay(time.Hour)) },
		"paused":  func(r *rig) { r.publish("held"); r.sub.Pause() },
		"retry":   func(r *rig) { r.publish("bad"); r.steps(r.handle(fails("bad", 1))) },
		"in line": func(r *rig) {
			r.publish("bad", herald.WithKey("k"))
			r.steps(r.handle(fails("bad", 1)))
			r.publish("behind it", herald.WithKey("k"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				prepare(r)
				ok, err := r.sub.Step(t.Context(), r.handle(nil))
				if ok || err != nil || time.Since(r.begun) != 0 {
					t.Errorf("Step says %v, %v, after %v", ok, err, time.Since(r.begun))
				}
				ctx, cancel := context.WithCancelCause(t.Context())
				cancel(cause)
				if ok, err := r.sub.Step(ctx, r.handle(nil)); ok || !errors.Is(err, cause) {
					t.Errorf("with a ctx that is done, Step says %v, %v", ok, err)
				}
			})
		})
	}
}

// TestG19_RunningSaysSinceWhen: Stats names what is under way, its attempt, and when that one began.
func TestG19_RunningSaysSinceWhen(t *testing.T) {
	for name, consume := range consumers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, herald.WithRetry(policy.Schedule{time.Second}), herald.WithLease(time.Hour))
				publishAll(t, r.topic, "first", "second")
				r.start(func() {
					consume(r, 3, r.handle(func(m herald.Message[string]) error {
						time.Sleep(time.Minute)
						return fails("second", 1)(m)
					}))
				})
				for i, want := range []herald.Running{
					{Seq: 1, Attempt: 1, Since: r.begun},
					{Seq: 2, Attempt: 1, Since: r.begun.Add(time.Minute)},
					{Seq: 2, Attempt: 2, Since: r.begun.Add(2*time.Minute + time.Second)},
				} {
					time.Sleep(want.Since.Sub(r.begun) - time.Since(r.begun) + 30*time.Second)
					if got := r.sub.Stats().Running; len(got) != 1 || !got[0].Since.Equal(want.Since) ||
						got[0].Seq != want.Seq || got[0].Attempt != want.Attempt {
						t.Errorf("%d: %+v, want %+v", i, got, want)
					}
				}
			})
		})
	}
}
