package herald_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// wantExpired fails unless exactly these died of age, each at the end of its time.
func (r *rig) wantExpired(want ...string) {
	r.t.Helper()
	wantEqual(r.t, uint64(len(want)), r.sub.Stats().DeadBy.Expired)
	var got []string
	for _, d := range r.letters {
		got = append(got, d.Payload)
		if d.Reason != herald.Expired || d.At.IsZero() || !d.At.Equal(d.Expires()) {
			r.t.Errorf("%s: %v at %v, expired at %v", d.Payload, d.Reason, d.At, d.Expires())
		}
	}
	wantEqual(r.t, want, got)
}

// TestG23_NothingStartsAtExpiry: a message is handled one instant before its time is up, and not at it, however it's
// consumed.
func TestG23_NothingStartsAtExpiry(t *testing.T) {
	for name, consume := range consumers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				r.publish("late", herald.WithTTL(time.Second-1))
				r.publish("too late", herald.WithTTL(time.Second))
				r.publish("in time", herald.WithTTL(time.Second+1))
				time.Sleep(time.Second - 1)
				r.publish("last", herald.WithTTL(1), herald.WithPriority(herald.Critical))
				consume(r, 1, r.handle(func(herald.Message[string]) error { time.Sleep(time.Nanosecond); return nil }))
				consume(r, 1, r.handle(nil))
				r.wantTraced([]string{"last#1@999.999999ms", "in time#1@1s"}, nil)
				r.wantExpired("late", "too late")
			})
		})
	}
}

// TestG23_NothingIsRetriedAtExpiry: a retry that is due when the time is up isn't made; the letter says what the last
// attempt died of.
func TestG23_NothingIsRetriedAtExpiry(t *testing.T) {
	for name, o := range map[string][]herald.SubOption{
		"in place": nil,
		"aside":    {herald.WithRetryAside()},
		"workers":  {herald.WithConcurrency(3)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, append(o, herald.WithRetry(policy.Schedule{time.Second, time.Second, time.Second}))...)
				r.publish("a", herald.WithTTL(2*time.Second))
				r.publish("next", herald.WithTTL(time.Hour), herald.WithDelay(2*time.Second))
				r.sub.Close()
				wantErr(t, "Run", r.sub.Run(t.Context(), r.handle(fails("a", 9))), nil)
				r.wantTrace("a#1@0s a#2@1s next#1@2s")
				r.wantExpired("a")
				wantEqual(t, int32(2), r.letters[0].Attempt)
				wantErr(t, "the letter's error", r.letters[0].Err, errBoom)
			})
		})
	}
}

// TestG23_AnExpiredLetterHasNoErrorButItsOwn: one that was never tried has none, whatever died there before.
func TestG23_AnExpiredLetterHasNoErrorButItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, herald.WithRetry(policy.Never()))
		for range 10 {
			r.publish("bad", herald.WithTTL(time.Hour))
		}
		r.steps(r.handle(fails("bad", 1)))
		r.letters = nil
		r.publish("old", herald.WithTTL(time.Second))
		time.Sleep(time.Second)
		_ = r.sub.Stats()
		if d := r.letters[0]; d.Err != nil || d.Attempt != 0 {
			t.Errorf("%v after %d attempts: %v", d.Reason, d.Attempt, d.Err)
		}
	})
}

// TestG23_WhatNoticesExpiry: a pick, an offer that finds the queue full, Stats, and an idle Run by itself at the very
// moment, also for a message behind others; nothing else has to happen.
func TestG23_WhatNoticesExpiry(t *testing.T) {
	full := []herald.SubOption{herald.WithCapacity(2), herald.WithOverflow(policy.Reject())}
	for name, tt := range map[string]struct {
		opts   []herald.SubOption
		notice func(*rig)
	}{
		"pick": {nil, func(r *rig) { time.Sleep(time.Second); r.steps(r.handle(nil)); r.wantSeen("old") }},
		"full queue": {full, func(r *rig) {
			time.Sleep(time.Second - 1)
			wantErr(r.t, "Publish", r.topic.Publish(r.t.Context(), "early"), herald.ErrFull)
			time.Sleep(time.Nanosecond)
			r.publish("new")
		}},
		"Stats": {nil, func(r *rig) { time.Sleep(time.Second); wantEqual(r.t, uint64(1), r.sub.Stats().Queued) }},
		"a Run, paused": {nil, func(r *rig) {
			r.sub.Pause()
			r.start(func() { _ = r.sub.Run(r.t.Context(), r.handle(nil)) })
			time.Sleep(time.Second)
			synctest.Wait()
		}},
		"a Run whose worker waits": {nil, func(r *rig) {
			r.start(func() { _ = r.sub.Run(r.t.Context(), r.handle(fails("old", 1))) })
			time.Sleep(time.Second)
			synctest.Wait()
			r.wantTrace("old#1@0s")
		}},
		"another worker": {[]herald.SubOption{herald.WithConcurrency(2)}, func(r *rig) {
			r.start(func() {
				_ = r.sub.Run(r.t.Context(), r.handle(func(herald.Message[string]) error { time.Sleep(time.Hour); return nil }))
			})
			time.Sleep(time.Second)
			synctest.Wait()
			r.wantTrace("old#1@0s")
		}},
		"a Receive that waits": {nil, func(r *rig) {
			d, _ := r.sub.Receive(r.t.Context())
			r.start(func() { _, _ = r.sub.Receive(r.t.Context()) })
			time.Sleep(time.Second)
			synctest.Wait()
			wantErr(r.t, "Ack", d.Ack(), nil)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, append(tt.opts, herald.WithRetry(policy.Schedule{time.Hour}))...)
				r.publish("old", herald.WithKey("k"))
				r.publish("m", herald.WithTTL(time.Second), herald.WithKey("k"))
				tt.notice(r)
				wantEqual(t, 1, len(r.letters)) // before Stats, which would notice too
				r.wantExpired("m")
				wantEqual(t, time.Second, r.letters[0].At.Sub(r.begun))
			})
		})
	}
}

// TestG23_WhoSaysWhen: the message's TTL, else the topic's, and the subscription's maximum age where that is earlier;
// a TTL of 0 means never. It's so without time, too.
func TestG23_WhoSaysWhen(t *testing.T) {
	const never = -1
	ttl := func(d time.Duration) []herald.PublishOption { return []herald.PublishOption{herald.WithTTL(d)} }
	for _, timed := range []bool{true, false} {
		for name, tt := range map[string]struct {
			topic, age time.Duration // 0: not set
			message    []herald.PublishOption
			want       time.Duration
		}{
			"nobody":                 {0, 0, nil, never},
			"topic":                  {2, 0, nil, 2},
			"message":                {0, 0, ttl(3), 3},
			"message over topic":     {2, 0, ttl(3), 3},
			"never over topic":       {2, 0, ttl(0), never},
			"the last option counts": {2, 0, append(ttl(3), ttl(4)...), 4},
			"age":                    {0, 5, nil, 5},
			"age over topic":         {6, 5, nil, 5},
			"topic before age":       {4, 5, nil, 4},
			"message before age":     {6, 5, ttl(4), 4},
			"age over message":       {2, 5, ttl(6), 5},
			"age over never":         {2, 5, ttl(0), 5},
			"with a delay":           {2, 0, []herald.PublishOption{herald.WithDelay(time.Hour)}, 2},
		} {
			t.Run(fmt.Sprintf("%s/timed=%v", name, timed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var on []herald.TopicOption
					if !timed {
						on = append(on, herald.WithoutTime())
					}
					if tt.topic != 0 {
						on = append(on, herald.WithDefaultTTL(tt.topic))
					}
					var o []herald.SubOption
					if tt.age != 0 {
						o = append(o, herald.WithMaxAge(tt.age))
					}
					topic := newBus[string](t, on...)
					time.Sleep(time.Hour) // its age doesn't matter
					r := newRigOn(t, topic, o...)
					r.publish("m", tt.message...)
					if tt.want == never {
						time.Sleep(1000 * time.Hour)
						r.steps(r.handle(func(m herald.Message[string]) error {
							wantEqual(t, true, m.Expires().IsZero())
							wantEqual(t, timed, !m.Time().IsZero())
							return nil
						}))
						r.wantSeen("m")
						return
					}
					time.Sleep(tt.want - 1)
					wantEqual(t, uint64(0), r.sub.Stats().Dead)
					time.Sleep(time.Nanosecond)
					r.wantExpired("m")
					wantEqual(t, tt.want, r.letters[0].At.Sub(r.begun))
				})
			})
		}
	}
}

// TestG24_NotBeforeItsTimeThenInLine: delayed messages arrive exactly when due, those due together in the order of
// acceptance; in line they stand behind what was there before.
func TestG24_NotBeforeItsTimeThenInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, herald.WithCapacity(8), herald.WithOverflow(policy.Reject()))
		r.start(func() {
			_ = r.sub.Run(t.Context(), r.handle(func(m herald.Message[string]) error {
				if m.Payload == "slow" {
					time.Sleep(time.Minute)
				}
				return nil
			}))
		})
		r.publish("at-3", herald.WithDelay(3*time.Second))
		r.publish("at-2", herald.WithDelay(2*time.Second))
		r.publish("now", herald.WithDelay(0))
		time.Sleep(time.Second)
		r.publish("at-2-too", herald.WithDelay(time.Second))
		r.publish("at-2-urgent", herald.WithDelay(time.Second), herald.WithPriority(herald.High))
		time.Sleep(9 * time.Second)
		r.publish("slow")
		r.publish("at-40", herald.WithDelay(30*time.Second))
		time.Sleep(20 * time.Second)
		r.publish("before")
		time.Sleep(20 * time.Second)
		r.publish("after")
		time.Sleep(time.Hour)
		r.wantTrace("now#1@0s at-2-urgent#1@2s at-2#1@2s at-2-too#1@2s at-3#1@3s slow#1@10s " +
			"before#1@1m10s at-40#1@1m10s after#1@1m10s")
	})
}

// TestG24_TenThousandDelayed: each comes at its time, and those of one time as they were published.
func TestG24_TenThousandDelayed(t *testing.T) {
	const n = 10_000
	for _, concurrency := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			topic := newBus[int](t)
			sub := subscribe(t, topic, "s", herald.WithCapacity(n), herald.WithConcurrency(concurrency))
			random := rand.New(rand.NewPCG(1, 2))
			due := make([]time.Duration, n)
			want := make([]int, n)
			for i := range n {
				due[i], want[i] = time.Duration(random.IntN(n/2))*time.Second, i
				if err := topic.Publish(t.Context(), i, herald.WithDelay(due[i])); err != nil {
					t.Fatal(err)
				}
			}
			slices.SortStableFunc(want, func(a, b int) int { return int(due[a] - due[b]) })
			begun := time.Now()
			topic.Close()
			var got tape[int]
			err := sub.Run(t.Context(), func(_ context.Context, m herald.Message[int]) error {
				if now := time.Since(begun); now != due[m.Payload] {
					t.Errorf("message %d at %v, due at %v", m.Payload, now, due[m.Payload])
				}
				got.add(m.Payload)
				return nil
			})
			wantErr(t, "Run", err, nil)
			if concurrency == 1 {
				wantEqual(t, want, got.list())
			}
			wantEqual(t, n, len(got.list()))
		})
	}
}
