package herald_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// TestG20_AttemptsCountFromOne: a handler sees attempts 1 to N without a gap and never one more, and the dead letter
// says N; a message after it begins at 1 again.
func TestG20_AttemptsCountFromOne(t *testing.T) {
	for _, tt := range []struct {
		retry policy.Retry
		want  string
	}{
		{policy.Never(), "bad#1@0s good#1@0s"},
		{policy.Schedule{}, "bad#1@0s good#1@0s"},
		{policy.Exponential{Attempts: 1}, "bad#1@0s good#1@0s"},
		{policy.Schedule{0, 0}, "bad#1@0s bad#2@0s bad#3@0s good#1@0s"},
		{policy.Schedule{0, 3 * time.Second}, "bad#1@0s bad#2@0s bad#3@3s good#1@3s"},
		{policy.Exponential{}, "bad#1@0s bad#2@100ms bad#3@300ms good#1@300ms"},
		{
			policy.Exponential{Attempts: 5, Max: 250 * time.Millisecond},
			"bad#1@0s bad#2@100ms bad#3@300ms bad#4@550ms bad#5@800ms good#1@800ms",
		},
	} {
		for name, consume := range consumers {
			t.Run(fmt.Sprint(tt.retry, "/", name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newRig(t, herald.WithRetry(tt.retry))
					r.publish("bad")
					r.publish("good")
					var last int32
					consume(r, len(strings.Fields(tt.want)), r.handle(func(m herald.Message[string]) error {
						if m.Payload == "good" {
							return nil
						}
						last = m.Attempt
						return errBoom
					}))
					r.wantTrace(tt.want)
					if len(r.letters) != 1 || r.letters[0].Attempt != last || r.letters[0].Reason != herald.RetriesExhausted {
						t.Errorf("dead letters: %+v", r.letters)
					}
				})
			})
		}
	}
}

// TestG20_TheDelayBeginsAtTheEndOfTheAttempt: a slow handler isn't tried again earlier for it; after the last attempt
// there's no delay, neither for the dead letter nor for the next message.
func TestG20_TheDelayBeginsAtTheEndOfTheAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, herald.WithRetry(policy.Schedule{time.Second, 2 * time.Second}))
		r.publish("slow")
		r.publish("next")
		r.sub.Close()
		err := r.sub.Run(t.Context(), r.handle(func(m herald.Message[string]) error {
			if m.Payload == "next" {
				return nil
			}
			time.Sleep(time.Minute)
			return errBoom
		}))
		wantErr(t, "Run", err, nil)
		r.wantTrace("slow#1@0s slow#2@1m1s slow#3@2m3s next#1@3m3s")
		wantEqual(t, 3*time.Minute+3*time.Second, r.letters[0].At.Sub(r.begun))
	})
}

// TestG20_RetryAfterHasTheLastWord: it's tried again when the handler says so, beyond the policy's attempts too, and the
// number goes on.
func TestG20_RetryAfterHasTheLastWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, herald.WithRetry(policy.Never()))
		r.publish("a")
		consumers["Run"](r, 4, r.handle(func(m herald.Message[string]) error {
			switch m.Attempt {
			case 1:
				return policy.RetryAfter(time.Hour, errBoom)
			case 2:
				return fmt.Errorf("wrapped: %w", policy.RetryAfter(-1, nil))
			case 3:
				return policy.RetryAfter(time.Second, nil)
			}
			return nil
		}))
		r.wantTrace("a#1@0s a#2@1h0m0s a#3@1h0m0s a#4@1h0m1s")
	})
}

// A ruled is a policy of the user's own.
type ruled func(failed int) (time.Duration, bool)

func (f ruled) Next(failed int, _ error) (time.Duration, bool) { return f(failed) }

// TestG21_PoliciesOfOnesOwnAreTotalToo: a negative delay is none, the longest possible one doesn't overflow and keeps
// nothing from ending, and a policy that panics costs its message alone.
func TestG21_PoliciesOfOnesOwnAreTotalToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, herald.WithRetryAside(), herald.WithRetry(ruled(func(failed int) (time.Duration, bool) {
			switch failed {
			case 1:
				return math.MinInt64, true
			case 2:
				panic("no idea")
			}
			return 0, false
		})))
		forever := newRigOn(t, newBus[string](t), herald.WithRetryAside(),
			herald.WithRetry(ruled(func(int) (time.Duration, bool) { return math.MaxInt64, true })))
		for _, r := range []*rig{r, forever} {
			r.publish("bad")
			r.publish("good")
			ctx, cancel := context.WithTimeout(t.Context(), 100*365*24*time.Hour)
			defer cancel()
			wantErr(t, "Run", r.sub.Run(ctx, r.handle(fails("bad", 9))), context.DeadlineExceeded)
		}
		r.wantTrace("bad#1@0s bad#2@0s good#1@0s")
		if d := r.letters[0]; d.Reason != herald.PolicyFailed || !errors.Is(d.Err, errBoom) || !panics("no idea")(d.Err) {
			t.Errorf("dead letter: %v, %v", d.Reason, d.Err)
		}
		wantEqual(t, []string{"bad", "good"}, forever.seen)
		wantEqual(t, uint64(1), forever.sub.Stats().Delayed)
	})
}

// TestG21_BadPoliciesAreErrorsAtSubscribe: what can't be right is found before there's any message.
func TestG21_BadPoliciesAreErrorsAtSubscribe(t *testing.T) {
	for _, bad := range []policy.Retry{
		nil, ruled(nil), (*policy.Exponential)(nil), policy.Schedule{-1},
		policy.Exponential{Attempts: -1}, policy.Exponential{Base: -1}, policy.Exponential{Max: -1},
		policy.Exponential{Base: 2, Max: 1}, policy.Exponential{Multiplier: 0.5}, policy.Exponential{Multiplier: math.Inf(1)},
		policy.Exponential{Multiplier: math.NaN()}, policy.Exponential{Jitter: -0.1}, policy.Exponential{Jitter: 1.5},
		policy.Exponential{Jitter: math.NaN()},
	} {
		sub, err := newBus[int](t).Subscribe("s", herald.WithRetry(bad))
		if sub != nil || !errors.Is(err, herald.ErrOption) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// TestG22_InPlaceOrAside: by default a failing message is waited for where there's one worker, and where it has no key
// by the worker that has it; else, and WithRetryAside, others go on and only its key waits. "bad" and, where it has
// one, "next" of the same key come first, then "other"; "critical" comes while bad waits.
func TestG22_InPlaceOrAside(t *testing.T) {
	aside, two := herald.WithRetryAside(), herald.WithConcurrency(2)
	keyed := []herald.PublishOption{herald.WithKey("k")}
	for name, tt := range map[string]struct {
		opts   []herald.SubOption
		key    []herald.PublishOption
		failed int    // attempts that fail at first, one a message
		flight uint64 // of those so many are in flight while they wait, the others delayed
		want   string
	}{
		"in place":             {nil, nil, 1, 1, "bad#1@0s bad#2@1s critical#1@1s next#1@1s other#1@1s"},
		"in place, keyed":      {nil, keyed, 1, 1, "bad#1@0s bad#2@1s critical#1@1s next#1@1s other#1@1s"},
		"aside":                {opts(aside), nil, 1, 0, "bad#1@0s next#1@0s other#1@0s critical#1@500ms bad#2@1s"},
		"aside, keyed":         {opts(aside), keyed, 1, 0, "bad#1@0s other#1@0s critical#1@500ms bad#2@1s next#1@1s"},
		"above one, keyed":     {opts(two), keyed, 1, 0, "bad#1@0s other#1@0s critical#1@500ms bad#2@1s next#1@1s"},
		"above one":            {opts(two), nil, 1, 1, "bad#1@0s next#1@0s other#1@0s critical#1@500ms bad#2@1s"},
		"above one, both wait": {opts(two), nil, 2, 2, "bad#1@0s next#1@0s bad#2@1s next#2@1s critical#1@1s other#1@1s"},
		"above one, aside":     {opts(two, aside), nil, 2, 0, "bad#1@0s next#1@0s other#1@0s critical#1@500ms bad#2@1s next#2@1s"},
	} {
		for _, run := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/Run=%v", name, run), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newRig(t, append(tt.opts, herald.WithRetry(policy.Schedule{time.Second}))...)
					r.publish("bad", tt.key...)
					r.publish("next", tt.key...)
					r.publish("other")
					h := r.handle(func(m herald.Message[string]) error {
						if m.Attempt == 1 && (m.Payload == "bad" || m.Payload == "next" && tt.failed == 2) {
							return errBoom
						}
						return nil
					})
					if run {
						r.start(func() { _ = r.sub.Run(t.Context(), h) })
					}
					for now := range 4 {
						if now == 1 {
							s := r.sub.Stats()
							wantEqual(t, []uint64{tt.flight, uint64(tt.failed) - tt.flight}, []uint64{s.InFlight, s.Delayed})
							r.publish("critical", herald.WithPriority(herald.Critical))
						}
						if !run {
							r.steps(h)
						}
						time.Sleep(500 * time.Millisecond)
					}
					if want := tt.want; run && strings.HasPrefix(name, "above") { // at one time, in any order
						r.wantTraced(strings.Fields(want), slices.Sort[[]string])
					} else {
						r.wantTraced(strings.Fields(want), nil)
					}
				})
			})
		}
	}
}

func opts(o ...herald.SubOption) []herald.SubOption { return o }

// TestG22_WhatWaitsAsideHoldsCapacity: and is in flight no more; in place it's the other way round.
func TestG22_WhatWaitsAsideHoldsCapacity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			opts []herald.SubOption
			want error
		}{{opts(herald.WithRetryAside()), herald.ErrFull}, {nil, nil}} {
			r := newRig(t, append(tt.opts, herald.WithCapacity(1), herald.WithOverflow(policy.Reject()))...)
			r.publish("bad")
			r.steps(r.handle(fails("bad", 1)))
			wantErr(t, "Publish", r.topic.Publish(t.Context(), "more"), tt.want)
			time.Sleep(time.Second)
			r.steps(r.handle(nil))
		}
	})
}

// TestG22_AnEndedRunLeavesTheMessageInItsPlace: what waited for a retry when Run ended still waits until it's due, in
// its place, whoever consumes then; and nobody has to wait for Run to end.
func TestG22_AnEndedRunLeavesTheMessageInItsPlace(t *testing.T) {
	for name, consume := range consumers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, herald.WithRetry(policy.Schedule{2 * time.Second}))
				r.publish("bad")
				r.publish("next", herald.WithPriority(herald.Low))
				h := r.handle(fails("bad", 1))
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				wantErr(t, "Run", r.sub.Run(ctx, h), context.DeadlineExceeded)
				wantEqual(t, time.Second, time.Since(r.begun))
				wantEqual(t, uint64(0), r.sub.Stats().InFlight)
				consume(r, 2, h)
				r.wantTrace("bad#1@0s bad#2@2s next#1@2s")
			})
		})
	}
}
