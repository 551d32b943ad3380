// Package dlqtest checks that a dead-letter store of one's own keeps what
// herald promises of dead letters. One call in a test of yours runs all the
// checks:
//
//	func TestMyStore(t *testing.T) {
//		dlqtest.TestStore(t, func(t *testing.T, capacity int) dlqtest.Store {
//			return mystore.New[int](t.TempDir(), capacity)
//		})
//	}
//
// What the checks report is what would go wrong in production: a letter that
// is lost, kept twice or changed, a replay that happens twice or loses the letter
// when the subscription is full, a store without bound, a deadlock where the
// store is used from inside a loop over it, a data race (run with -race).
package dlqtest

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/heraldbus/herald"
)

// A Store keeps dead letters of int payloads; [dlq.Queue] is one. Its method
// Put is what a view's DeadLetterTo takes.
//
// [dlq.Queue]: https://pkg.go.dev/github.com/heraldbus/herald/dlq#Queue
type Store interface {
	// Put keeps a letter, in the place of the oldest if the store is full. It
	// may be called by any goroutine. A letter that was replayed before need
	// not be kept.
	Put(herald.DeadLetter[int]) error
	// Len returns how many letters there are, without those replayed.
	Len() int
	// All yields the letters, the oldest first. The body may use the store.
	All() iter.Seq[herald.DeadLetter[int]]
	// Replay sends those back for which match returns true, the oldest first,
	// and returns how many that were. Those that could not be sent back stay.
	// A nil match means all.
	Replay(ctx context.Context, match func(herald.DeadLetter[int]) bool) (int, error)
	// Purge removes those for which match returns true, and returns how many.
	Purge(match func(herald.DeadLetter[int]) bool) int
}

// TestStore runs all checks on stores that open makes. open is called once or
// more for each check, with the capacity that the store is to have.
func TestStore(t *testing.T, open func(t *testing.T, capacity int) Store) {
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			c.run(t, func(capacity int) *fixture { return newFixture(t, open(t, capacity)) })
		})
	}
}

// A fixture is a store behind a subscription whose messages die.
type fixture struct {
	Store
	topic *herald.Topic[int]
	sub   *herald.Subscription[int]
}

const fixtureCapacity = 4

func newFixture(t *testing.T, s Store) *fixture {
	t.Helper()
	f := &fixture{Store: s, topic: new(herald.Topic[int])}
	var err error
	f.sub, err = f.topic.DeadLetterTo(s.Put).Subscribe("sub", herald.WithCapacity(fixtureCapacity))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		f.topic.Close()
		f.sub.Discard()
	})
	return f
}

// payloads are what the store has, in its order.
func (f *fixture) payloads() string {
	list := []int{}
	for d := range f.All() {
		list = append(list, d.Payload)
	}
	return fmt.Sprint(list)
}
