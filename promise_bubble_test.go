package herald_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/broker"
	"github.com/heraldbus/herald/policy"
	"github.com/heraldbus/herald/queue"
)

// Users can test with testing/synctest: in a bubble every call that waits is durably blocked, so an hour passes at once,
// and each then ends as it should (G34).
func TestG34_AnHourInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWaiting(t)
		w.publishers()
		w.consumers()
		w.brokers()
		w.queues()
		synctest.Wait()
		if d := cmp.Diff(0, len(w.ended)); d != "" {
			t.Fatalf("some did not wait: %v", w.ended)
		}
		begun := time.Now()
		time.Sleep(time.Hour)
		synctest.Wait()
		if passed := time.Since(begun); passed != time.Hour {
			t.Errorf("%v passed", passed)
		}
		if len(w.ended) != 0 {
			t.Errorf("some did not wait for an hour: %v", w.ended)
		}
		w.cancel()
		w.group.Wait()
		for name, err := range w.ended {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s ended with %v", name, err)
			}
		}
		if len(w.ended) != w.n {
			t.Errorf("%d of %d ended: %v", len(w.ended), w.n, w.ended)
		}
	})
}

// waiting are calls that wait until their context ends.
type waiting struct {
	*testing.T
	ctx    context.Context
	cancel context.CancelFunc
	group  sync.WaitGroup
	n      int

	mu    sync.Mutex // protects ended
	ended map[string]error
}

func newWaiting(t *testing.T) *waiting {
	w := &waiting{T: t, ended: map[string]error{}}
	w.ctx, w.cancel = context.WithCancel(t.Context())
	return w
}

func (w *waiting) wait(name string, f func(ctx context.Context) error) {
	w.n++
	w.group.Go(func() {
		err := f(w.ctx)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.ended[name] = err
	})
}

// full returns a topic and its subscription, which has no room.
func (w *waiting) full() (*herald.Topic[int], *herald.Subscription[int]) {
	topic := new(herald.Topic[int])
	s := subscribe(w.T, topic.Filter(allow), "full", herald.WithCapacity(1), herald.WithOverflow(policy.Block(0)))
	publishAll(w.T, topic, 1)
	return topic, s
}

func (w *waiting) publishers() {
	topic, s := w.full()
	publisher := topic
	w.wait("Publish", func(ctx context.Context) error { return publisher.Publish(ctx, 2) })
	w.wait("PublishBatch", func(ctx context.Context) error {
		_, err := publisher.PublishBatch(ctx, []int{3, 4})
		return err
	})
	w.wait("WaitIdle", s.WaitIdle)
	topic, _ = w.full()
	w.wait("Topic.Drain", topic.Drain)
	_, s = w.full()
	w.wait("Subscription.Drain", s.Drain)
}

func (w *waiting) consumers() {
	handler := func(context.Context, herald.Message[int]) error { return nil }
	empty := func() *herald.Subscription[int] {
		return subscribe(w.T, new(herald.Topic[int]).Filter(allow), "empty", herald.WithConcurrency(2))
	}
	run, batch, receive, messages := empty(), empty(), empty(), empty()
	w.wait("Run", func(ctx context.Context) error { return run.Run(ctx, handler) })
	w.wait("RunBatch", func(ctx context.Context) error {
		return batch.RunBatch(ctx, 8, 2*time.Hour, func(context.Context, []herald.Message[int]) error { return nil })
	})
	w.wait("Receive", func(ctx context.Context) error {
		_, err := receive.Receive(ctx)
		return err
	})
	w.wait("Messages", func(ctx context.Context) error {
		for range messages.Messages(ctx) {
			w.Error("a message")
		}
		return messages.Err()
	})
}

func (w *waiting) brokers() {
	idle, busy := new(broker.Broker), new(broker.Broker)
	w.wait("Broker.Run", idle.Run)
	topic, err := broker.Topic[int](busy, "busy")
	if err != nil {
		w.Fatal(err)
	}
	handler := func(context.Context, herald.Message[int]) error { return nil }
	if err := broker.Handle(busy, "busy", "late", handler); err != nil {
		w.Fatal(err)
	}
	if err := topic.Publish(w.ctx, 1, herald.WithDelay(2*time.Hour)); err != nil {
		w.Fatal(err)
	}
	w.wait("Broker.RunUntilIdle", func(ctx context.Context) error {
		_, err := busy.RunUntilIdle(ctx)
		return err
	})
	w.wait("Broker.WaitIdle", busy.WaitIdle)
	w.wait("Broker.Drain", busy.Drain)
}

func (w *waiting) queues() {
	q := queue.New[int](1)
	w.wait("Queue.Pop", func(ctx context.Context) error {
		_, err := q.Pop(ctx)
		return err
	})
	full := queue.New[int](1)
	if err := full.TryPush(1, policy.Normal); err != nil {
		w.Fatal(err)
	}
	w.wait("Queue.Push", func(ctx context.Context) error { return full.Push(ctx, 2, policy.Normal) })
}
