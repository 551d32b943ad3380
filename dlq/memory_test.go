package dlq

import (
	"context"
	"runtime"
	"testing"
	"weak"

	"github.com/heraldbus/herald"
)

type payload struct{ _ [64]byte }

// G36: however a letter leaves, its payload can be collected while queue and
// subscription live.
func TestG36_WhatLeftIsCollectable(t *testing.T) {
	const n = 50
	for name, leave := range map[string]func(f *fixture[*payload], fresh func()){
		"evicted": func(f *fixture[*payload], fresh func()) {
			for range n {
				fresh()
			}
			for range n {
				f.die(t, new(payload)) // these stay
			}
		},
		"replayed": func(f *fixture[*payload], fresh func()) {
			for range n {
				fresh()
			}
			f.Replay(context.Background(), nil)
			f.step(t, succeed)
		},
		"replayed from the middle": func(f *fixture[*payload], fresh func()) {
			f.die(t, new(payload))
			for range n - 2 {
				fresh()
			}
			f.die(t, new(payload))
			f.Replay(context.Background(), func(d herald.DeadLetter[*payload]) bool { return d.Seq != 1 && d.Seq != n })
			f.step(t, succeed)
		},
		"replayed by itself": func(f *fixture[*payload], fresh func()) {
			for range n {
				fresh()
			}
			for d := range f.All() {
				d.Replay(context.Background())
			}
			f.step(t, succeed)
			f.Len()
		},
		"replayed by itself, seen by a loop": func(f *fixture[*payload], fresh func()) {
			for range n {
				fresh()
			}
			for d := range f.All() {
				d.Replay(context.Background())
			}
			f.step(t, succeed)
			for range f.All() {
			}
		},
		"purged": func(f *fixture[*payload], fresh func()) {
			for range n {
				fresh()
			}
			f.Purge(nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture[*payload](t, n)
			var left []weak.Pointer[payload]
			elsewhere(func() {
				leave(f, func() {
					p := new(payload)
					left = append(left, weak.Make(p))
					f.die(t, p)
				})
			})
			runtime.GC()
			alive := 0
			for _, p := range left {
				if p.Value() != nil {
					alive++
				}
			}
			if len(left) == 0 || alive > 0 {
				t.Errorf("%d of %d are still reachable", alive, len(left))
			}
			runtime.KeepAlive(f)
		})
	}
}

// A slot that a snapshot still has keeps no other in memory.
func TestG36_SnapshotKeepsNoNeighbours(t *testing.T) {
	f := newFixture[*payload](t, 3)
	var gone weak.Pointer[payload]
	elsewhere(func() {
		f.die(t, new(payload))
		for range f.All() { // has the first slot only
			elsewhere(func() {
				p := new(payload)
				gone = weak.Make(p)
				f.die(t, p)
				f.Purge(nil)
			})
			runtime.GC()
			if gone.Value() != nil {
				t.Error("a purged letter is still reachable from a snapshot without it")
			}
		}
	})
}

// G34: a letter keeps neither its closed subscription nor the topic in memory.
func TestG34_ClosedSubscriptionIsUnreachable(t *testing.T) {
	q := New[int](10)
	var sub weak.Pointer[herald.Subscription[int]]
	var topic weak.Pointer[herald.Topic[int]]
	elsewhere(func() {
		f := newFixture[int](t, 1)
		f.tap = func(d letter) { q.Put(d) }
		f.die(t, 1)
		sub, topic = weak.Make(f.sub), weak.Make(newTopicWithLetter(t, q))
		f.sub.Close()
		f.sub = nil
		runtime.GC()
		if sub.Value() != nil {
			t.Error("a closed subscription is still reachable")
		}
		runtime.KeepAlive(f)
	})
	runtime.GC()
	if topic.Value() != nil {
		t.Error("a closed topic is still reachable from its dead letter")
	}
	if n, err := q.Replay(t.Context(), nil); n != 0 || err == nil || q.Len() != 2 {
		t.Errorf("Replay = %d, %v; left %d", n, err, q.Len())
	}
}

func newTopicWithLetter(t *testing.T, q *Queue[int]) *herald.Topic[int] {
	topic, err := herald.NewTopic[int]("orders")
	if err != nil {
		t.Fatal(err)
	}
	sub, err := topic.DeadLetterTo(q.Put).Subscribe("s")
	if err != nil {
		t.Fatal(err)
	}
	topic.Publish(t.Context(), 2, herald.WithTTL(1))
	sub.Stats()
	topic.Close()
	return topic
}

// elsewhere calls f on another goroutine, so that no stack remembers.
func elsewhere(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}
