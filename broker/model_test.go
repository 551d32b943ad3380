package broker_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/broker"
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
