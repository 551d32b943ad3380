package dlq

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/middleware"
	"github.com/heraldbus/herald/policy"
)

// JasperFx/wolverine PR#2265, knative-extensions/eventing-rabbitmq#833,
// wework/grabbit#41: no cause or headers on the dead letter.
func TestB58_LetterSaysAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		topic, err := herald.NewTopic[string]("orders")
		if err != nil {
			t.Fatal(err)
		}
		q := New[string](10)
		sub, err := topic.DeadLetterTo(q.Put).Subscribe("fraud")
		if err != nil {
			t.Fatal(err)
		}
		published := time.Now()
		topic.Publish(t.Context(), "x", herald.WithID("42"), herald.WithKey("k"),
			herald.WithPriority(herald.High), herald.WithHeader("a", "1"))
		errs := []error{errors.New("E1"), errors.New("E2"), errors.New("E3")}
		topic.Close()
		sub.Run(t.Context(), func(_ context.Context, m herald.Message[string]) error { return errs[m.Attempt-1] })
		if q.Len() != 1 {
			t.Fatalf("%d letters", q.Len())
		}
		for d := range q.All() {
			got := []any{d.Topic(), d.Subscription, d.Payload, d.ID(), d.Key, d.Priority, d.Headers().Get("a"),
				d.Reason, d.Attempt, d.Replays(), d.Time().Equal(published), d.At.Equal(time.Now())}
			want := []any{"orders", "fraud", "x", "42", "k", herald.High, "1",
				herald.RetriesExhausted, int32(3), 0, true, true}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if !errors.Is(d.Err, errs[2]) || errors.Is(d.Err, errs[1]) {
				t.Errorf("Err = %v", d.Err)
			}
		}
	})
}

// A sibling of B58: letters that never had an attempt, or a verdict.
func TestB58_Reasons(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture[int](t, 10, herald.WithCapacity(1))
		f.topic.Publish(t.Context(), 1)
		f.topic.Publish(t.Context(), 2) // finds it full
		f.step(t, func(context.Context, herald.Message[int]) error { return policy.Permanent(errNo) })
		f.topic.Publish(t.Context(), 3, herald.WithTTL(time.Second))
		time.Sleep(time.Minute)
		f.step(t, succeed)
		f.topic.Publish(t.Context(), 4)
		f.step(t, func(context.Context, herald.Message[int]) error { panic(errNo) })
		type row struct {
			Payload int
			Reason  herald.Reason
			Attempt int32
			Caused  bool // by errNo
		}
		var got []row
		for d := range f.All() {
			got = append(got, row{d.Payload, d.Reason, d.Attempt, errors.Is(d.Err, errNo)})
		}
		want := []row{
			{2, herald.Overflow, 0, false},
			{1, herald.Permanent, 1, true},
			{3, herald.Expired, 0, false},
			{4, herald.RetriesExhausted, 1, true},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

// proteanhq/protean#1263, dapr/dapr#8284, runmq/queue#19: the store fails and the
// message is gone without a trace. The queue never fails; what stands before it may.
func TestB60_FailedPutIsNotSilent(t *testing.T) {
	var log bytes.Buffer
	topic, err := herald.NewTopic[int]("orders", herald.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	if err != nil {
		t.Fatal(err)
	}
	q := New[int](10)
	sub, err := topic.DeadLetterTo(func(d letter) error {
		switch d.Payload {
		case 1:
			return errors.New("disk full")
		case 2:
			panic("disk gone")
		}
		return q.Put(d)
	}).Subscribe("fraud", herald.WithRetry(policy.Never()))
	if err != nil {
		t.Fatal(err)
	}
	for v := 1; v <= 3; v++ {
		topic.Publish(t.Context(), v)
		sub.Step(t.Context(), fail)
	}
	if s := sub.Stats(); s.Dead != 3 || s.PutFailed != 2 {
		t.Errorf("statistics: %+v", s)
	}
	if diff := cmp.Diff([]int{3}, payloads(q)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, want := range []string{"disk full", "disk gone"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("log doesn't say %q:\n%s", want, &log)
		}
	}
}

// A sibling of B60: where the queue is full the oldest is lost, and counted.
func TestB60_EvictionIsNotSilent(t *testing.T) {
	f := newFixture[int](t, 1)
	f.die(t, 1, 2)
	if f.Len() != 1 || f.Evicted() != 1 || f.sub.Stats().PutFailed != 0 {
		t.Errorf("has %d, evicted %d, statistics %+v", f.Len(), f.Evicted(), f.sub.Stats())
	}
}

// kalaspuff/tomodachi PR#2074: the replay is swallowed as a duplicate.
func TestB62_ReplayIsNoDuplicate(t *testing.T) {
	f := newFixture[int](t, 10, herald.WithMiddleware(middleware.Dedupe(10)))
	f.topic.Publish(t.Context(), 7, herald.WithID("1"))
	calls := 0
	for _, result := range []error{errNo, errNo, nil} {
		f.step(t, func(context.Context, herald.Message[int]) error {
			calls++
			return result
		})
		f.Replay(t.Context(), nil)
	}
	if calls != 3 || f.Len() != 0 || f.sub.Stats().Delivered != 1 {
		t.Errorf("%d calls, %d left, %d delivered", calls, f.Len(), f.sub.Stats().Delivered)
	}
}

// hibiken/asynq#803: more letters than the bound, hidden and kept in memory.
func TestB64_BoundHolds(t *testing.T) {
	f := newFixture[int](t, 3)
	f.die(t, 1, 2, 3, 4, 5)
	if f.Len() != 3 || f.Evicted() != 2 {
		t.Errorf("has %d, evicted %d", f.Len(), f.Evicted())
	}
	if n, err := f.Replay(t.Context(), nil); n != 3 || err != nil {
		t.Errorf("Replay = %d, %v", n, err)
	}
	var got []int
	f.step(t, func(_ context.Context, m herald.Message[int]) error {
		got = append(got, m.Payload)
		return nil
	})
	if diff := cmp.Diff([]int{3, 4, 5}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Particular/NServiceBus PR#5557, apache/pulsar#5218: what was refused once is
// refused for ever. Here a replay that met a full subscription.
func TestB70_RefusedThenReplayed(t *testing.T) {
	f := newFixture[int](t, 3, herald.WithCapacity(1), herald.WithMiddleware(middleware.Dedupe(10)))
	f.die(t, 1)
	f.topic.Publish(t.Context(), 2)
	if n, err := f.Replay(t.Context(), nil); n != 0 || !errors.Is(err, herald.ErrFull) || f.Len() != 1 {
		t.Errorf("Replay = %d, %v; left %d", n, err, f.Len())
	}
	f.step(t, succeed)
	if n, err := f.Replay(t.Context(), nil); n != 1 || err != nil || f.Len() != 0 {
		t.Errorf("second Replay = %d, %v; left %d", n, err, f.Len())
	}
	f.step(t, succeed)
	if s := f.sub.Stats(); s.Delivered != 2 {
		t.Errorf("delivered %d", s.Delivered)
	}
}

// rabbitmq/rabbitmq-server#18, fridujo/rabbitmq-mock#28, wso2/product-ei#5053: the
// lifetime follows the message into the store, or out of it.
func TestB74_LifetimeEndsWithDeath(t *testing.T) {
	for name, opts := range map[string][]herald.SubOption{
		"own lifetime": nil,
		"maximum age":  {herald.WithMaxAge(time.Second)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture[int](t, 3, opts...)
				f.topic.Publish(t.Context(), 1, herald.WithTTL(time.Second))
				expires := time.Now().Add(time.Second)
				time.Sleep(time.Minute)
				f.step(t, func(context.Context, herald.Message[int]) error {
					t.Error("handled after its time")
					return nil
				})
				time.Sleep(time.Hour)
				for d := range f.All() {
					if d.Reason != herald.Expired || !d.At.Equal(expires) {
						t.Errorf("reason %v, at %v", d.Reason, d.At)
					}
				}
				if n, err := f.Replay(t.Context(), nil); n != 1 || err != nil {
					t.Errorf("Replay = %d, %v", n, err)
				}
				time.Sleep(time.Hour)
				f.step(t, succeed)
				if s := f.sub.Stats(); s.Delivered != 1 || f.Len() != 0 {
					t.Errorf("delivered %d, left %d", s.Delivered, f.Len())
				}
			})
		})
	}
}
