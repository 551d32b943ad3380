package dlq

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// A replay goes to the subscription that failed and only there, at the end of
// the line, with its attempts anew.
func TestG29_GoesHomeOnly(t *testing.T) {
	f := newFixture[int](t, 10)
	other, err := f.topic.DeadLetterTo(f.Put).Subscribe("other")
	if err != nil {
		t.Fatal(err)
	}
	f.die(t, 1)
	f.topic.Publish(t.Context(), 2)
	if n, err := f.Replay(t.Context(), nil); n != 1 || err != nil {
		t.Errorf("Replay = %d, %v", n, err)
	}
	var got []string
	f.step(t, func(_ context.Context, m herald.Message[int]) error {
		got = append(got, fmt.Sprint(m.Payload, m.Attempt, m.Replays()))
		return nil
	})
	if diff := cmp.Diff([]string{"2 1 0", "1 1 1"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if s := other.Stats(); s.Queued != 2 || s.Replayed != 0 {
		t.Errorf("other: %+v", s)
	}
	if s := f.sub.Stats(); s.Replayed != 1 || s.Accepted != 3 {
		t.Errorf("own: %+v", s)
	}
}

// What dies again at once isn't in the snapshot: replaying all ends.
func TestG29_ReplayOfPoisonEnds(t *testing.T) {
	f := newFixture[int](t, 10)
	f.die(t, 1, 2, 3)
	for round := 1; round <= 3; round++ {
		match := func(letter) bool {
			f.step(t, fail) // the previous one dies again while the loop is under way
			return true
		}
		if n, err := f.Replay(t.Context(), match); n != 3 || err != nil {
			t.Errorf("Replay = %d, %v", n, err)
		}
		f.step(t, fail)
		for d := range f.All() {
			if d.Replays() != round {
				t.Errorf("round %d: replays %d", round, d.Replays())
			}
		}
		if f.Len() != 3 {
			t.Errorf("round %d: has %d", round, f.Len())
		}
	}
}

// Full and closed subscriptions keep their letters in the store, and don't keep
// others from going.
func TestG29_FullAndClosedStay(t *testing.T) {
	q := New[int](100)
	var subs []*herald.Subscription[int]
	for _, name := range []string{"full", "closed", "open"} {
		topic, err := herald.NewTopic[int](name)
		if err != nil {
			t.Fatal(err)
		}
		sub, err := topic.DeadLetterTo(q.Put).Subscribe("s", herald.WithCapacity(3), herald.WithRetry(policy.Never()))
		if err != nil {
			t.Fatal(err)
		}
		for v := range 3 {
			topic.Publish(t.Context(), v)
			sub.Step(t.Context(), fail)
		}
		if name == "full" {
			topic.PublishBatch(t.Context(), []int{7, 8})
		}
		subs = append(subs, sub)
	}
	subs[1].Close()
	n, err := q.Replay(t.Context(), nil)
	if n != 4 || !errors.Is(err, herald.ErrFull) || !errors.Is(err, herald.ErrClosed) {
		t.Errorf("Replay = %d, %v", n, err)
	}
	const text = "dlq: 5 left: replay full/s: herald: queue full; replay closed/s: herald: closed"
	if err.Error() != text {
		t.Errorf("got  %v\nwant %v", err, text)
	}
	for subs[0].Stats().Queued > 0 {
		subs[0].Step(t.Context(), succeed)
	}
	n, err = q.Replay(t.Context(), nil)
	if n != 2 || errors.Is(err, herald.ErrFull) || !errors.Is(err, herald.ErrClosed) {
		t.Errorf("second Replay = %d, %v", n, err)
	}
	if n := q.Purge(nil); n != 3 || q.Len() != 0 {
		t.Errorf("purged %d, left %d", n, q.Len())
	}
}

// G2: of a thousand errors a few are kept.
func TestG02_ReplayErrorIsBounded(t *testing.T) {
	q := New[int](1000)
	for i := range 1000 {
		q.Put(letter{Subscription: fmt.Sprint("s", i%100)}) // no way home
	}
	n, err := q.Replay(t.Context(), nil)
	if n != 0 || !errors.Is(err, herald.ErrClosed) || !strings.HasPrefix(err.Error(), "dlq: 1000 left: ") || len(err.Error()) > 500 {
		t.Errorf("Replay = %d, %v", n, err)
	}
}

func TestG29_ReplayStopsWithItsContext(t *testing.T) {
	f := newFixture[int](t, 10)
	f.die(t, 1, 2, 3)
	ctx, cancel := context.WithCancelCause(t.Context())
	n, err := f.Replay(ctx, func(d letter) bool {
		switch d.Payload {
		case 2:
			cancel(errNo)
		case 3:
			t.Error("went on after the end of its context")
		}
		return true
	})
	if n != 1 || !errors.Is(err, errNo) || !errors.Is(err, context.Canceled) {
		t.Errorf("Replay = %d, %v", n, err)
	}
	if diff := cmp.Diff([]int{2, 3}, payloads(f.Queue)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	var none context.Context
	if _, err := f.Replay(none, nil); !errors.Is(err, herald.ErrOption) {
		t.Errorf("Replay with a nil context: %v", err)
	}
}

// Of concurrent replays of the same letters, by the queue and by themselves,
// each letter is moved by one.
func TestG29_ConcurrentReplays(t *testing.T) {
	const letters, replayers = 300, 4
	f := newFixture[int](t, letters)
	for v := range letters {
		f.die(t, v)
	}
	var moved atomic.Int64
	var wg sync.WaitGroup
	for range replayers {
		wg.Go(func() {
			n, err := f.Replay(context.Background(), nil)
			if err != nil {
				t.Errorf("Replay = %v", err)
			}
			moved.Add(int64(n))
		})
		wg.Go(func() {
			for d := range f.All() {
				switch err := d.Replay(context.Background()); {
				case err == nil:
					moved.Add(1)
				case !errors.Is(err, herald.ErrSettled):
					t.Errorf("Replay = %v", err)
				}
			}
		})
	}
	wg.Wait()
	handled := map[int]int{}
	f.step(t, func(_ context.Context, m herald.Message[int]) error {
		handled[m.Payload]++
		return nil
	})
	if moved.Load() != letters || f.sub.Stats().Replayed != letters || len(handled) != letters || f.Len() != 0 {
		t.Errorf("moved %d, accepted %d, handled %d, left %d", moved.Load(), f.sub.Stats().Replayed, len(handled), f.Len())
	}
	sound(t, f.Queue)
}

// All letters are accounted for, whatever happens at the same time.
func TestG28_EveryLetterIsAccountedFor(t *testing.T) {
	const publishes = 2000
	f := newFixture[int](t, 16, herald.WithCapacity(8), herald.WithConcurrency(2))
	var puts, replayed, purged atomic.Int64
	f.tap = func(letter) { puts.Add(1) }
	ctx, cancel := context.WithCancel(t.Context())
	var work, others sync.WaitGroup
	others.Go(func() {
		f.sub.Run(ctx, func(_ context.Context, m herald.Message[int]) error {
			if m.Payload%3 == 0 && m.Replays() > 2 {
				return nil
			}
			return errNo
		})
	})
	for i := range 2 {
		others.Go(func() {
			for ctx.Err() == nil {
				n, err := f.Replay(context.Background(), func(d letter) bool { return d.Payload%2 == i })
				if err != nil && !errors.Is(err, herald.ErrFull) {
					t.Errorf("Replay = %v", err)
				}
				replayed.Add(int64(n))
			}
		})
	}
	others.Go(func() {
		for ctx.Err() == nil {
			purged.Add(int64(f.Purge(func(d letter) bool { return d.Payload%7 == 0 })))
			if n := f.Len(); n > 16 {
				t.Errorf("has %d", n)
			}
		}
	})
	for range 2 {
		work.Go(func() {
			for v := range publishes {
				f.topic.Publish(context.Background(), v)
			}
		})
	}
	work.Wait()
	cancel()
	others.Wait()
	got := uint64(f.Len()) + f.Evicted() + uint64(replayed.Load()+purged.Load())
	if got != uint64(puts.Load()) {
		t.Errorf("%d put; %d left + %d evicted + %d replayed + %d purged = %d",
			puts.Load(), f.Len(), f.Evicted(), replayed.Load(), purged.Load(), got)
	}
	if s := f.sub.Stats(); s.Replayed != uint64(replayed.Load()) || s.Dead != uint64(puts.Load()) {
		t.Errorf("replayed %d, put %d, statistics %+v", replayed.Load(), puts.Load(), s)
	}
	sound(t, f.Queue)
}

// A letter has left before anybody sees the message that it became: one that
// dies again at once finds the place free, and the oldest isn't evicted for it.
func TestG29_FullOfPoisonEvictsNothing(t *testing.T) {
	const letters = 8
	f := newFixture[int](t, letters, herald.WithConcurrency(2))
	for v := range letters {
		f.die(t, v)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { f.sub.Run(ctx, fail) })
	for range 500 {
		if _, err := f.Replay(t.Context(), func(d letter) bool { return d.Payload != 0 }); err != nil {
			t.Error(err)
		}
		for d := range f.All() {
			if d.Payload == 0 {
				continue
			}
			if err := d.Replay(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
	if err := f.sub.WaitIdle(t.Context()); err != nil {
		t.Error(err)
	}
	cancel()
	wg.Wait()
	if f.Len() != letters || f.Evicted() != 0 {
		t.Errorf("has %d, evicted %d", f.Len(), f.Evicted())
	}
}
