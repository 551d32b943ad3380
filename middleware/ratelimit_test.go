package middleware

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// A fakeLimiter gives one turn each interval, as golang.org/x/time/rate does:
// a deadline before the caller's turn is an error at once. The zero one never
// holds anybody up. It's for one goroutine.
type fakeLimiter struct {
	interval time.Duration
	next     time.Time
	err      error // to return
}

var errDeadline = errors.New("would exceed context deadline")

func (l *fakeLimiter) Wait(ctx context.Context) error {
	if l.err != nil {
		return l.err
	}
	now := time.Now()
	turn := now
	if l.next.After(now) {
		turn = l.next
	}
	if end, ok := ctx.Deadline(); ok && end.Before(turn) {
		return errDeadline
	}
	select {
	case <-time.After(turn.Sub(now)):
		l.next = turn.Add(l.interval)
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Each attempt takes its turn, retries as well.
func TestG16_RateLimitSpacesAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		topic, sub := subscribe(t, []herald.Middleware{RateLimit(&fakeLimiter{interval: time.Second})}, attempts(2))
		for v := range 3 {
			publish(t, topic, v)
		}
		var got []time.Duration
		begin := time.Now()
		runAll(t, topic, sub, func(_ context.Context, m herald.Message[int]) error {
			got = append(got, time.Since(begin))
			if m.Payload == 1 && m.Attempt == 1 {
				return errNo
			}
			return nil
		})
		if diff := cmp.Diff([]time.Duration{0, time.Second, 2 * time.Second, 3 * time.Second}, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

// Subscriptions that share a limiter share its rate.
func TestG16_RateLimitIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := []herald.Middleware{RateLimit(&fakeLimiter{interval: time.Second})}
		begin := time.Now()
		for range 3 {
			topic, sub := subscribe(t, m)
			publish(t, topic, 1)
			runAll(t, topic, sub, succeed)
		}
		if took := time.Since(begin); took != 2*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

// An error of the limiter is a failed attempt that the handler doesn't see.
func TestG16_RateLimitError(t *testing.T) {
	var last error
	topic, err := herald.NewTopic[int]("orders")
	if err != nil {
		t.Fatal(err)
	}
	sub, err := topic.DeadLetterTo(func(d herald.DeadLetter[int]) error {
		last = d.Err
		return nil
	}).Subscribe("s", herald.WithMiddleware(RateLimit(&fakeLimiter{err: errNo})), herald.WithRetry(policy.Never()))
	if err != nil {
		t.Fatal(err)
	}
	publish(t, topic, 1)
	runAll(t, topic, sub, func(context.Context, herald.Message[int]) error {
		t.Error("handled")
		return nil
	})
	if !errors.Is(last, errNo) || last.Error() != "rate limit: no" {
		t.Errorf("last error: %v", last)
	}
}

// When the consumer's context ends while an attempt waits for its turn, also
// by a deadline that the limiter could have seen coming, the attempt doesn't
// count: a Run with a deadline makes no dead letters.
func TestG33_RateLimitUntilRunsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		topic, sub := subscribe(t, []herald.Middleware{RateLimit(&fakeLimiter{interval: time.Hour})}, attempts(1))
		for v := range 10 {
			publish(t, topic, v)
		}
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := sub.Run(ctx, succeed)
		if took := time.Since(begin); !errors.Is(err, context.DeadlineExceeded) || took != time.Minute {
			t.Errorf("Run = %v after %v", err, took)
		}
		if s := sub.Stats(); s.Delivered != 1 || s.Queued != 9 || s.Dead != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// Inside of Timeout the wait is part of the attempt's time; outside it isn't.
func TestG17_RateLimitAndTimeout(t *testing.T) {
	for name, test := range map[string]struct {
		order     func(limit, timeout herald.Middleware) []herald.Middleware
		delivered uint64
	}{
		"inside":  {func(l, t herald.Middleware) []herald.Middleware { return []herald.Middleware{t, l} }, 1},
		"outside": {func(l, t herald.Middleware) []herald.Middleware { return []herald.Middleware{l, t} }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ms := test.order(RateLimit(&fakeLimiter{interval: time.Minute}), Timeout(time.Second))
				topic, sub := subscribe(t, ms, attempts(1))
				publish(t, topic, 1)
				publish(t, topic, 2)
				runAll(t, topic, sub, succeed)
				if s := sub.Stats(); s.Delivered != test.delivered || s.Dead != 2-test.delivered {
					t.Errorf("%+v", s)
				}
			})
		})
	}
}
