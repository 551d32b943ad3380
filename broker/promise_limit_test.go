package broker_test

import (
	"fmt"
	"testing"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/broker"
)

// Beyond a limit there's a typed error, and nothing has changed (G2).
func TestG02_Limits(t *testing.T) {
	b := newBroker(t, broker.WithTopicLimit(2), broker.WithPatternLimit(2))
	topic[int](t, b, "a")
	topic[int](t, b, "b")
	_, err := broker.Topic[int](b, "c")
	wantErr(t, herald.ErrLimit, err)
	wantPlace(t, err, "c", "")
	topic[int](t, b, "a")

	match[int](t, b, "*", "one")
	handle(t, b, "exact", "two", ignore[int])
	_, err = broker.Match[int](b, ">").Subscribe("three")
	wantErr(t, herald.ErrLimit, err)
	wantPlace(t, err, ">", "three")
	wantEqual(t, []string{"a", "b"}, topics(b))
	wantEqual(t, []string{"one", "two"}, names(b))

	b.Delete("a")
	topic[int](t, b, "c")
	b.Unsubscribe("one")
	match[int](t, b, ">", "three")
}

// A topic that can't take all that match isn't made; a pattern that one of its topics can't take isn't either (G2).
func TestG02_SubscriptionLimitOfATopic(t *testing.T) {
	b := newBroker(t)
	match[int](t, b, ">", "one")
	two := match[int](t, b, "*", "two")
	_, err := broker.Topic[int](b, "small", herald.WithSubscriptionLimit(1))
	wantErr(t, herald.ErrLimit, err)
	wantEqual(t, nil, topics(b))
	two.Close()

	first := topic[int](t, b, "first")
	topic[int](t, b, "small", herald.WithSubscriptionLimit(1))
	sub, err := broker.Match[int](b, "*").Subscribe("two")
	wantErr(t, herald.ErrLimit, err)
	if sub != nil || first.Stats().Subscriptions != 1 {
		t.Errorf("Subscribe = %v, and the other topic has %d", sub, first.Stats().Subscriptions)
	}
	wantEqual(t, []string{"one"}, names(b))
	match[int](t, b, "first", "two")
}

// The dead letters are bounded; what had to leave is counted (G2, G28).
func TestG02_DeadLetterCapacity(t *testing.T) {
	b := newBroker(t, broker.WithDeadLetterCapacity(3))
	handle(t, b, ">", "s", noting[int](&journal{}, "s", errBoom), herald.WithRetry(never))
	for i := range 2 {
		publish(t, topic[int](t, b, fmt.Sprint(i)), 1, 2, 3)
	}
	untilIdle(t, b)
	var got []string
	for l := range b.DeadLetters().All() {
		got = append(got, fmt.Sprint(l.Topic(), l.Payload))
	}
	if d := b.DeadLetters(); d.Len() != 3 || d.Evicted() != 3 {
		t.Errorf("has %d, evicted %d", d.Len(), d.Evicted())
	}
	wantEqual(t, []string{"11", "12", "13"}, got)
}
