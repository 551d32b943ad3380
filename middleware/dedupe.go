package middleware

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// Dedupe lets a subscription handle each ID once: a message whose ID is one of
// the n that were seen last isn't handled, and counts as delivered. That makes
// sense with IDs that the publisher gives, by [herald.WithID]; those that
// herald makes differ from each other always.
//
// What is remembered is success. An ID is recorded when an attempt at it has
// returned nil, and a failed attempt leaves no trace:
//
//	a message failed                          its retry is handled
//	it died, and is replayed                  it's handled, for nothing was recorded
//	it died, its publisher sent it again and  it's a duplicate: what it asks for
//	  that succeeded, then it's replayed        has been done
//	it succeeded and is sent again            it's a duplicate, while the ID is remembered
//	two with the same ID at the same time     one is handled, and the other one's
//	                                            attempt fails
//
// The last needs a concurrency above 1. That the other's attempt fails means
// that it's tried again in a moment, whatever the retry policy says: after 1 ms, then
// twice that, and so on up to 1 s. So it's a duplicate if the first succeeds, and
// takes its turn if the first fails. Nobody waits inside of Dedupe, but each of
// these attempts counts for [herald.Meta.Attempt] and the retry policy. To do
// without them, make the ID the key: messages of one key are never handled at the same time.
//
// The window holds exactly n IDs. To make room, the one goes that was seen
// least recently: to be recognized as a duplicate is to be seen. Memory
// follows the IDs that are remembered. Each subscription has a window of its own,
// which begins empty and ends with it; one that must last needs a store in the
// handler's own transaction. An n below 1 is an error at Subscribe.
func Dedupe(n int) herald.Middleware {
	return func(next herald.Next) herald.Next {
		if n < 1 {
			panic(fmt.Errorf("middleware.Dedupe: a window of %d IDs", n))
		}
		d := &dedupe{next: next, done: newWindow(n), running: map[string]bool{}}
		return d.attempt
	}
}

// A dedupe is the Dedupe of one subscription. An ID is in running while an
// attempt at it is under way, in done after it succeeded, and never in both.
type dedupe struct {
	next herald.Next

	mu      sync.Mutex // protects all below; a leaf
	done    window
	running map[string]bool // at most as many as there are workers
}

// A state is what is known about an ID.
type state uint8

const (
	fresh state = iota
	running
	done
)

var errRunning = errors.New("another attempt at a message with the same ID is under way")

func (d *dedupe) attempt(ctx context.Context, m herald.Meta) error {
	id := m.ID()
	if id == "" { // not published: somebody tests a middleware
		return d.next(ctx, m)
	}
	switch d.begin(id) {
	case done:
		return nil
	case running:
		return policy.RetryAfter(pause(m.Attempt), errRunning)
	}
	ok := false
	defer func() { d.end(id, ok) }() // also when next panics or exits
	err := d.next(ctx, m)
	ok = err == nil
	return err
}

// begin makes the attempt the one that is under way, if its ID is fresh.
func (d *dedupe) begin(id string) state {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.done.see(id):
		return done
	case d.running[id]:
		return running
	}
	d.running[id] = true
	return fresh
}

func (d *dedupe) end(id string, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.running, id)
	if ok {
		d.done.add(id)
	}
}

// pause is how long an attempt steps back for another one at the same ID.
func pause(attempt int32) time.Duration {
	const limit = 10 // 1 ms << 10 is the first above 1 s
	return min(time.Millisecond<<min(max(attempt, 1)-1, limit), time.Second)
}
