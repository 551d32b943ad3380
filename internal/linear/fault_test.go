package linear

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/heraldbus/herald/policy"
	"github.com/heraldbus/herald/queue"
)

// TestFaultsAreNoticed shows that the check can fail: the histories of queues
// with a fault each are not linearizable.
func TestFaultsAreNoticed(t *testing.T) {
	const capacity = 4
	for name, faulty := range map[string]func(q queueAPI) queueAPI{
		"loses an element":        func(q queueAPI) queueAPI { return &loses{queueAPI: q} },
		"gives one twice":         func(q queueAPI) queueAPI { return &repeats{queueAPI: q} },
		"lets one overtake":       func(q queueAPI) queueAPI { return &reorders{queueAPI: q} },
		"counts beside the queue": func(q queueAPI) queueAPI { return &counts{queueAPI: q} },
		"says full too early":     func(q queueAPI) queueAPI { return &timid{queueAPI: q} },
		"takes after its Close":   func(q queueAPI) queueAPI { return &neverClosed{queueAPI: q} },
	} {
		h := record(newQueueSubject(faulty(queue.New[element](capacity))), 1)
		if r := porcupine.CheckOperationsTimeout(queueModel(capacity), h, patience); r != porcupine.Illegal {
			t.Errorf("a queue that %s: %v", name, r)
		}
	}
}

// Each fault shows after a while: on every tenth call, for those that count.
type tenth struct{ n atomic.Int32 }

func (c *tenth) hit() bool { return c.n.Add(1)%10 == 0 }

type loses struct {
	queueAPI
	tenth
}

func (q *loses) TryPush(e element, p policy.Priority) error {
	err := q.queueAPI.TryPush(e, p)
	if err == nil && q.hit() {
		q.TryPop()
	}
	return err
}

type repeats struct {
	queueAPI
	last atomic.Pointer[element]
}

func (q *repeats) TryPop() (element, bool) {
	e, ok := q.queueAPI.TryPop()
	if ok {
		q.last.Store(&e)
	} else if last := q.last.Swap(nil); last != nil {
		return *last, true
	}
	return e, ok
}

type reorders struct{ queueAPI }

func (q *reorders) TryPop() (element, bool) {
	first, ok := q.queueAPI.TryPop()
	if second, more := q.queueAPI.TryPop(); more {
		q.queueAPI.TryPush(first, first.priority)
		return second, true
	}
	return first, ok
}

// counts knows its length from a number that it keeps beside the queue.
type counts struct {
	queueAPI
	n atomic.Int32
}

func (q *counts) Push(ctx context.Context, e element, p policy.Priority) error {
	err := q.queueAPI.Push(ctx, e, p)
	if err == nil {
		q.n.Add(1)
	}
	return err
}

func (q *counts) TryPush(e element, p policy.Priority) error {
	err := q.queueAPI.TryPush(e, p)
	if err == nil {
		q.n.Add(1)
	}
	return err
}

func (q *counts) Pop(ctx context.Context) (element, error) {
	e, err := q.queueAPI.Pop(ctx)
	if err == nil {
		q.n.Add(-1)
	}
	return e, err
}

func (q *counts) TryPop() (element, bool) {
	e, ok := q.queueAPI.TryPop()
	if ok {
		q.n.Add(-1)
	}
	return e, ok
}

func (q *counts) Len() int { return int(q.n.Load()) }

type timid struct {
	queueAPI
	tenth
}

func (q *timid) TryPush(e element, p policy.Priority) error {
	if q.hit() {
		return queue.ErrFull
	}
	return q.queueAPI.TryPush(e, p)
}

type neverClosed struct{ queueAPI }

func (q *neverClosed) Close() error { return nil }
