package herald_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// An ending is what a handler does, and what becomes of its message then, where there are two attempts.
type ending struct {
	act      func() error
	attempts int32
	reason   herald.Reason
	is       func(error) bool // of the dead letter's error; nil: delivered
}

func endsAs(want error) func(error) bool {
	return func(err error) bool { return errors.Is(err, want) }
}

func panics(want any) func(error) bool {
	return func(err error) bool {
		p, ok := errors.AsType[*herald.PanicError](err)
		return ok && p.Value == want && bytes.Contains(p.Stack, []byte("herald_test.")) && len(p.Stack) <= 4<<10
	}
}

// endings are all the ways in which a handler can end.
var endings = map[string]ending{
	"nil":       {func() error { return nil }, 1, 0, nil},
	"error":     {func() error { return errBoom }, 2, herald.RetriesExhausted, endsAs(errBoom)},
	"permanent": {func() error { return policy.Permanent(errBoom) }, 1, herald.Permanent, endsAs(errBoom)},
	"permanent, wrapped": {
		func() error { return fmt.Errorf("a: %w", policy.Permanent(errBoom)) }, 1, herald.Permanent, endsAs(errBoom),
	},
	"permanent, joined": {
		func() error { return errors.Join(errBoom, policy.Permanent(nil), policy.Stop(nil)) },
		1, herald.Permanent, endsAs(errBoom),
	},
	"panic":       {func() error { panic("value") }, 2, herald.RetriesExhausted, panics("value")},
	"panic error": {func() error { panic(errBoom) }, 2, herald.RetriesExhausted, endsAs(errBoom)},
	"panic permanent": { // a verdict counts however it's delivered
		func() error { panic(policy.Permanent(errBoom)) }, 1, herald.Permanent, endsAs(errBoom),
	},
	"panic nil": {func() error { panic(nil) }, 2, herald.RetriesExhausted, func(err error) bool {
		_, ok := errors.AsType[*runtime.PanicNilError](err)
		return ok
	}},
	"goexit": {
		func() error { runtime.Goexit(); return nil }, 2, herald.RetriesExhausted, endsAs(herald.ErrHandlerExited),
	},
	"failnow": {
		func() error { new(testing.T).FailNow(); return nil },
		2, herald.RetriesExhausted, endsAs(herald.ErrHandlerExited),
	},
	"goexit in a panic's defer": {
		func() error { defer runtime.Goexit(); panic("gone") }, 2, herald.RetriesExhausted, endsAs(herald.ErrHandlerExited),
	},
	"panic in a goexit's defer": {
		func() error { defer func() { panic("last") }(); runtime.Goexit(); return nil },
		2, herald.RetriesExhausted, panics("last"),
	},
}

// drivers consume a closed subscription until it's quiet, however often their caller's goroutine is ended by a
// handler.
var drivers = map[string]struct {
	concurrency int
	drive       func(*rig, herald.Handler[string])
}{
	"Run":   {1, func(r *rig, h herald.Handler[string]) { <-r.start(func() { _ = r.sub.Run(r.t.Context(), h) }) }},
	"Run 3": {3, func(r *rig, h herald.Handler[string]) { <-r.start(func() { _ = r.sub.Run(r.t.Context(), h) }) }},
	"Step": {1, func(r *rig, h herald.Handler[string]) {
		for range 100 { // more than there are attempts
			<-r.start(func() { r.steps(h) })
		}
	}},
	"Messages": {1, func(r *rig, h herald.Handler[string]) {
		for range 100 {
			<-r.start(func() {
				defer func() { _ = recover() }()
				for d := range r.sub.Messages(r.t.Context()) {
					pulled(r, d, h)
				}
			})
		}
	}},
}

// TestG16_Outcomes: each way to end an attempt has its outcome in each way to consume, and delivery goes on.
func TestG16_Outcomes(t *testing.T) {
	for how, driver := range drivers {
		for name, e := range endings {
			t.Run(how+"/"+name, func(t *testing.T) {
				r := newRig(t, herald.WithConcurrency(driver.concurrency), herald.WithRetry(policy.Schedule{0}))
				r.publish("before")
				r.publish("it")
				r.publish("after")
				r.sub.Close()
				driver.drive(r, r.handle(func(m herald.Message[string]) error {
					if m.Payload != "it" {
						return nil
					}
					return e.act()
				}))
				s := r.sub.Stats()
				if e.is == nil {
					wantEqual(t, uint64(3), s.Delivered)
					return
				}
				if s.Delivered != 2 || len(r.letters) != 1 {
					t.Fatalf("%d delivered, %d dead; trace %v", s.Delivered, len(r.letters), r.trace)
				}
				d := r.letters[0]
				if d.Payload != "it" || d.Attempt != e.attempts || d.Reason != e.reason || !e.is(d.Err) {
					t.Errorf("dead letter: %q after %d attempts, %v, %v", d.Payload, d.Attempt, d.Reason, d.Err)
				}
			})
		}
	}
}

// TestG16_GoexitEndsTheCallerOfRun: not at once, but when Run would have returned, and then for good.
func TestG16_GoexitEndsTheCallerOfRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, herald.WithRetry(policy.Never()))
		returned := false
		ended := r.start(func() {
			_ = r.sub.Run(t.Context(), r.handle(func(herald.Message[string]) error { runtime.Goexit(); return nil }))
			returned = true
		})
		for _, v := range []string{"a", "b", "c"} {
			r.publish(v)
			synctest.Wait()
			select {
			case <-ended:
				t.Fatal("the caller ended early, at", v)
			default:
			}
			if err := r.sub.Run(t.Context(), r.handle(nil)); !errors.Is(err, herald.ErrBusy) {
				t.Errorf("another Run: %v", err)
			}
		}
		r.sub.Close()
		<-ended
		r.wantSeen("a b c")
		if returned {
			t.Error("the goroutine went on after a Goexit")
		}
	})
}

// TestG16_GoexitsDoNotPileUp: goroutines that handlers ended are replaced, not collected.
func TestG16_GoexitsDoNotPileUp(t *testing.T) {
	const n, slack = 10_000, 100
	for _, concurrency := range []int{1, 3} {
		r := newRig(t, herald.WithRetry(policy.Never()), herald.WithConcurrency(concurrency), herald.WithCapacity(n))
		for range n {
			r.publish("m")
		}
		r.sub.Close()
		before := runtime.NumGoroutine()
		<-r.start(func() {
			_ = r.sub.Run(t.Context(), func(context.Context, herald.Message[string]) error {
				if now := runtime.NumGoroutine(); now > before+slack {
					t.Errorf("%d goroutines, %d before", now, before)
				}
				runtime.Goexit()
				return nil
			})
		})
		wantEqual(t, uint64(n), r.sub.Stats().DeadBy.RetriesExhausted)
	}
}

// TestG16_StopKeepsPlaceAndAttempt: the message is the next one again, as if it had not been touched; other handlers
// finish; who consumed gets the error.
func TestG16_StopKeepsPlaceAndAttempt(t *testing.T) {
	for _, n := range []int{1, 3} {
		for name, verdict := range map[string]error{
			"plain":   policy.Stop(errBoom),
			"wrapped": fmt.Errorf("why: %w", policy.Stop(errBoom)),
			"nil":     policy.Stop(nil),
		} {
			t.Run(fmt.Sprint(name, "/", n), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					want := errBoom
					if name == "nil" {
						want = nil
					}
					r := newRig(t, herald.WithConcurrency(n))
					r.publish("a")
					stop := r.handle(func(herald.Message[string]) error { return verdict })
					if ok, err := r.sub.Step(t.Context(), stop); !ok || err != want {
						t.Errorf("Step says %v, %v", ok, err)
					}
					r.publish("slow", herald.WithPriority(herald.High))
					script := func(m herald.Message[string]) error {
						if m.Payload == "slow" && n > 1 {
							time.Sleep(time.Hour)
							return nil
						}
						time.Sleep(time.Minute)
						return verdict
					}
					if err := r.sub.Run(t.Context(), r.handle(script)); err != want {
						t.Errorf("Run returned %v, want %v", err, want)
					}
					if n > 1 && time.Since(r.begun) != time.Hour {
						t.Error("Run returned while a handler was under way, or waited for more")
					}
					r.publish("b")
					r.seen, r.trace = nil, nil
					r.steps(r.handle(func(m herald.Message[string]) error {
						wantEqual(t, int32(1), m.Attempt)
						return nil
					}))
					if n > 1 {
						r.wantSeen("a b") // slow was delivered
					} else {
						r.wantSeen("slow a b")
					}
				})
			})
		}
	}
}
