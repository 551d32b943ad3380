package dlq

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// TestG29_Model runs random calls against a model of slices, with
// subscriptions that are full or closed half the time. It is the specification
// of this package.
func TestG29_Model(t *testing.T) {
	check(t, func(t *rapid.T) {
		capacity := rapid.IntRange(0, 4).Draw(t, "capacity")
		m := &machine{q: New[int](capacity), capacity: max(capacity, 1)}
		t.Cleanup(m.close)
		for range 2 {
			m.subs = append(m.subs, m.subscribe(t, &herald.Topic[int]{}))
		}
		t.Repeat(rapid.StateMachineActions(m))
	})
}

// A modelSub is a subscription of capacity 2, or what it has become.
type modelSub struct {
	topic  *herald.Topic[int]
	sub    *herald.Subscription[int]
	queued []*modelLetter
	closed bool
}

const subCapacity = 2

// A modelLetter is a dead letter, or the message that one became.
type modelLetter struct {
	value, replays int
	from           *modelSub
	replayed       bool
}

// want is what its replay should return; nil moves it to its subscription.
func (l *modelLetter) want() error {
	switch {
	case l.replayed:
		return herald.ErrSettled
	case l.from.closed:
		return herald.ErrClosed
	case len(l.from.queued) == subCapacity:
		return herald.ErrFull
	}
	l.replayed = true
	l.from.queued = append(l.from.queued, &modelLetter{value: l.value, replays: l.replays + 1, from: l.from})
	return nil
}

type known struct {
	letter letter
	model  *modelLetter
}

// A machine drives a queue and its model by the same calls. Its exported
// methods are the actions.
type machine struct {
	q    *Queue[int]
	subs []*modelSub
	next int

	capacity int
	stored   []*modelLetter
	evicted  uint64
	seen     []known // by All; left or not
}

func (m *machine) subscribe(t *rapid.T, topic *herald.Topic[int]) *modelSub {
	sub, err := topic.DeadLetterTo(m.q.Put).Subscribe("s",
		herald.WithCapacity(subCapacity), herald.WithRetry(policy.Never()))
	if err != nil {
		t.Fatal(err)
	}
	return &modelSub{topic: topic, sub: sub}
}

func (m *machine) close() {
	for _, s := range m.subs {
		s.topic.Close()
	}
}

func (m *machine) put(l *modelLetter) {
	if len(m.stored) == m.capacity {
		m.stored = m.stored[1:]
		m.evicted++
	}
	m.stored = append(m.stored, l)
}

func (m *machine) take(keep func(*modelLetter) bool) {
	m.stored = slices.DeleteFunc(m.stored, func(l *modelLetter) bool { return !keep(l) })
}

func (m *machine) draw(t *rapid.T) *modelSub { return rapid.SampledFrom(m.subs).Draw(t, "sub") }

// drawMatch draws which letters are meant, for the queue and for the model.
func (m *machine) drawMatch(t *rapid.T) (func(letter) bool, func(*modelLetter) bool) {
	mod := rapid.IntRange(1, 3).Draw(t, "modulus")
	if mod == 1 {
		return nil, func(*modelLetter) bool { return true }
	}
	return func(d letter) bool { return d.Payload%mod == 0 },
		func(l *modelLetter) bool { return l.value%mod == 0 }
}

// Publish puts a letter itself where the subscription is full.
func (m *machine) Publish(t *rapid.T) {
	s := m.draw(t)
	m.next++
	l := &modelLetter{value: m.next, from: s}
	if len(s.queued) < subCapacity {
		s.queued = append(s.queued, l)
	} else {
		m.put(l)
	}
	if err := s.topic.Publish(context.Background(), m.next); err != nil {
		t.Fatal(err)
	}
}

func (m *machine) Fail(t *rapid.T)    { m.step(t, errNo) }
func (m *machine) Succeed(t *rapid.T) { m.step(t, nil) }

func (m *machine) step(t *rapid.T, result error) {
	s := m.draw(t)
	if len(s.queued) == 0 {
		t.Skip("nothing queued")
	}
	want := s.queued[0]
	s.queued = s.queued[1:]
	if result != nil {
		m.put(want)
	}
	_, err := s.sub.Step(context.Background(), func(_ context.Context, got herald.Message[int]) error {
		if got.Payload != want.value || got.Replays() != want.replays || got.Attempt != 1 {
			t.Fatalf("handled %d, attempt %d, replays %d, want %+v", got.Payload, got.Attempt, got.Replays(), want)
		}
		return result
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Reopen closes a subscription and opens another of the same name.
func (m *machine) Reopen(t *rapid.T) {
	i := rapid.IntRange(0, len(m.subs)-1).Draw(t, "sub")
	s := m.subs[i]
	s.closed = true
	s.sub.Close()
	s.sub.Discard()
	m.subs[i] = m.subscribe(t, s.topic)
}

func (m *machine) Replay(t *rapid.T) {
	match, matches := m.drawMatch(t)
	wantN := 0
	var wantErrs []error
	for _, l := range m.stored {
		if !matches(l) {
			continue
		}
		switch err := l.want(); err {
		case nil:
			wantN++
		default:
			wantErrs = append(wantErrs, err)
		}
	}
	m.take(func(l *modelLetter) bool { return !l.replayed })
	n, err := m.q.Replay(context.Background(), match)
	if n != wantN || (err == nil) != (len(wantErrs) == 0) {
		t.Fatalf("Replay = %d, %v; want %d, %v", n, err, wantN, wantErrs)
	}
	for _, e := range []error{herald.ErrFull, herald.ErrClosed, herald.ErrSettled} {
		if errors.Is(err, e) != slices.Contains(wantErrs, e) {
			t.Fatalf("Replay = %v; want %v", err, wantErrs)
		}
	}
}

// ReplayOne replays a letter that All has yielded some time, stored or not.
func (m *machine) ReplayOne(t *rapid.T) {
	if len(m.seen) == 0 {
		t.Skip("none seen")
	}
	k := rapid.SampledFrom(m.seen).Draw(t, "letter")
	want := k.model.want()
	m.take(func(l *modelLetter) bool { return !l.replayed })
	if err := k.letter.Replay(context.Background()); !errors.Is(err, want) {
		t.Fatalf("Replay = %v, want %v", err, want)
	}
}

func (m *machine) ReplayCancelled(t *rapid.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errNo)
	n, err := m.q.Replay(ctx, nil)
	if n != 0 || len(m.stored) > 0 != errors.Is(err, errNo) || len(m.stored) > 0 != errors.Is(err, context.Canceled) {
		t.Fatalf("Replay of %d = %d, %v", len(m.stored), n, err)
	}
}

func (m *machine) Purge(t *rapid.T) {
	match, matches := m.drawMatch(t)
	before := len(m.stored)
	m.take(func(l *modelLetter) bool { return !matches(l) })
	if n := m.q.Purge(match); n != before-len(m.stored) {
		t.Fatalf("Purge = %d, want %d", n, before-len(m.stored))
	}
}

// Look compares the contents. It's no part of Check, since looking is what
// makes the queue notice what was replayed by itself.
func (m *machine) Look(t *rapid.T) {
	if n := m.q.Len(); n != len(m.stored) {
		t.Fatalf("Len = %d, want %d", n, len(m.stored))
	}
	type row struct{ Value, Replays int }
	var got, want []row
	i := 0
	for d := range m.q.All() {
		got = append(got, row{d.Payload, d.Replays()})
		if i < len(m.stored) {
			m.seen = append(m.seen, known{d, m.stored[i]})
			i++
		}
	}
	for _, l := range m.stored {
		want = append(want, row{l.value, l.replays})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("All (-want +got):\n%s", diff)
	}
}

func (m *machine) Check(t *rapid.T) {
	if got := m.q.Evicted(); got != m.evicted {
		t.Fatalf("Evicted = %d, want %d", got, m.evicted)
	}
	sound(t, m.q)
}
