package herald_test

import (
	"context"
	"testing"
	"time"

	"github.com/heraldbus/herald"
)

// Who is refused where there is a deadlock, and who is not.

// Where all workers of one subscription wait for it, one of them is refused and the others get room (G19).
func TestG19_OneIsRefusedTheOthersGoOn(t *testing.T) {
	const workers = 3
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic, results, gate := newBus[int](t), tape[error]{}, make(chan struct{})
		s := subscribe(t, topic, "s", append(blocking(0), herald.WithConcurrency(workers))...)
		ran := running(ctx, s, func(ctx context.Context, m herald.Message[int]) error {
			if m.Payload == 0 {
				<-gate
				results.add(topic.Publish(ctx, 1))
			}
			return nil
		})
		for range workers {
			publishAll(t, topic, 0)
			settle()
		}
		publishAll(t, topic, 1)
		close(gate)
		settle()
		wantErr(t, "Drain", topic.Drain(ctx), nil)
		wantErr(t, "Run", <-ran, nil)
		refused := 0
		for _, err := range results.list() {
			if err != nil {
				wantDeadlock(t, err, "s", "bus/s", "bus/s")
				refused++
			}
		}
		if refused != 1 || len(results.list()) != workers {
			t.Errorf("publishes: %v", results.list())
		}
	})
}

// Only the wait in the circle is refused: where the same publish waits for a subscription that can move, it goes on
// waiting for that one (G19).
func TestG19_RefusesOnlyWhatIsStuck(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newBus[int](t)
		s := subscribe(t, topic, "s", blocking(0)...)
		other := subscribe(t, topic, "other", blocking(0)...) // nobody consumes it
		free := subscribe(t, topic, "free")
		publishAll(t, topic, 0)
		published := make(chan error, 1)
		ran := running(ctx, s, func(ctx context.Context, m herald.Message[int]) error {
			if m.Payload == 0 {
				other.Discard()
				publishAll(t, topic, 1)
				published <- topic.Publish(ctx, 2)
			}
			return nil
		})
		settle()
		if !pending(published) || other.Stats().Waiting != 1 || s.Stats().Waiting != 0 || s.Stats().Refused != 1 {
			t.Fatalf("%+v, %+v", s.Stats(), other.Stats())
		}
		wantEqual(t, []int{1, 2}, takeAll(t, other))
		wantDeadlock(t, <-published, "s", "bus/s", "bus/s")
		wantEqual(t, []int{0, 1, 2}, takeAll(t, free))
		s.Close()
		wantErr(t, "Run", <-ran, nil)
	})
}

// One whose handler waits for a subscription that is stuck in itself is not the one to be refused: the chain of a
// DeadlockError is a circle (G19).
func TestG19_ChainIsACircle(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		a, b := newBusNamed[int](t, "a"), newBusNamed[int](t, "b")
		var failed tape[error]
		finish := make(chan struct{})
		// b has two workers: one waits for b itself, the other is busy, and when it's done idles behind the key.
		sb := subscribe(t, b, "s", append(blocking(0), herald.WithConcurrency(2))...)
		publish := func(topic *herald.Topic[int], ctx context.Context) {
			if err := topic.Publish(ctx, 9, herald.WithKey("k")); err != nil {
				failed.add(err)
			}
		}
		bRan := running(ctx, sb, func(ctx context.Context, m herald.Message[int]) error {
			switch m.Payload {
			case 1:
				<-finish
			case 2:
				wantErr(t, "Publish", b.Publish(ctx, 9, herald.WithKey("k")), nil)
				publish(b, ctx)
			}
			return nil
		})
		publishAll(t, b, 1)
		settle()
		wantErr(t, "Publish", b.Publish(ctx, 2, herald.WithKey("k")), nil)
		settle()
		sa := subscribe(t, a, "s", blocking(0)...)
		aRan := running(ctx, sa, func(ctx context.Context, m herald.Message[int]) error {
			publish(b, ctx)
			return nil
		})
		publishAll(t, a, 0)
		settle()
		if n := sb.Stats().Waiting; n != 2 || len(failed.list()) != 0 {
			t.Fatalf("%d wait: %v", n, failed.list())
		}
		close(finish)
		settle()
		for _, err := range failed.list() {
			wantDeadlock(t, err, "s", "b/s", "b/s")
		}
		if len(failed.list()) != 1 {
			t.Errorf("refused: %v", failed.list())
		}
		a.Close()
		b.Close()
		wantErr(t, "Run", <-aRan, nil)
		wantErr(t, "Run", <-bRan, nil)
	})
}

// The handler of a batch is a worker like any other: publishing into its own full queue is a deadlock, at once, whatever
// the size of the batch and however long it would wait for more (G19).
func TestG19_BatchHandler(t *testing.T) {
	for what, c := range map[string]struct {
		size int
		wait time.Duration
	}{
		"one": {1, 0}, "several": {3, 0}, "several, waiting": {3, time.Minute},
	} {
		bubble(t, what, func(ctx context.Context, t *testing.T) {
			topic, published := newBus[int](t), make(chan error, 1)
			s := subscribe(t, topic, "s", blocking(0)...)
			publishAll(t, topic, 0)
			ran := background(func() error {
				return s.RunBatch(ctx, c.size, c.wait, func(ctx context.Context, ms []herald.Message[int]) error {
					if ms[0].Payload == 0 {
						publishAll(t, topic, 1)
						start := time.Now()
						published <- topic.Publish(ctx, 2)
						wantEqual(t, time.Duration(0), time.Since(start))
					}
					return nil
				})
			})
			wantDeadlock(t, <-published, "s", "bus/s", "bus/s")
			s.Close()
			wantErr(t, "RunBatch", <-ran, nil)
			wantTally(t, s, tally{Offered: 3, Accepted: 2, Refused: 1, Delivered: 2})
		})
	}
}

// A batch that waits for more than the queue can hold makes no room, and the publishers wait for it: the batch is
// handed out as it is rather than never (G9, G19).
func TestG19_BatchWaitsForMoreThanThereIsRoom(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic, start := newBus[int](t), time.Now()
		s := subscribe(t, topic, "s", blocking(0)...) // capacity 1
		ran := background(func() error {
			return s.RunBatch(ctx, 3, time.Minute, func(context.Context, []herald.Message[int]) error { return nil })
		})
		publishAll(t, topic, 1, 2, 3)
		wantErr(t, "Drain", topic.Drain(ctx), nil)
		wantErr(t, "RunBatch", <-ran, nil)
		if took := time.Since(start); took > 3*time.Minute {
			t.Errorf("took %v", took)
		}
		wantTally(t, s, tally{Offered: 3, Accepted: 3, Delivered: 3})
	})
}
