package broker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/broker"
)

// The machine's actions that consume, end and look.

func (m *machine) Attach(t *rapid.T) {
	s := m.drawSub(t)
	if !s.open && len(s.queue) == 0 {
		t.Skip("it's over") // whether the broker has forgotten it already isn't promised
	}
	members := m.members()
	var want error
	switch {
	case m.closed:
		want = herald.ErrClosed
	case slices.Contains(members, s) && s.handled:
		want = herald.ErrBusy
	}
	if want == nil {
		s.handled = true
		if !slices.Contains(members, s) {
			m.order = append(m.order, s)
		}
	}
	wantOutcome(t, "Attach", want, s.attach())
}

func (m *machine) Unsubscribe(t *rapid.T) {
	name := rapid.SampledFrom(subNames).Draw(t, "name")
	var want error
	if s := m.named(name); s != nil {
		m.leave(s)
	} else {
		want = broker.ErrNotFound
	}
	wantOutcome(t, "Unsubscribe", want, m.b.Unsubscribe(name))
}

func (m *machine) CloseSubscription(t *rapid.T) {
	s := m.drawSub(t)
	m.leave(s)
	wantOutcome(t, "Close", nil, s.close())
}

func (m *machine) Pause(t *rapid.T) {
	s := m.drawSub(t)
	s.paused = true
	s.pause()
}

func (m *machine) Resume(t *rapid.T) {
	s := m.drawSub(t)
	s.paused = false
	s.resume()
}

// Step is a subscription's user handling one message, whether or not the broker handles it too: it isn't running.
func (m *machine) Step(t *rapid.T) {
	s := m.drawSub(t)
	var want []string
	if !s.paused && len(s.queue) > 0 {
		want = append(want, s.handle())
	}
	wantOutcome(t, "Step", nil, s.step())
	wantEqual(t, want, m.j.take())
}

func (m *machine) RunUntilIdle(t *rapid.T) {
	var want []string
	for more := true; more; {
		more = false
		for _, s := range m.order {
			if s.handled && !s.paused && len(s.queue) > 0 {
				want = append(want, s.handle())
				more = true
			}
		}
	}
	n, err := m.b.RunUntilIdle(context.Background())
	wantOutcome(t, "RunUntilIdle", nil, err)
	if n != len(want) {
		t.Fatalf("handled %d, want %d", n, len(want))
	}
	wantEqual(t, want, m.j.take())
}

// Run is Run for as long as there's something to do.
func (m *machine) Run(t *rapid.T) {
	left := 0
	want := map[string][]string{}
	for _, s := range m.members() {
		for s.handled && !s.paused && len(s.queue) > 0 {
			want[s.name] = append(want[s.name], s.handle())
		}
	}
	for _, s := range m.members() {
		if s.handled {
			left++
		}
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	result := make(chan error, 1)
	go func() { result <- m.b.Run(ctx) }()
	synctest.Wait()
	cancel(errBoom)
	synctest.Wait()
	var wantErr error
	if !m.closed || left > 0 { // paused ones
		wantErr = errBoom
	}
	wantOutcome(t, "Run", wantErr, <-result)
	got := map[string][]string{}
	for _, line := range m.j.take() {
		name, _, _ := strings.Cut(line, " ")
		got[name] = append(got[name], line)
	}
	if len(want) == len(got) {
		for name := range want { // those of one name, of which one is closed, have no order
			slices.Sort(want[name])
			slices.Sort(got[name])
		}
	}
	wantEqual(t, want, got)
}

// Replay replays the letters of one topic.
func (m *machine) Replay(t *rapid.T) {
	topic, moved := drawTopicName().Draw(t, "topic"), 0
	closed, full := map[string]bool{}, map[string]bool{} // names of those that letters can't go back to
	for _, s := range m.subs {
		s.dead = slices.DeleteFunc(s.dead, func(msg modelMessage) bool {
			switch {
			case msg.topic != topic:
			case !s.open:
				closed[s.name] = true
			case len(s.queue) == capacity:
				full[s.name] = true
			default:
				moved++
				msg.replays++
				s.queue = append(s.queue, msg)
				return true
			}
			return false
		})
	}
	n, err := m.b.DeadLetters().Replay(context.Background(), func(l broker.Letter) bool { return l.Topic() == topic })
	if n != moved || err == nil != (len(closed)+len(full) == 0) || errors.Is(err, herald.ErrFull) != (len(full) > 0) {
		t.Fatalf("Replay = %d, %v; want %d, closed %v, full %v", n, err, moved, closed, full)
	}
	for name := range closed {
		if !full[name] && !errors.Is(err, herald.ErrClosed) { // else the one of that name now may stand for it
			t.Fatalf("Replay = %v; want closed %v, full %v", err, closed, full)
		}
	}
}

func (m *machine) Purge(t *rapid.T) {
	topic, want := drawTopicName().Draw(t, "topic"), 0
	for _, s := range m.subs {
		before := len(s.dead)
		s.dead = slices.DeleteFunc(s.dead, func(msg modelMessage) bool { return msg.topic == topic })
		want += before - len(s.dead)
	}
	if n := m.b.DeadLetters().Purge(func(l broker.Letter) bool { return l.Topic() == topic }); n != want {
		t.Fatalf("purged %d, want %d", n, want)
	}
}

// WaitIdle and Drain with a context that is done only look.
func (m *machine) WaitIdle(t *rapid.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errBoom)
	wantOutcome(t, "WaitIdle", m.whyNotIdle(), m.b.WaitIdle(ctx))
	if !m.closed {
		return
	}
	err := m.b.Drain(ctx)
	wantOutcome(t, "Drain", m.whyNotIdle(), err)
	var want, got []string
	for _, s := range m.members() {
		if len(s.queue) > 0 {
			want = append(want, fmt.Sprint(s.name, " ", len(s.queue)))
		}
	}
	if e, ok := errors.AsType[*herald.DrainError](err); ok {
		for _, s := range e.Left {
			got = append(got, fmt.Sprint(s.Name, " ", s.Queued))
		}
	}
	wantEqual(t, want, got)
}

func (m *machine) whyNotIdle() error {
	for _, s := range m.members() {
		if len(s.queue) > 0 {
			return errBoom
		}
	}
	return nil
}

func (m *machine) Close(t *rapid.T) {
	if rapid.IntRange(0, 9).Draw(t, "dice") > 0 {
		t.Skip("rarely")
	}
	m.closed = true
	for _, s := range m.subs {
		s.awaited = s.awaited || s.open
		m.leave(s)
	}
	wantOutcome(t, "Close", nil, m.b.Close())
}
