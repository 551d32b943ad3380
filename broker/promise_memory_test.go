package broker_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"weak"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/broker"
)

// elsewhere calls f on another goroutine, so that no stack remembers.
func elsewhere(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

type payload struct{ _ [64]byte }

// A deleted topic can be collected while the broker lives, with its subscriptions, its messages and whatever it was joined
// with; and so can a subscription that was unsubscribed (G34, G36).
func TestG34_WhatLeftIsCollectable(t *testing.T) {
	b := newBroker(t)
	keeper := topic[*payload](t, b, "keeper.x")
	match[*payload](t, b, ">", "stays")
	match[any](t, b, "*.*", "stays too")
	var topics []weak.Pointer[herald.Topic[*payload]]
	var subs []weak.Pointer[herald.Subscription[*payload]]
	var anys []weak.Pointer[herald.Subscription[any]]
	elsewhere(func() {
		for i := range 50 {
			name := fmt.Sprintf("gone.%d", i)
			gone := topic[*payload](t, b, name)
			direct, _ := gone.Subscribe("direct")
			attached, _ := gone.Subscribe("attached")
			pattern, wide := match[*payload](t, b, "*.*", "pattern"), match[any](t, b, ">", "wide")
			broker.Attach(b, attached, ignore)
			broker.Attach(b, wide, func(context.Context, herald.Message[any]) error { return errBoom })
			handle(t, b, ">", "handled", func(context.Context, herald.Message[*payload]) error { _ = gone; return errBoom }, herald.WithRetry(never))
			publish(t, gone, new(payload))
			publish(t, keeper, new(payload))
			topics = append(topics, weak.Make(gone))
			subs = append(subs, weak.Make(direct), weak.Make(attached), weak.Make(pattern))
			anys = append(anys, weak.Make(wide))
			for _, name := range []string{"pattern", "wide", "handled"} {
				b.Unsubscribe(name)
			}
			b.Delete(name)
		}
		if n := len(names(b)); n != 2+3*50 { // the handled ones still have something to do
			t.Errorf("%d subscriptions", n)
		}
		untilIdle(t, b)
	})
	runtime.GC()
	if alive := count(topics) + count(subs) + count(anys); alive > 0 {
		t.Errorf("%d topics, %d and %d subscriptions are still reachable", count(topics), count(subs), count(anys))
	}
	if n := b.DeadLetters().Len(); n != 4*50 {
		t.Errorf("%d letters, which should keep nobody", n)
	}
	wantEqual(t, []string{"stays", "stays too"}, names(b))
	runtime.KeepAlive(b)
}

func count[V any](ps []weak.Pointer[V]) (alive int) {
	for _, p := range ps {
		if p.Value() != nil {
			alive++
		}
	}
	return alive
}

// The same while a Run goes on (G34).
func TestG34_CollectableWhileRunning(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBroker(t)
		result := start(t.Context(), b)
		var subs []weak.Pointer[herald.Subscription[int]]
		for range 20 {
			sub := match[int](t, b, ">", "s")
			broker.Attach(b, sub, ignore)
			publish(t, topic[int](t, b, "x"), 1)
			b.Unsubscribe("s")
			subs = append(subs, weak.Make(sub))
			b.Delete("x")
			synctest.Wait()
		}
		runtime.GC()                         // before anybody asks the broker, which would tidy
		if alive := count(subs); alive > 1 { // the last may be on this stack
			t.Errorf("%d subscriptions are still reachable", alive)
		}
		wantEqual(t, nil, names(b))
		b.Close()
		<-result
	})
}

// Subscriptions that their users close, and whose end nobody tells, don't pile up (G2, G34).
func TestG34_NothingPilesUp(t *testing.T) {
	b := newBroker(t)
	x := topic[int](t, b, "x")
	var elsewhere herald.Topic[int]
	var subs []weak.Pointer[herald.Subscription[int]]
	for i := range 1000 {
		name := fmt.Sprint(i, " ")
		foreign, _ := elsewhere.Subscribe(name + "f")
		direct, _ := x.Subscribe(name + "d")
		pattern := match[int](t, b, "x", name+"p")
		for _, sub := range []*herald.Subscription[int]{foreign, direct, pattern} {
			if err := broker.Attach(b, sub, ignore); err != nil {
				t.Fatal(i, err)
			}
			sub.Close()
			subs = append(subs, weak.Make(sub))
		}
	}
	runtime.GC()
	if alive := count(subs); alive > 60 {
		t.Errorf("%d of %d are still reachable", alive, len(subs))
	}
	runtime.KeepAlive(b)
}

// An attached subscription that its user closes gives its name back once it's quiet, also where no Run notices (G1).
func TestG01_NameOfAnAttachedOne(t *testing.T) {
	b := newBroker(t)
	var elsewhere herald.Topic[int]
	for range 3 {
		sub, err := elsewhere.Subscribe("s")
		if err != nil {
			t.Fatal(err)
		}
		if err := broker.Attach(b, sub, ignore); err != nil {
			t.Error(err)
		}
		wantErr(t, herald.ErrDuplicate, broker.Handle(b, "x", "s", ignore[int]))
		sub.Close()
	}
	handle(t, b, "x", "s", ignore[int])
	wantEqual(t, []string{"s"}, names(b))
}

// Many opened and closed brokers leave nothing behind (G34); main_test.go looks for goroutines.
func TestG34_ManyBrokers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var brokers []weak.Pointer[broker.Broker]
		for range 200 {
			b := new(broker.Broker)
			handle(t, b, ">", "s", ignore[int], herald.WithConcurrency(3))
			publish(t, topic[int](t, b, "x"), 1, 2, 3)
			result := start(t.Context(), b)
			if err := b.Drain(t.Context()); err != nil {
				t.Error(err)
			}
			<-result
			brokers = append(brokers, weak.Make(b))
		}
		synctest.Wait()
		runtime.GC()
		if alive := count(brokers); alive > 1 { // the last may be on this stack
			t.Errorf("%d are still reachable", alive)
		}
	})
}
