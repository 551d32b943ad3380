package herald_test

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// TestB41_DelaysStayInBounds: onosproject/onos-lib-go PR#127, aws/aws-sdk-java#874 and others; and B43, jitter beyond the
// maximum: cenkalti/backoff#117, #139, agenda/agenda#1748. However many attempts, the next comes within Max. (G21)
func TestB41_DelaysStayInBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, jitter := range []float64{0, 0.5} {
			r := newRig(t, herald.WithRetry(policy.Exponential{
				Attempts: math.MaxInt, Base: 800 * time.Millisecond, Max: 1200 * time.Millisecond, Jitter: jitter,
			}))
			r.publish("m")
			last := time.Now()
			consumers["Run"](r, 2000, func(_ context.Context, m herald.Message[string]) error {
				gap := time.Since(last)
				last = time.Now()
				most := 1200 * time.Millisecond
				if m.Attempt > 1 && (gap <= 0 || gap > most) || jitter == 0 && m.Attempt > 2 && gap != most {
					t.Errorf("attempt %d after %v", m.Attempt, gap)
				}
				if m.Attempt < 2000 {
					return errBoom
				}
				return nil
			})
			wantEqual(t, uint64(1), r.sub.Stats().Delivered)
		}
	})
}

// TestB46_BackoffIsNobodysState: cenkalti/backoff#183, open-telemetry/opentelemetry-go#3506. One policy for two
// subscriptions: the failures of one message don't lengthen the delays of another, nor of the next. (G20)
func TestB46_BackoffIsNobodysState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := policy.Exponential{Attempts: 9, Base: time.Second, Max: time.Hour}
		a, b := newRig(t, herald.WithRetry(&shared)), newRig(t, herald.WithRetry(&shared))
		a.publish("five")
		a.publish("one")
		for _, r := range []*rig{a, b} {
			r.start(func() {
				_ = r.sub.Run(t.Context(), r.handle(func(m herald.Message[string]) error {
					if m.Payload == "five" && m.Attempt <= 5 || m.Payload == "one" && m.Attempt <= 1 {
						return errBoom
					}
					return nil
				}))
			})
		}
		time.Sleep(16 * time.Second)
		b.publish("one")
		time.Sleep(time.Hour)
		a.wantTrace("five#1@0s five#2@1s five#3@3s five#4@7s five#5@15s five#6@31s one#1@31s one#2@32s")
		b.wantTrace("one#1@16s one#2@17s")
	})
}

// TestB47_NoSleepAfterTheLastAttempt: toss/es-toolkit PR#1901, avast/retry-go PR#129, dbos-inc/dbos-transact-py#667. (G20)
func TestB47_NoSleepAfterTheLastAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, herald.WithRetry(policy.Exponential{Attempts: 3, Base: time.Second}))
		r.publish("m")
		r.sub.Close()
		wantErr(t, "Run", r.sub.Run(t.Context(), r.handle(fails("m", 9))), nil)
		wantEqual(t, 3*time.Second, r.letters[0].At.Sub(r.begun))
		wantEqual(t, 3*time.Second, time.Since(r.begun))
	})
}

// TestB48_AttemptsAreCountedRight: getsentry/sentry PR#81671, dudleycarr/nsqjs#109, PR#204; and B50, dead-lettered before
// the retries: ThreeDotsLabs/watermill#580, #645. Of N attempts N are made; fewer where one succeeds. (G20)
func TestB48_AttemptsAreCountedRight(t *testing.T) {
	for name, consume := range consumers {
		for _, attempts := range []int{1, 2, 3} {
			for failed := range attempts + 1 {
				synctest.Test(t, func(t *testing.T) {
					r := newRig(t, herald.WithRetry(policy.Exponential{Attempts: attempts}))
					r.publish("m")
					r.publish("end")
					consume(r, min(failed+1, attempts)+1, r.handle(fails("m", int32(failed))))
					var want []string
					for i := range min(failed+1, attempts) {
						want = append(want, fmt.Sprintf("m#%d@%v", i+1, []time.Duration{0, 100, 300}[i]*time.Millisecond))
					}
					wantEqual(t, want, r.trace[:len(r.trace)-1])
					if died := failed == attempts; died != (len(r.letters) == 1) || died && r.letters[0].Attempt != int32(attempts) {
						t.Errorf("%s: %d of %d attempts failed: dead letters %+v", name, failed, attempts, r.letters)
					}
				})
			}
		}
	}
}

// TestB65_AnExpiredLeaseComesBackByItself: sivchari/kumo#649. (G26)
func TestB65_AnExpiredLeaseComesBackByItself(t *testing.T) {
	for _, waiting := range []int{1, 5} { // one gets it, whoever set the alarm
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, herald.WithLease(5*time.Second), herald.WithRetry(policy.Schedule{0}))
			r.publish("m")
			r.receive()
			var got atomic.Int32
			for range waiting {
				r.start(func() {
					if d, err := r.sub.Receive(t.Context()); err == nil {
						got.Add(1)
						wantEqual(t, []any{int32(2), 5 * time.Second}, []any{d.Attempt, time.Since(r.begun)})
						_ = d.Ack()
					}
				})
			}
			time.Sleep(time.Hour)
			wantEqual(t, int32(1), got.Load())
		})
	}
}

// TestB66_ALateAckSettlesNobodyElsesDelivery: nats-io/nats-server#6937, DonaldMurillo/gofastr PR#205. (G26)
func TestB66_ALateAckSettlesNobodyElsesDelivery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, herald.WithLease(5*time.Second), herald.WithRetry(policy.Schedule{0, 0}))
		r.publish("m")
		c1 := r.receive()
		c2 := r.receive()
		time.Sleep(time.Second)
		wantErr(t, "C1's late Ack", c1.Ack(), herald.ErrLeaseLost)
		time.Sleep(time.Second)
		wantErr(t, "C2's Nack", c2.Nack(errBoom), nil)
		c3 := r.receive()
		r.wantTrace("m#1@0s m#2@5s m#3@7s")
		wantErr(t, "C2's second", c2.Ack(), herald.ErrSettled)
		wantErr(t, "C3's Ack", c3.Ack(), nil)
		wantErr(t, "C3's second", c3.Ack(), herald.ErrSettled)
	})
}

// TestB67_ADelayBeyondTheLeaseRepeatsNothing: celery/celery#2599, #4766, iron-io/iron_celery#5; nor does one that was
// published with such a delay. (G27)
func TestB67_ADelayBeyondTheLeaseRepeatsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, herald.WithLease(5*time.Second), herald.WithRetryAside())
		r.publish("m")
		r.publish("late", herald.WithDelay(20*time.Second))
		_ = r.receive().Nack(policy.RetryAfter(12*time.Second, errBoom))
		for range 2 {
			_ = r.receive().Ack()
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, err := r.sub.Receive(ctx)
		wantErr(t, "Receive", err, context.DeadlineExceeded)
		r.wantTrace("m#1@0s m#2@12s late#1@20s")
	})
}

// TestB72_ALongTTLShieldsNobody: rabbitmq/rabbitmq-server#2074, #2007. (G23)
func TestB72_ALongTTLShieldsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.publish("held")
		open := held(t, r.sub)
		r.publish("m1", herald.WithTTL(10*time.Minute))
		r.publish("m2", herald.WithTTL(time.Minute))
		r.publish("m3", herald.WithTTL(time.Minute), herald.WithPriority(herald.Low))
		time.Sleep(time.Minute)
		s := r.sub.Stats()
		wantEqual(t, []uint64{2, 1}, []uint64{s.DeadBy.Expired, s.Queued})
		open()
		r.steps(r.handle(nil))
		r.wantSeen("m1")
	})
}

// TestB74_TheTTLStaysBehind: rabbitmq/rabbitmq-server#18, fridujo/rabbitmq-mock#28, wso2/product-ei#5053. An expired
// message is kept as a letter for as long as one likes, and lives without end once replayed, whoever gave the time. (G23)
func TestB74_TheTTLStaysBehind(t *testing.T) {
	for name, tt := range map[string]struct {
		topic []herald.TopicOption
		sub   []herald.SubOption
		pub   []herald.PublishOption
	}{
		"message": {nil, nil, []herald.PublishOption{herald.WithTTL(time.Second)}},
		"topic":   {[]herald.TopicOption{herald.WithDefaultTTL(time.Second)}, nil, nil},
		"age":     {nil, []herald.SubOption{herald.WithMaxAge(time.Second)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRigOn(t, newBus[string](t, tt.topic...), tt.sub...)
				r.publish("m", tt.pub...)
				time.Sleep(time.Hour)
				r.steps(r.handle(nil))
				r.wantExpired("m")
				time.Sleep(time.Hour)
				wantErr(t, "Replay", r.letters[0].Replay(t.Context()), nil)
				time.Sleep(time.Hour)
				r.steps(r.handle(func(m herald.Message[string]) error { wantEqual(t, true, m.Expires().IsZero()); return nil }))
				r.wantTrace("m#1@3h0m0s")
			})
		})
	}
}
