package broker_test

import (
	"context"
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/broker"
	"github.com/heraldbus/herald/policy"
)

// The machine's actions that make and delete.

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
