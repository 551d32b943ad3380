package herald_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

var errAttempt = errors.New("attempt failed")

// rising returns what of s never goes down.
func rising(s herald.SubStats) []uint64 {
	return []uint64{s.Offered, s.Filtered, s.Refused, s.Accepted, s.Replayed, s.Delivered, s.Dead, s.Dropped, s.Discarded,
		s.Retried, s.PutFailed, s.DeadBy.RetriesExhausted, s.DeadBy.Overflow, s.DeadBy.Expired, s.DeadBy.Permanent,
		s.DeadBy.FilterFailed, s.DeadBy.PolicyFailed, s.DroppedBy.Oldest, s.DroppedBy.Newest, s.DroppedBy.Superseded}
}

// watchAccounts polls the statistics of s until stop is closed: both equations hold in each snapshot, and no counter
// goes down.
func watchAccounts[T any](t *testing.T, s *herald.Subscription[T], stop <-chan struct{}) (snapshots int) {
	var before []uint64
	for {
		n := s.Stats()
		checkSound(t, n)
		now := rising(n)
		for i, v := range before {
			if now[i] < v {
				t.Errorf("counter %d went down from %d to %d", i, v, now[i])
			}
		}
		before = now
		snapshots++
		select {
		case <-stop:
			return snapshots
		default:
		}
		if t.Failed() {
			return snapshots
		}
		runtime.Gosched()
	}
}

// A loadTest is one subscription with everything going on at once that its account has a column for.
type loadTest struct {
	topic    *herald.Topic[int]
	sub      *herald.Subscription[int]
	letters  chan herald.DeadLetter[int]
	replayed atomic.Uint64
}

const loadPerPublisher = 1500

func newLoadTest(t *testing.T, opts ...herald.SubOption) *loadTest {
	l := &loadTest{topic: newBus[int](t), letters: make(chan herald.DeadLetter[int], 4*loadPerPublisher)}
	view := l.topic.
		Filter(func(m herald.Message[int]) bool {
			if m.Payload%31 == 0 {
				panic("filter")
			}
			return m.Payload%7 != 0
		}).
		DeadLetterTo(func(d herald.DeadLetter[int]) error {
			if d.Payload%11 == 0 {
				return errors.New("store is full")
			}
			select {
			case l.letters <- d:
			default:
			}
			return nil
		})
	opts = append([]herald.SubOption{herald.WithRetry(policy.Schedule{0, 0}), herald.WithCapacity(16)}, opts...)
	l.sub = subscribe(t, view, "s", opts...)
	return l
}

func (l *loadTest) handle(_ context.Context, m herald.Message[int]) error {
	switch {
	case m.Payload%13 == 0:
		return errAttempt
	case m.Payload%17 == 0:
		return policy.Permanent(errAttempt)
	case m.Payload%19 == 0 && m.Attempt == 1:
		panic("handler")
	}
	return nil
}

// publish is one of the publishers.
func (l *loadTest) publish(ctx context.Context, id int) {
	keys := []string{"", "a", "b", "c"}
	for i := range loadPerPublisher {
		opts := []herald.PublishOption{herald.WithPriority(herald.Priority(i%4 - 1)), herald.WithKey(keys[i%len(keys)])}
		switch {
		case i%23 == 0:
			opts = append(opts, herald.WithTTL(time.Nanosecond))
		case i%29 == 0:
			opts = append(opts, herald.WithDelay(time.Microsecond))
		}
		_ = l.topic.Publish(ctx, i*4+id, opts...)
	}
}

// replay sends letters back, each of them twice, until stop.
func (l *loadTest) replay(ctx context.Context, stop <-chan struct{}) {
	for {
		select {
		case d := <-l.letters:
			for range 2 {
				if d.Replays() < 2 && d.Replay(ctx) == nil {
					l.replayed.Add(1)
				}
			}
		case <-stop:
			return
		}
	}
}

// run lets four publishers, a Run, replays and discards work on the subscription until the publishers are done and it
// is quiet, while two goroutines watch its account.
func (l *loadTest) run(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stop := make(chan struct{})
	var others, publishers sync.WaitGroup
	for range 2 {
		others.Go(func() { watchAccounts(t, l.sub, stop) })
	}
	others.Go(func() { l.replay(ctx, stop) })
	others.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if i%64 == 0 {
				l.sub.Discard()
			}
			l.sub.Pause()
			l.sub.Resume()
			runtime.Gosched()
		}
	})
	ran := running(ctx, l.sub, l.handle)
	for id := range 4 {
		publishers.Go(func() { l.publish(ctx, id) })
	}
	publishers.Wait()
	close(stop)
	others.Wait()
	wantErr(t, "Drain", l.topic.Drain(ctx), nil)
	wantErr(t, "Run", <-ran, nil)
}

// In every snapshot, at any moment and under full load, accepted is what has ended and what is held, and offered is
// what was accepted, filtered and refused; no counter goes down (G4).
func TestG04_EquationsHoldUnderLoad(t *testing.T) {
	for name, opts := range map[string][]herald.SubOption{
		"dead letter":        {},
		"drop oldest":        {herald.WithOverflow(policy.DropOldest())},
		"drop newest, aside": {herald.WithOverflow(policy.DropNewest()), herald.WithRetryAside()},
		"block":              {herald.WithOverflow(policy.Block(0)), herald.WithConcurrency(3)},
		"block, else":        {herald.WithOverflow(policy.Block(time.Microsecond).Else(policy.DropOldest())), herald.WithLatest()},
		"reject, aged":       {herald.WithOverflow(policy.Reject()), herald.WithMaxAge(time.Hour), herald.WithCapacity(1)},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLoadTest(t, opts...)
			l.run(t)
			n := l.sub.Stats()
			checkSound(t, n)
			if n.Offered != 4*loadPerPublisher || n.Queued+n.Delayed+n.InFlight != 0 || n.Replayed != l.replayed.Load() {
				t.Errorf("%d replayed, statistics %+v", l.replayed.Load(), n)
			}
		})
	}
}

// So they do while a subscription is closed, and when its consumers come and go (G4).
func TestG04_EquationsHoldWhileItCloses(t *testing.T) {
	for range 20 {
		l := newLoadTest(t)
		stop := make(chan struct{})
		var watch, work sync.WaitGroup
		watch.Go(func() { watchAccounts(t, l.sub, stop) })
		for id := range 2 {
			work.Go(func() { l.publish(t.Context(), id) })
		}
		work.Go(func() {
			for range 50 {
				l.sub.Step(t.Context(), l.handle)
				if d, ok := l.sub.TryReceive(); ok {
					d.Release()
				}
			}
			l.sub.Close()
		})
		work.Wait()
		wantErr(t, "Run", l.sub.Run(t.Context(), l.handle), nil)
		close(stop)
		watch.Wait()
		checkSound(t, l.sub.Stats())
	}
}
