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

type ctxKey string

// TestG17_ValuesAreRunsThenThePublishers: a handler's ctx asks Run's ctx first and, where the topic has
// WithPublisherValues, the publisher's after that: at each attempt, in a batch, and when the message is replayed.
func TestG17_ValuesAreRunsThenThePublishers(t *testing.T) {
	for name, opts := range map[string][]herald.TopicOption{
		"publisher's values": {herald.WithPublisherValues()},
		"run's only":         nil,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRigOn(t, newBus[string](t, opts...), herald.WithRetry(policy.Schedule{0}))
			publisher := context.WithValue(context.WithValue(t.Context(), ctxKey("both"), "publisher"), ctxKey("publisher"), "p")
			consumer := context.WithValue(context.WithValue(t.Context(), ctxKey("both"), "run"), ctxKey("run"), "r")
			if _, err := r.topic.PublishBatch(publisher, []string{"a", "b"}); err != nil {
				t.Fatal(err)
			}
			want := []any{"run", "r", "p", nil}
			if opts == nil {
				want[2] = nil
			}
			calls := 0
			h := func(ctx context.Context, m herald.Message[string]) error {
				calls++
				var got []any
				for _, key := range []ctxKey{"both", "run", "publisher", "nobody"} {
					got = append(got, ctx.Value(key))
				}
				wantEqual(t, want, got)
				if m.Payload == "a" && m.Replays() == 0 {
					return errBoom
				}
				return nil
			}
			steps := func() {
				for ok := true; ok; {
					ok, _ = r.sub.Step(consumer, h)
				}
			}
			steps() // a twice, then b
			wantErr(t, "Replay", r.letters[0].Replay(t.Context()), nil)
			steps()
			wantEqual(t, 4, calls)
		})
	}
}

// TestG17_NothingElseIsThePublishers: its end, deadline and cause never reach a handler; Run's do, and so they do the
// contexts that the handler makes.
func TestG17_NothingElseIsThePublishers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRigOn(t, newBus[string](t, herald.WithPublisherValues()))
		publisher, endPublisher := context.WithCancelCause(t.Context())
		publisher, stop := context.WithTimeout(publisher, time.Hour)
		defer stop()
		wantErr(t, "Publish", r.topic.Publish(publisher, "a"), nil)
		endPublisher(errors.New("the publisher's cause"))

		run, endRun := context.WithCancelCause(t.Context())
		ended := r.start(func() {
			_ = r.sub.Run(run, func(ctx context.Context, _ herald.Message[string]) error {
				child, cancel := context.WithCancel(ctx)
				defer cancel()
				unwanted := context.AfterFunc(ctx, func() {})
				synctest.Wait()
				_, limited := ctx.Deadline()
				if limited || ctx.Err() != nil || child.Err() != nil || context.Cause(ctx) != nil || !unwanted() {
					t.Errorf("the publisher's end reaches the handler: %v, %v, %v", ctx.Err(), child.Err(), context.Cause(ctx))
				}
				endRun(errBoom)
				<-child.Done()
				if context.Cause(ctx) != errBoom || context.Cause(child) != errBoom || ctx.Err() != context.Canceled {
					t.Errorf("Run's end: %v, its cause %v, the child's %v", ctx.Err(), context.Cause(ctx), context.Cause(child))
				}
				return nil
			})
		})
		<-ended
		wantEqual(t, uint64(1), r.sub.Stats().Delivered)
	})
}

// TestG17_WithoutRunsCauseThereIsNone: where Run's context can't end, the handler's has no cause, not the publisher's.
func TestG17_WithoutRunsCauseThereIsNone(t *testing.T) {
	r := newRigOn(t, newBus[string](t, herald.WithPublisherValues()))
	publisher, end := context.WithCancelCause(t.Context())
	wantErr(t, "Publish", r.topic.Publish(publisher, "a"), nil)
	end(errBoom)
	ok, err := r.sub.Step(context.Background(), func(ctx context.Context, _ herald.Message[string]) error {
		if ctx.Done() != nil || ctx.Err() != nil || context.Cause(ctx) != nil {
			t.Errorf("done %v, err %v, cause %v", ctx.Done(), ctx.Err(), context.Cause(ctx))
		}
		return nil
	})
	if !ok || err != nil {
		t.Errorf("Step says %v, %v", ok, err)
	}
}

// An ownContext is a context of the user's own, which has no cause but its error.
type ownContext struct {
	context.Context
	done chan struct{}
}

func (c ownContext) Done() <-chan struct{} { return c.done }

func (c ownContext) Err() error {
	select {
	case <-c.done:
		return errBoom
	default:
		return nil
	}
}

// TestG17_AContextOfOnesOwnKeepsItsCause: where Run's context is none of the standard library's, its end is its error,
// not the publisher's cause.
func TestG17_AContextOfOnesOwnKeepsItsCause(t *testing.T) {
	r := newRigOn(t, newBus[string](t, herald.WithPublisherValues()))
	publisher, end := context.WithCancelCause(t.Context())
	wantErr(t, "Publish", r.topic.Publish(publisher, "a"), nil)
	end(errors.New("the publisher's cause"))
	run := ownContext{context.Background(), make(chan struct{})}
	ok, err := r.sub.Step(run, func(ctx context.Context, _ herald.Message[string]) error {
		close(run.done)
		if context.Cause(ctx) != errBoom {
			t.Errorf("the cause is %v, want %v", context.Cause(ctx), errBoom)
		}
		return nil
	})
	if !ok || err != nil {
		t.Errorf("Step says %v, %v", ok, err)
	}
}

// TestG17_CostsNothingPerMessage: from Publish to the end of the handler nothing is allocated, however wide the fan-out.
func TestG17_CostsNothingPerMessage(t *testing.T) {
	topic := newBus[int](t)
	handled := make(chan struct{}, 2)
	for _, name := range []string{"a", "b"} {
		sub := subscribe(t, topic, name)
		done := running(t.Context(), sub, func(context.Context, herald.Message[int]) error {
			handled <- struct{}{}
			return nil
		})
		t.Cleanup(func() { <-done }) // after the topic has been closed
	}
	n := testing.AllocsPerRun(500, func() {
		_ = topic.Publish(context.Background(), 1)
		<-handled
		<-handled
	})
	if n != 0 {
		t.Errorf("%v allocations a message", n)
	}
	topic.Close()
}
