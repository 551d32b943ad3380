package middleware

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heraldbus/herald"
)

// Each attempt has d, exactly, and the cause says so.
func TestG17_TimeoutEndsTheAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		topic, sub := subscribe(t, []herald.Middleware{Timeout(time.Second)}, attempts(3))
		publish(t, topic, 1)
		calls := 0
		runAll(t, topic, sub, func(ctx context.Context, m herald.Message[int]) error {
			calls++
			start := time.Now()
			<-ctx.Done()
			if took := time.Since(start); took != time.Second {
				t.Errorf("attempt %d ended after %v", m.Attempt, took)
			}
			cause := context.Cause(ctx)
			if !errors.Is(cause, context.DeadlineExceeded) || cause.Error() != "attempt timed out after 1s: context deadline exceeded" {
				t.Errorf("cause: %v", cause)
			}
			return ctx.Err()
		})
		if s := sub.Stats(); calls != 3 || s.DeadBy.RetriesExhausted != 1 {
			t.Errorf("%d calls, %+v", calls, s)
		}
	})
}

// It's cooperative: the worker is taken until the handler returns, and what
// it returns counts.
func TestG16_TimeoutIsCooperative(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		topic, sub := subscribe(t, []herald.Middleware{Timeout(time.Second)})
		publish(t, topic, 1)
		publish(t, topic, 2)
		var starts []time.Duration
		begin := time.Now()
		runAll(t, topic, sub, func(context.Context, herald.Message[int]) error {
			starts = append(starts, time.Since(begin))
			time.Sleep(time.Minute)
			return nil
		})
		if len(starts) != 2 || starts[1] != time.Minute || sub.Stats().Delivered != 2 {
			t.Errorf("started at %v, %+v", starts, sub.Stats())
		}
	})
}

// The context ends with the attempt, however that ends, and no timer is left.
func TestG17_TimeoutContextEndsWithAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		topic, sub := subscribe(t, []herald.Middleware{Timeout(time.Hour)}, attempts(1))
		var ctxs []context.Context
		for v := range 3 {
			publish(t, topic, v)
		}
		runAll(t, topic, sub, func(ctx context.Context, m herald.Message[int]) error {
			ctxs = append(ctxs, ctx)
			switch m.Payload {
			case 0:
				return errNo
			case 1:
				panic(errNo)
			}
			return nil
		})
		for i, ctx := range ctxs {
			if context.Cause(ctx) != context.Canceled {
				t.Errorf("%d: %v", i, context.Cause(ctx))
			}
		}
		if len(ctxs) != 3 {
			t.Errorf("%d attempts", len(ctxs))
		}
	})
}

// An earlier end of the consumer's context is that, and the attempt doesn't
// count.
func TestG33_TimeoutAfterRunsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		topic, sub := subscribe(t, []herald.Middleware{Timeout(time.Minute)})
		publish(t, topic, 1)
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errNo)
		defer cancel()
		err := sub.Run(ctx, func(ctx context.Context, m herald.Message[int]) error {
			<-ctx.Done()
			if context.Cause(ctx) != errNo {
				t.Errorf("cause: %v", context.Cause(ctx))
			}
			return ctx.Err()
		})
		if s := sub.Stats(); err != errNo || s.Queued != 1 || s.Retried != 0 {
			t.Errorf("Run = %v, %+v", err, s)
		}
		runAll(t, topic, sub, func(_ context.Context, m herald.Message[int]) error {
			if m.Attempt != 1 {
				t.Errorf("attempt %d", m.Attempt)
			}
			return nil
		})
	})
}
