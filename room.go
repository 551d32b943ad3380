package herald

import (
	"sync/atomic"

	"github.com/heraldbus/herald/policy"
)

// A waiter is a message that one publish left with one full subscription,
// until there is room, the subscription closes, or the publish gives up.
// The core's mutex protects it while waits is true; afterwards the publish
// alone reads it.
type waiter struct {
	core       *core
	item       *item // nil once it's answered
	publish    *publishing
	plan       policy.Action // the Block that it waits under
	since      int64         // clock at the beginning of the wait
	until      int64         // clock at which Block's time is up; 0: never; written by the publish alone
	prev, next *waiter
	waits      bool
	outcome    outcome // once it waits no more
	err        error   // of a refusal
}

// waiters is the line of those who wait for room in one subscription, first
// come, first served.
type waiters struct {
	first, last *waiter
	n           int
}

func (l *waiters) push(w *waiter) {
	w.waits = true
	w.prev, w.next = l.last, nil
	if l.last != nil {
		l.last.next = w
	} else {
		l.first = w
	}
	l.last = w
	l.n++
}

// remove takes w out of the line with its answer. The caller tells the
// publish, after the mutex is free, by passing the result to answered.
func (l *waiters) remove(w *waiter, o outcome, err error) *publishing {
	if w.prev != nil {
		w.prev.next = w.next
	} else {
		l.first = w.next
	}
	if w.next != nil {
		w.next.prev = w.prev
	} else {
		l.last = w.prev
	}
	l.n--
	w.prev, w.next, w.waits, w.item = nil, nil, false, nil
	w.outcome, w.err = o, err
	return w.publish
}

// admit lets waiters in while there is room.
func (c *core) admit() answers {
	var a answers
	for w := c.waiting.first; w != nil && c.hasRoom(); w = c.waiting.first {
		it := w.item
		a.add(c.waiting.remove(w, taken, nil))
		c.accept(it)
	}
	return a
}

// release lets all waiters go: the subscription closes.
func (c *core) release() answers {
	var a answers
	for w := c.waiting.first; w != nil; w = c.waiting.first {
		c.spare.give(w.item)
		a.add(c.waiting.remove(w, absent, nil))
	}
	return a
}

// A publishing is a Publish that waits for room in one or more subscriptions.
type publishing struct {
	worker  *worker // in whose handler it happens; nil: none
	waiters []*waiter
	open    atomic.Int32  // waiters without an answer, plus 1 until all are in line
	alarm   atomic.Int64  // clock at which it looks by itself; 0: it doesn't sit yet
	token   chan struct{} // of size 1: open is 0, or something is due before alarm
}

func newPublishing() *publishing {
	p := &publishing{token: make(chan struct{}, 1)}
	p.open.Store(1)
	return p
}

// answer notes that one more waiter has its answer.
func (p *publishing) answer() {
	if p.open.Add(-1) == 0 {
		p.wake()
	}
}

// wake lets p look. A token that is there already serves as well.
func (p *publishing) wake() {
	select {
	case p.token <- struct{}{}:
	default:
	}
}

// watchful returns the first publish in line if something is due before it
// would look by itself: it must, as all workers may be waiting (G9).
func (c *core) watchful() *publishing {
	if c.waiting.first == nil {
		return nil
	}
	p := c.waiting.first.publish
	if next, alarm := c.lane.NextEvent(), p.alarm.Load(); next == 0 || alarm == 0 || alarm <= next {
		return nil
	}
	return p
}

// answers are the publishes to tell once the mutex is free. There's mostly
// one at a time.
type answers struct {
	one  *publishing
	more []*publishing
}

func (a *answers) add(p *publishing) {
	if a.one == nil {
		a.one = p
		return
	}
	a.more = append(a.more, p)
}

func (a answers) answered() {
	if a.one != nil {
		a.one.answer()
	}
	for _, p := range a.more {
		p.answer()
	}
}
