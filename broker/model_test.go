package broker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/broker"
	"github.com/heraldbus/herald/policy"
)

// TestG31_G33_Model runs random calls against a model of names, patterns, types, handlers, dead letters and both run
// modes. It is the specification of this package (G1, G3, G29, G31, G32, G33).
func TestG31_G33_Model(t *testing.T) {
	check(t, func(t *rapid.T) {
		rapid.SyncTest(t, func(t *rapid.T) {
			m := &machine{b: newBroker(t, broker.WithTopicLimit(topicLimit), broker.WithPatternLimit(patternLimit))}
			t.Repeat(rapid.StateMachineActions(m))
		})
	})
}

const topicLimit, patternLimit, capacity = 4, 5, 3

// A modelTopic is a topic of ints, strings or orders.
type modelTopic struct {
	name, kind string
	close      func() error
}

// A modelMessage is one message in one subscription.
type modelMessage struct {
	topic   string
	n       int
	replays int
}

func (m modelMessage) fails() bool { return m.n%4 == 0 && m.replays == 0 }

// A modelSub is a subscription.
type modelSub struct {
	name, pattern, kind string
	of                  *modelTopic // of which it was made directly
	open, handled       bool
	awaited, paused     bool
	queue, dead         []modelMessage

	attach, step, close func() error
	pause, resume       func()
	stats               func() herald.SubStats
}

func (s *modelSub) takes(t *modelTopic) bool {
	switch s.kind {
	case "any":
		return true
	case "event":
		return t.kind == "order"
	}
	return s.kind == t.kind
}

func (s *modelSub) accept(m modelMessage) {
	if len(s.queue) < capacity {
		s.queue = append(s.queue, m)
	} else {
		s.dead = append(s.dead, m)
	}
}

// handle handles the first message that is queued, and says so.
func (s *modelSub) handle() string {
	m := s.queue[0]
	s.queue = s.queue[1:]
	if m.fails() {
		s.dead = append(s.dead, m)
	}
	return fmt.Sprint(s.name, " ", m.topic, " ", m.n)
}

// A machine drives a broker and its model by the same calls. Its exported methods are the actions.
type machine struct {
	b      *broker.Broker
	j      journal
	topics []*modelTopic
	subs   []*modelSub // all that ever were
	order  []*modelSub // members, in order of their joining
	closed bool
	n      int
}

func drawTopicName() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"a", "b", "a.a", "a.b", "a.b.c"})
}

func drawPattern() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"a", "*", ">", "a.*", "a.>", "*.b", "a.b.c", "x"})
}

var subNames = []string{"s", "t", "u", "v", "w"}

// naive is the naive matcher.
func naive(pattern, name string) bool {
	ps, ns := strings.Split(pattern, "."), strings.Split(name, ".")
	for i, p := range ps {
		if p == ">" {
			return len(ns) > i
		}
		if i >= len(ns) || p != "*" && p != ns[i] {
			return false
		}
	}
	return len(ps) == len(ns)
}

func (m *machine) topic(name string) *modelTopic {
	i := slices.IndexFunc(m.topics, func(t *modelTopic) bool { return t.name == name })
	if i < 0 {
		return nil
	}
	return m.topics[i]
}

func (m *machine) named(name string) *modelSub {
	i := slices.IndexFunc(m.subs, func(s *modelSub) bool { return s.open && s.name == name })
	if i < 0 {
		return nil
	}
	return m.subs[i]
}

func (m *machine) drawSub(t *rapid.T) *modelSub {
	if len(m.subs) == 0 {
		t.Skip("no subscriptions")
	}
	return rapid.SampledFrom(m.subs).Draw(t, "sub")
}

// errType stands for any *TypeError.
var errType = errors.New("type error")

func wantOutcome(t *rapid.T, call string, want, err error) {
	t.Helper()
	_, isType := errors.AsType[*broker.TypeError](err)
	if want == nil && err != nil || want == errType && !isType || want != errType && !errors.Is(err, want) {
		t.Fatalf("%s = %v, want %v", call, err, want)
	}
}

func (m *machine) Topic(t *rapid.T) {
	name := drawTopicName().Draw(t, "name")
	kind := rapid.SampledFrom([]string{"int", "string", "order"}).Draw(t, "kind")
	var want error
	switch there := m.topic(name); {
	case m.closed:
		want = herald.ErrClosed
	case there != nil && there.kind != kind:
		want = errType
	case there == nil && len(m.topics) == topicLimit:
		want = herald.ErrLimit
	case there == nil:
		m.topics = append(m.topics, &modelTopic{name: name, kind: kind})
	}
	var err error
	switch kind {
	case "int":
		err = second(broker.Topic[int](m.b, name))
	case "string":
		err = second(broker.Topic[string](m.b, name))
	case "order":
		err = second(broker.Topic[order](m.b, name))
	}
	wantOutcome(t, "Topic", want, err)
}

func (m *machine) Delete(t *rapid.T) {
	name := drawTopicName().Draw(t, "name")
	var want error
	there := m.topic(name)
	if there == nil {
		want = broker.ErrNotFound
	}
	for _, s := range m.subs {
		if there != nil && s.of == there {
			m.leave(s)
		}
	}
	m.topics = slices.DeleteFunc(m.topics, func(t *modelTopic) bool { return t == there })
	wantOutcome(t, "Delete", want, m.b.Delete(name))
}

func (m *machine) Publish(t *rapid.T) {
	name := drawTopicName().Draw(t, "name")
	m.n++
	there, kind := m.topic(name), "int"
	if there != nil {
		kind = there.kind
	}
	var want error
	switch {
	case m.closed:
		want = herald.ErrClosed
	case there == nil:
		want = broker.ErrNotFound
	default:
		for _, s := range m.subs {
			if s.open && (s.of == there || s.of == nil && naive(s.pattern, name) && s.takes(there)) {
				s.accept(modelMessage{topic: name, n: m.n})
			}
		}
	}
	var err error
	ctx := context.Background()
	switch kind {
	case "int":
		err = broker.Publish(ctx, m.b, name, m.n)
	case "string":
		err = broker.Publish(ctx, m.b, name, fmt.Sprint(m.n))
	default:
		err = broker.Publish(ctx, m.b, name, order{m.n})
	}
	wantOutcome(t, "Publish", want, err)
}

// Subscribe makes a subscription, by Match or Handle.
func (m *machine) Subscribe(t *rapid.T) {
	name, pattern := rapid.SampledFrom(subNames).Draw(t, "name"), drawPattern().Draw(t, "pattern")
	handled := rapid.Bool().Draw(t, "handled")
	switch kind := rapid.SampledFrom([]string{"int", "string", "event", "any"}).Draw(t, "kind"); kind {
	case "int":
		subscribeModel[int](t, m, &modelSub{name: name, pattern: pattern, kind: kind, handled: handled})
	case "string":
		subscribeModel[string](t, m, &modelSub{name: name, pattern: pattern, kind: kind, handled: handled})
	case "event":
		subscribeModel[event](t, m, &modelSub{name: name, pattern: pattern, kind: kind, handled: handled})
	case "any":
		subscribeModel[any](t, m, &modelSub{name: name, pattern: pattern, kind: kind, handled: handled})
	}
}

func subscribeModel[V any](t *rapid.T, m *machine, s *modelSub) {
	open := 0
	for _, o := range m.subs {
		if o.open && o.of == nil {
			open++
		}
	}
	var want error
	switch there := m.topic(s.pattern); {
	case m.closed:
		want = herald.ErrClosed
	case m.named(s.name) != nil:
		want = herald.ErrDuplicate
	case open == patternLimit:
		want = herald.ErrLimit
	case there != nil && !s.takes(there):
		want = errType
	}
	view := broker.Match[V](m.b, s.pattern)
	sub, err := view.Subscribe(s.name, herald.WithCapacity(capacity))
	wantOutcome(t, "Subscribe", want, err)
	if want != nil {
		return
	}
	join(m, s, sub)
	if s.handled {
		wantOutcome(t, "Attach", nil, s.attach())
	}
}

// SubscribeTopic makes a subscription of a topic directly.
func (m *machine) SubscribeTopic(t *rapid.T) {
	if len(m.topics) == 0 {
		t.Skip("no topics")
	}
	of := rapid.SampledFrom(m.topics).Draw(t, "topic")
	s := &modelSub{name: rapid.SampledFrom(subNames).Draw(t, "name"), kind: of.kind, of: of}
	switch of.kind {
	case "int":
		subscribeTopicModel[int](t, m, s)
	case "string":
		subscribeTopicModel[string](t, m, s)
	case "order":
		subscribeTopicModel[order](t, m, s)
	}
}

func subscribeTopicModel[V any](t *rapid.T, m *machine, s *modelSub) {
	var want error
	switch {
	case m.closed:
		want = herald.ErrClosed
	case m.named(s.name) != nil:
		want = herald.ErrDuplicate
	}
	topic, err := broker.Lookup[V](m.b, s.of.name)
	if err != nil {
		t.Fatal(err)
	}
	sub, err := topic.Subscribe(s.name, herald.WithCapacity(capacity))
	wantOutcome(t, "topic.Subscribe", want, err)
	if want == nil {
		join(m, s, sub)
	}
}

// join notes a new subscription.
func join[V any](m *machine, s *modelSub, sub *herald.Subscription[V]) {
	h := func(_ context.Context, msg herald.Message[V]) error {
		n := 0
		switch v := any(msg.Payload).(type) {
		case int:
			n = v
		case string:
			fmt.Sscan(v, &n)
		case order:
			n = v.ID
		}
		m.j.note("%s %s %d", s.name, msg.Topic(), n)
		if (modelMessage{n: n, replays: msg.Replays()}).fails() {
			return policy.Permanent(errBoom)
		}
		return nil
	}
	s.open = true
	s.attach = func() error { return broker.Attach(m.b, sub, h) }
	s.step = func() error { return second(sub.Step(context.Background(), h)) }
	s.pause, s.resume, s.close, s.stats = sub.Pause, sub.Resume, sub.Close, sub.Stats
	m.subs = append(m.subs, s)
	m.order = append(m.order, s)
}

// leave models the end of s as an open member.
func (m *machine) leave(s *modelSub) { s.open = false }

// members models who is one: in order, what is open, or has to be handled or waited for.
func (m *machine) members() []*modelSub {
	m.order = slices.DeleteFunc(m.order, func(s *modelSub) bool {
		return !s.open && (!s.handled && !s.awaited || len(s.queue) == 0)
	})
	return m.order
}

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
	topic := drawTopicName().Draw(t, "topic")
	moved, closed, full := 0, false, false
	for _, s := range m.subs {
		s.dead = slices.DeleteFunc(s.dead, func(msg modelMessage) bool {
			switch {
			case msg.topic != topic:
			case !s.open:
				closed = true
			case len(s.queue) == capacity:
				full = true
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
	if n != moved || errors.Is(err, herald.ErrClosed) != closed || errors.Is(err, herald.ErrFull) != full || err == nil != !(closed || full) {
		t.Fatalf("Replay = %d, %v; want %d, closed %t, full %t", n, err, moved, closed, full)
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

// Check is called after each action.
func (m *machine) Check(t *rapid.T) {
	var wantTopics, wantNames []string
	for _, topic := range m.topics {
		wantTopics = append(wantTopics, topic.name)
	}
	for _, s := range m.members() {
		wantNames = append(wantNames, s.name)
	}
	wantEqual(t, wantTopics, topics(m.b))
	wantEqual(t, wantNames, names(m.b))
	dead := 0
	for _, s := range m.subs {
		stats := s.stats()
		if int(stats.Queued) != len(s.queue) || stats.Closed == s.open || stats.Paused != s.paused {
			t.Fatalf("%s: %+v, want %d queued, open %t", s.name, stats, len(s.queue), s.open)
		}
		dead += len(s.dead)
	}
	if n := m.b.DeadLetters().Len(); n != dead {
		t.Fatalf("%d letters, want %d", n, dead)
	}
}
