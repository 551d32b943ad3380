package herald_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// receive receives a message, which must be there, or come.
func (r *rig) receive() *herald.Delivery[string] {
	r.t.Helper()
	d, err := r.sub.Receive(r.t.Context())
	if err != nil {
		r.t.Fatalf("Receive = %v", err)
	}
	_ = r.handle(nil)(r.t.Context(), d.Message) // noted as an attempt
	return d
}

// settlers are all the ways to use a delivery.
var settlers = map[string]func(*herald.Delivery[string]) error{
	"Ack":     func(d *herald.Delivery[string]) error { return d.Ack() },
	"Nack":    func(d *herald.Delivery[string]) error { return d.Nack(errBoom) },
	"Release": func(d *herald.Delivery[string]) error { return d.Release() },
	"Extend":  func(d *herald.Delivery[string]) error { return d.Extend(time.Hour) },
}

// TestG26_ExpiryWakesAWaitingReceive: when a lease ends the message goes to who waits, at that moment, as the next
// attempt after what the retry policy says; nobody else has to do anything. Out of attempts, it's dead of it.
func TestG26_ExpiryWakesAWaitingReceive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, herald.WithLease(5*time.Second), herald.WithRetry(policy.Schedule{0, 3 * time.Second}))
		r.publish("a")
		r.publish("b")
		for range 3 {
			r.receive()
		}
		_ = r.receive().Ack()
		r.wantTrace("a#1@0s a#2@5s a#3@13s b#1@18s")
		d := r.letters[0]
		if d.Reason != herald.RetriesExhausted || d.Attempt != 3 || !errors.Is(d.Err, herald.ErrLeaseLost) {
			t.Errorf("dead letter: %v after %d attempts, %v", d.Reason, d.Attempt, d.Err)
		}
	})
}

// TestG26_TheDelayBeginsAtTheEndOfTheLease: not when somebody notices it.
func TestG26_TheDelayBeginsAtTheEndOfTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, herald.WithLease(5*time.Second), herald.WithRetry(policy.Schedule{5 * time.Second, 5 * time.Second}))
		r.publish("a")
		r.receive()
		time.Sleep(8 * time.Second)
		r.receive()
		time.Sleep(time.Minute) // both are over
		_ = r.receive().Ack()
		r.wantTrace("a#1@0s a#2@10s a#3@1m10s")
	})
}

// TestG26_AStaleDeliveryHasNoEffect: after the end of its lease, at that very moment too, whatever is done with a
// delivery is ErrLeaseLost, whether the message waits, is with somebody else, or is done; a moment before it counts.
func TestG26_AStaleDeliveryHasNoEffect(t *testing.T) {
	for name, use := range settlers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, herald.WithLease(5*time.Second), herald.WithRetry(policy.Schedule{0, 0, 0}))
				r.publish("a")
				first := r.receive()
				time.Sleep(5 * time.Second)
				wantErr(t, "at the end of the lease", use(first), herald.ErrLeaseLost)
				second := r.receive()
				time.Sleep(time.Second)
				wantErr(t, "while another has it", use(first), herald.ErrLeaseLost)
				wantErr(t, "and again", use(first), herald.ErrLeaseLost)
				if s := r.sub.Stats(); s.InFlight != 1 || s.Retried != 1 || len(s.Running) != 1 || s.Running[0].Attempt != 2 {
					t.Errorf("a stale delivery changed something: %+v", s)
				}
				time.Sleep(4*time.Second - 1)
				wantErr(t, "in time", second.Ack(), nil)
				wantErr(t, "when all is done", use(first), herald.ErrLeaseLost)
				r.publish("b") // may be in the memory of a
				_ = r.receive()
				wantErr(t, "when there's another message", use(first), herald.ErrLeaseLost)
				wantEqual(t, uint64(1), r.sub.Stats().InFlight)
				r.wantTrace("a#1@0s a#2@5s b#1@9.999999999s")
			})
		})
	}
}

// TestG26_ASecondSettlementIsErrSettled: the first counts, whatever both are.
func TestG26_ASecondSettlementIsErrSettled(t *testing.T) {
	for first, settle := range settlers {
		for second, again := range settlers {
			if first == "Extend" {
				continue // settles nothing
			}
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, herald.WithLease(time.Second))
				r.publish("a")
				d := r.receive()
				wantErr(t, first, settle(d), nil)
				before := r.sub.Stats()
				wantErr(t, second+" after "+first, again(d), herald.ErrSettled)
				time.Sleep(time.Hour)
				wantErr(t, second+" much later", again(d), herald.ErrSettled)
				wantEqual(t, before, r.sub.Stats())
			})
		}
	}
	for name, use := range settlers {
		if err := use(new(herald.Delivery[string])); !errors.Is(err, herald.ErrOption) {
			t.Errorf("%s of a zero Delivery: %v", name, err)
		}
	}
}

// TestG26_ReleaseKeepsPlaceAndAttempt: it's the next one again, as if it hadn't been received; Nack(Stop) is the same.
func TestG26_ReleaseKeepsPlaceAndAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, herald.WithLease(time.Second), herald.WithConcurrency(2))
		for _, v := range []string{"a", "b", "c"} {
			r.publish(v)
		}
		a, b := r.receive(), r.receive()
		wantErr(t, "Release", b.Release(), nil)
		wantErr(t, "Nack(Stop)", a.Nack(policy.Stop(nil)), nil)
		time.Sleep(time.Hour) // no lease goes on
		for range 3 {
			_ = r.receive().Ack()
		}
		r.wantTrace("a#1@0s b#1@0s a#1@1h0m0s b#1@1h0m0s c#1@1h0m0s")
	})
}

// TestG26_ExtendNeverShortens: a lease ends where the latest Extend says, counted from its call, or where it ended before.
func TestG26_ExtendNeverShortens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, herald.WithLease(10*time.Second), herald.WithRetry(policy.Schedule{0}))
		r.publish("a")
		d := r.receive()
		for _, extend := range []time.Duration{time.Second, 9 * time.Second, 1} {
			wantErr(t, "Extend", d.Extend(extend), nil)
		}
		time.Sleep(9 * time.Second)
		for _, wrong := range []time.Duration{0, -1} {
			wantErr(t, "Extend", d.Extend(wrong), herald.ErrOption)
		}
		wantErr(t, "Extend", d.Extend(20*time.Second), nil)
		wantErr(t, "Extend", d.Extend(1<<63-1), nil) // doesn't overflow
		wantErr(t, "Extend", d.Extend(time.Second), nil)
		time.Sleep(1000 * time.Hour)
		wantErr(t, "Ack", d.Ack(), nil)

		r.publish("b")
		begun := time.Now()
		wantErr(t, "Extend", r.receive().Extend(20*time.Second), nil)
		r.receive()
		wantEqual(t, 20*time.Second, time.Since(begun))
	})
}

// TestG26_ReceivesContextBoundsTheWaitNotTheLease: the wait ends with its cause, the delivery lives on.
func TestG26_ReceivesContextBoundsTheWaitNotTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errBoom)
		defer cancel()
		r.publish("a")
		d, err := r.sub.Receive(ctx)
		wantErr(t, "Receive", err, nil)
		_, err = r.sub.Receive(ctx)
		wantErr(t, "Receive", err, errBoom)
		wantEqual(t, time.Second, time.Since(r.begun))
		_, err = r.sub.Receive(ctx)
		wantErr(t, "Receive with a ctx that is done", err, errBoom)
		time.Sleep(time.Second)
		wantErr(t, "Ack", d.Ack(), nil)
	})
}

// TestG26_AConsumerThatVanishedIsReplaced: once the lease of a delivery that nobody settles has ended, the subscription
// has no consumer any more, and another kind may begin.
func TestG26_AConsumerThatVanishedIsReplaced(t *testing.T) {
	for name, consume := range consumers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, herald.WithLease(time.Second), herald.WithRetry(policy.Schedule{0}))
				r.publish("a")
				r.receive()
				time.Sleep(time.Second)
				consume(r, 1, r.handle(nil))
				r.wantTrace("a#1@0s a#2@1s")
			})
		})
	}
}
