package herald_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// Each message that a subscription accepted meets one end, once: it's handled with success, or a letter, and never
// both; what is dropped is neither (G5).
func TestG05_OneEnd(t *testing.T) {
	const publishers, each = 4, 500
	topic, letters, handled := newBus[int](t), letterBox[int]{}, tape[int]{}
	s := subscribe(t, topic.DeadLetterTo(letters.put), "s", herald.WithCapacity(8), herald.WithConcurrency(2),
		herald.WithOverflow(policy.DropOldest()), herald.WithRetry(policy.Schedule{0}))
	ran := running(t.Context(), s, func(ctx context.Context, m herald.Message[int]) error {
		if m.Payload%3 == 0 || m.Payload%5 == 0 && m.Attempt == 1 {
			return errAttempt
		}
		return handled.handler(ctx, m)
	})
	var g sync.WaitGroup
	for id := range publishers {
		g.Go(func() {
			for i := range each {
				publishAll(t, topic, i*publishers+id)
			}
		})
	}
	g.Wait()
	wantErr(t, "Drain", topic.Drain(t.Context()), nil)
	wantErr(t, "Run", <-ran, nil)
	ends := handled.list()
	for _, d := range letters.list() {
		if d.Attempt != 2 || d.Reason != herald.RetriesExhausted {
			t.Errorf("letter %d after %d attempts: %v", d.Payload, d.Attempt, d.Reason)
		}
		ends = append(ends, d.Payload)
	}
	n := s.Stats()
	if n.Delivered+n.Dead != uint64(len(ends)) || n.Accepted != publishers*each || n.Dropped != n.Accepted-uint64(len(ends)) {
		t.Errorf("%d ends seen, statistics %+v", len(ends), n)
	}
	slices.Sort(ends)
	if len(slices.Compact(slices.Clone(ends))) != len(ends) {
		t.Errorf("a message met two ends: %v", ends)
	}
}

// Each replay is an acceptance of its own, with one end of its own (G5).
func TestG05_OneEndForEachReplay(t *testing.T) {
	topic, letters := newBus[int](t), letterBox[int]{}
	s := subscribe(t, topic.DeadLetterTo(letters.put), "s")
	publishAll(t, topic, 1)
	permanent := func(context.Context, herald.Message[int]) error { return policy.Permanent(errAttempt) }
	for i := range uint64(5) {
		stepWith(t, s, permanent)
		wantTally(t, s, tally{Offered: 1, Accepted: i + 1, Replayed: i, Dead: i + 1})
		all := letters.list()
		if len(all) != int(i)+1 {
			t.Fatalf("%d letters after %d replays", len(all), i)
		}
		wantErr(t, "Replay", all[i].Replay(t.Context()), nil)
		wantErr(t, "second Replay", all[i].Replay(t.Context()), herald.ErrSettled)
	}
	takeAll(t, s)
	wantTally(t, s, tally{Offered: 1, Accepted: 6, Replayed: 5, Dead: 5, Delivered: 1})
}
