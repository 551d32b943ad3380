package herald_test

import (
	"context"
	"testing"

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
