package herald_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// TestG26_WhatAMessagesLoopLeavesBehind: a body that doesn't settle has failed, leaving the loop gives back, a panic or
// Goexit is a failed attempt and goes on; Err says why the loop ended.
func TestG26_WhatAMessagesLoopLeavesBehind(t *testing.T) {
	cause := errors.New("cause")
	type loop = func(*rig, context.Context, context.CancelCauseFunc)
	for name, tt := range map[string]struct {
		loop   loop
		want   error // Err
		failed error // of the one attempt; nil: it wasn't used
	}{
		"unsettled": {func(r *rig, ctx context.Context, cancel context.CancelCauseFunc) {
			for range r.sub.Messages(ctx) {
				cancel(cause)
			}
		}, cause, herald.ErrUnsettled},
		"break": {func(r *rig, ctx context.Context, _ context.CancelCauseFunc) {
			for range r.sub.Messages(ctx) {
				break
			}
		}, nil, nil},
		"return after Nack": {func(r *rig, ctx context.Context, _ context.CancelCauseFunc) {
			for d := range r.sub.Messages(ctx) {
				_ = d.Nack(cause)
				return
			}
		}, nil, cause},
		"panic": {func(r *rig, ctx context.Context, _ context.CancelCauseFunc) {
			defer func() { wantEqual(r.t, true, recover() == any(cause)) }()
			for range r.sub.Messages(ctx) {
				panic(cause)
			}
		}, nil, cause},
		"goexit": {func(r *rig, ctx context.Context, _ context.CancelCauseFunc) {
			for range r.sub.Messages(ctx) {
				runtime.Goexit()
			}
		}, nil, herald.ErrHandlerExited},
		"lost": {func(r *rig, ctx context.Context, _ context.CancelCauseFunc) {
			for range r.sub.Messages(ctx) {
				time.Sleep(time.Hour)
				return
			}
		}, nil, herald.ErrLeaseLost},
		"closed": {func(r *rig, ctx context.Context, _ context.CancelCauseFunc) {
			r.sub.Close()
			for range r.sub.Messages(ctx) {
			}
		}, herald.ErrClosed, herald.ErrUnsettled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, herald.WithRetry(policy.Never()))
				ctx, cancel := context.WithCancelCause(t.Context())
				r.publish("a")
				<-r.start(func() { tt.loop(r, ctx, cancel) })
				if err := r.sub.Err(); !errors.Is(err, tt.want) || tt.want == nil && err != nil {
					t.Errorf("Err = %v, want %v", err, tt.want)
				}
				if tt.failed == nil {
					r.steps(r.handle(nil))
					r.wantTrace("a#1@0s")
				} else if len(r.letters) != 1 || !errors.Is(r.letters[0].Err, tt.failed) {
					t.Errorf("dead letters: %+v", r.letters)
				}
				wantEqual(t, uint64(0), r.sub.Stats().InFlight)
			})
		})
	}
}

// TestG27_TheConcurrencyBoundsDeliveries: so many are out and no more; Receive waits until one of them is settled, the
// message of a key until the one before it is.
func TestG27_TheConcurrencyBoundsDeliveries(t *testing.T) {
	for name, settle := range settlers {
		if name == "Extend" {
			continue
		}
		for _, n := range []int{1, 3} {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, herald.WithConcurrency(n), herald.WithRetry(policy.Never()))
				var out []*herald.Delivery[string]
				for range n {
					r.publish("m")
					out = append(out, r.receive())
				}
				r.publish("next", herald.WithKey("k"))
				r.publish("behind", herald.WithKey("k"))
				r.publish("other", herald.WithPriority(herald.Low))
				if _, ok := r.sub.TryReceive(); ok {
					t.Errorf("more than %d deliveries", n)
				}
				r.start(func() { time.Sleep(time.Second); _ = settle(out[n-1]) })
				d := r.receive()
				wantEqual(t, time.Second, time.Since(r.begun))
				if name == "Release" {
					_ = d.Ack() // the same one again
					d = r.receive()
				}
				wantEqual(t, "next", d.Payload)
				if n > 1 {
					_ = out[0].Ack()
					wantEqual(t, "other", r.receive().Payload)
				}
			})
		}
	}
}

// TestG27_NackIsJudgedAsAnError: RetryAfter waits that long, once, Permanent is the end, nil is ErrUnsettled, and the
// policy's delay is kept in place, whatever comes in meanwhile.
func TestG27_NackIsJudgedAsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, herald.WithRetry(policy.Schedule{time.Minute}), herald.WithLease(5*time.Second))
		r.publish("a")
		_ = r.receive().Nack(policy.RetryAfter(12*time.Second, errBoom)) // longer than a lease
		r.publish("critical", herald.WithPriority(herald.Critical))
		_ = r.receive().Nack(policy.RetryAfter(0, nil))
		_ = r.receive().Nack(nil)
		_ = r.receive().Nack(policy.Permanent(errBoom))
		r.wantTrace("a#1@0s a#2@12s a#3@12s critical#1@12s")
		wantErr(t, "the letter", r.letters[0].Err, herald.ErrUnsettled)
		wantErr(t, "the letter", r.letters[1].Err, errBoom)
	})
}

// TestG27_CloseWaitsForTheUnsettled: what is out keeps a closed subscription from being quiet; once settled, those who
// wait are told, and what was given back is delivered.
func TestG27_CloseWaitsForTheUnsettled(t *testing.T) {
	for name, settle := range settlers {
		if name == "Extend" {
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, herald.WithRetry(policy.Schedule{0}))
			r.publish("a")
			d := r.receive()
			r.sub.Close()
			waiting := background(func() error {
				d, err := r.sub.Receive(t.Context())
				if err == nil {
					_ = d.Ack()
					_, err = r.sub.Receive(t.Context())
				}
				return err
			})
			drained := background(func() error { return r.sub.Drain(t.Context()) })
			synctest.Wait()
			wantEqual(t, []bool{true, true}, []bool{pending(waiting), pending(drained)})
			wantErr(t, name, settle(d), nil)
			wantErr(t, "Receive", <-waiting, herald.ErrClosed)
			wantErr(t, "Drain", <-drained, nil)
			wantEqual(t, uint64(1), r.sub.Stats().Delivered)
		})
	}
}
