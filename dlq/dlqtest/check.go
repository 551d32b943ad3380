package dlqtest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

var checks = []struct {
	name string
	run  func(t *testing.T, open func(capacity int) *fixture)
}{
	{"LettersAreKept", lettersAreKept},
	{"TheOldestGives", theOldestGives},
	{"ReplayBringsBackOnce", replayBringsBackOnce},
	{"WhatCannotGoBackStays", whatCannotGoBackStays},
	{"MatchChooses", matchChooses},
	{"PurgeForgets", purgeForgets},
	{"TheStoreMayBeUsedInItsLoops", theStoreMayBeUsedInItsLoops},
	{"ManyAtOnce", manyAtOnce},
}

var errDead = errors.New("dead on purpose")

// die makes dead letters of payloads.
func (f *fixture) die(t *testing.T, payloads ...int) {
	t.Helper()
	for _, p := range payloads {
		if err := f.topic.Publish(t.Context(), p, herald.WithKey("key"), herald.WithHeader("h", "v")); err != nil {
			t.Fatal(err)
		}
		f.step(t, policy.Permanent(errDead))
	}
}

// step handles one message with that outcome and returns it.
func (f *fixture) step(t *testing.T, outcome error) (m herald.Message[int]) {
	t.Helper()
	ok, err := f.sub.Step(t.Context(), func(_ context.Context, got herald.Message[int]) error {
		m = got
		return outcome
	})
	if err != nil || !ok {
		t.Fatalf("nothing to handle: %t, %v", ok, err)
	}
	return m
}

func (f *fixture) want(t *testing.T, payloads string) {
	t.Helper()
	if got := f.payloads(); got != payloads {
		t.Errorf("the store has %s, want %s", got, payloads)
	}
}

// A letter is kept as it came, and says what happened (G28).
func lettersAreKept(t *testing.T, open func(int) *fixture) {
	f := open(8)
	f.die(t, 1, 2)
	f.want(t, "[1 2]")
	if f.Len() != 2 {
		t.Errorf("Len is %d", f.Len())
	}
	for d := range f.All() {
		if d.Key != "key" || d.Headers().Get("h") != "v" || d.Subscription != "sub" || d.Reason != herald.Permanent ||
			!errors.Is(d.Err, errDead) || d.Attempt != 1 || d.At.IsZero() {
			t.Errorf("a letter was changed: %+v", d)
		}
	}
}

// A full store gives up its oldest letter; it never refuses, and never grows
// (G2, G28).
func theOldestGives(t *testing.T, open func(int) *fixture) {
	for _, capacity := range []int{1, 3} {
		f := open(capacity)
		f.die(t, 1, 2, 3, 4)
		f.want(t, map[int]string{1: "[4]", 3: "[2 3 4]"}[capacity])
		if n := f.sub.Stats().PutFailed; n != 0 {
			t.Errorf("%d letters were not taken", n)
		}
	}
}

// A letter goes back once, to the subscription where it died, and isn't in the
// store any more when its handler has it (G29).
func replayBringsBackOnce(t *testing.T, open func(int) *fixture) {
	f := open(8)
	f.die(t, 1, 2)
	for _, want := range []int{2, 0} {
		if n, err := f.Replay(t.Context(), nil); n != want || err != nil {
			t.Fatalf("replayed %d, %v; want %d", n, err, want)
		}
	}
	f.want(t, "[]")
	for want := 1; want <= 2; want++ {
		if m := f.step(t, nil); m.Payload != want || m.Replays() != 1 {
			t.Errorf("got %d, replayed %d times, want %d", m.Payload, m.Replays(), want)
		}
	}
}

// Letters stay where there's no room for them, or no subscription; nothing is
// lost (G29).
func whatCannotGoBackStays(t *testing.T, open func(int) *fixture) {
	f := open(16)
	f.die(t, 1, 2, 3, 4, 5, 6)
	n, err := f.Replay(t.Context(), nil)
	if n != fixtureCapacity || !errors.Is(err, herald.ErrFull) {
		t.Fatalf("replayed %d, %v; want %d and ErrFull", n, err, fixtureCapacity)
	}
	f.want(t, "[5 6]")
	f.topic.Close()
	if n, err := f.Replay(t.Context(), nil); n != 0 || !errors.Is(err, herald.ErrClosed) {
		t.Errorf("replayed %d to a closed subscription, %v", n, err)
	}
	f.want(t, "[5 6]")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if n, err := f.Replay(ctx, nil); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("replayed %d with a context that is done, %v", n, err)
	}
}

func matchChooses(t *testing.T, open func(int) *fixture) {
	f := open(8)
	f.die(t, 1, 2, 3)
	even := func(d herald.DeadLetter[int]) bool { return d.Payload%2 == 0 }
	if n, err := f.Replay(t.Context(), even); n != 1 || err != nil {
		t.Errorf("replayed %d, %v", n, err)
	}
	f.want(t, "[1 3]")
}

func purgeForgets(t *testing.T, open func(int) *fixture) {
	f := open(8)
	f.die(t, 1, 2, 3)
	if n := f.Purge(func(d herald.DeadLetter[int]) bool { return d.Payload == 2 }); n != 1 {
		t.Errorf("purged %d", n)
	}
	f.want(t, "[1 3]")
	if n := f.Purge(nil); n != 2 || f.Len() != 0 {
		t.Errorf("purged %d, left %d", n, f.Len())
	}
}

// A loop over All, and a match, may call the store (G15, G18).
func theStoreMayBeUsedInItsLoops(t *testing.T, open func(int) *fixture) {
	f := open(8)
	f.die(t, 1, 2, 3)
	for d := range f.All() {
		if d.Payload == 1 {
			f.Purge(func(o herald.DeadLetter[int]) bool { return o.Payload == 3 })
		}
		if d.Payload == 2 {
			if err := d.Replay(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
	f.want(t, "[1]")
	n, err := f.Replay(t.Context(), func(herald.DeadLetter[int]) bool { return f.Len() == 1 })
	if n != 1 || err != nil {
		t.Errorf("replayed %d, %v", n, err)
	}
}

// Letters that are put, replayed and purged at the same time each meet one
// end (G5, G29).
func manyAtOnce(t *testing.T, open func(int) *fixture) {
	const letters = 200
	f := open(letters)
	var purged atomic.Int64
	var users, workers sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan struct{})
	for range 2 {
		users.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if _, err := f.Replay(ctx, nil); err != nil && !errors.Is(err, herald.ErrFull) {
					t.Error(err)
				}
				purged.Add(int64(f.Purge(func(d herald.DeadLetter[int]) bool { return d.Payload%5 == 0 })))
			}
		})
	}
	workers.Go(func() {
		_ = f.sub.Run(ctx, func(_ context.Context, m herald.Message[int]) error { // ends with ctx
			if m.Replays() == 0 {
				return policy.Permanent(errDead)
			}
			return nil
		})
	})
	for i := range letters {
		for errors.Is(f.topic.Publish(ctx, i), herald.ErrFull) {
			_ = f.sub.WaitIdle(ctx) // there will be room
		}
	}
	for range letters { // each brings back at least one
		if f.sub.WaitIdle(ctx) != nil || f.Len() == 0 {
			break
		}
		if _, err := f.Replay(ctx, nil); err != nil && !errors.Is(err, herald.ErrFull) {
			t.Error(err)
		}
	}
	close(done)
	users.Wait()
	_ = f.sub.WaitIdle(ctx) // the last replays
	s := f.sub.Stats()
	if s.Delivered+uint64(purged.Load())+uint64(f.Len()) != s.Dead || s.Delivered != s.Replayed {
		t.Errorf("%d dead: %d replayed and %d delivered, %d purged, %d left", s.Dead, s.Replayed, s.Delivered, purged.Load(), f.Len())
	}
	cancel()
	workers.Wait()
}
