package queue

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/heraldbus/herald/policy"
)

// TestG11_Model runs random calls, waiting ones included, against a model of
// sorted slices, and compares every result after every step. It is the
// specification of this package.
func TestG11_Model(t *testing.T) {
	check(t, func(t *rapid.T) {
		rapid.SyncTest(t, func(t *rapid.T) {
			capacity := rapid.IntRange(0, 5).Draw(t, "capacity")
			m := &machine{q: New[int](capacity), model: model{capacity: max(capacity, 1)}}
			t.Cleanup(m.release)
			t.Repeat(rapid.StateMachineActions(m))
		})
	})
}

// A model is what a queue should be: queued sorted by priority, then by
// acceptance, and two lines.
type model struct {
	capacity         int
	queued           []*call
	pushers, poppers []*call
	closed           bool
}

// A call is a call of the queue under test. What it should return is decided by
// the model; what it did return is written by its goroutine.
type call struct {
	elem     int
	priority policy.Priority
	cancel   context.CancelCauseFunc

	wantDone, done bool
	wantElem, got  int
	wantErr, err   error
}

func (c *call) settle(elem int, err error) {
	c.wantDone, c.wantElem, c.wantErr = true, elem, err
}

// offer is what all pushes have in common; false means full.
func (m *model) offer(c *call) bool {
	switch {
	case m.closed:
		c.settle(0, ErrClosed)
	case len(m.poppers) > 0:
		m.poppers[0].settle(c.elem, nil)
		m.poppers = m.poppers[1:]
		c.settle(0, nil)
	case len(m.queued) < m.capacity:
		m.insert(c)
		c.settle(0, nil)
	default:
		return false
	}
	return true
}

func (m *model) insert(c *call) {
	m.queued = append(m.queued, c)
	slices.SortStableFunc(m.queued, func(a, b *call) int { return cmp.Compare(b.priority, a.priority) })
}

// next is what all pops have in common; false means empty.
func (m *model) next(c *call) bool {
	if len(m.queued) == 0 {
		return false
	}
	c.settle(m.queued[0].elem, nil)
	m.queued = m.queued[1:]
	if len(m.pushers) > 0 {
		m.insert(m.pushers[0])
		m.pushers[0].settle(0, nil)
		m.pushers = m.pushers[1:]
	}
	return true
}

// evict makes room for c, and returns what had to go.
func (m *model) evict(c *call) (victim int) {
	lowest := m.queued[len(m.queued)-1].priority
	if c.priority < lowest {
		return c.elem
	}
	i := slices.IndexFunc(m.queued, func(o *call) bool { return o.priority == lowest })
	victim = m.queued[i].elem
	m.queued = slices.Delete(m.queued, i, i+1)
	m.insert(c)
	return victim
}

// A machine drives a queue and its model by the same calls. Its exported methods
// are the actions.
type machine struct {
	q     *Queue[int]
	model model
	calls []*call
}

func (m *machine) draw(t *rapid.T) *call {
	c := &call{elem: len(m.calls) + 1, priority: rapid.SampledFrom(priorities).Draw(t, "priority")}
	m.calls = append(m.calls, c)
	return c
}

// start runs f, which may wait, on a goroutine of its own.
func (m *machine) start(c *call, f func(ctx context.Context) (int, error)) {
	ctx, cancel := context.WithCancelCause(context.Background())
	c.cancel = cancel
	go func() {
		c.got, c.err = f(ctx)
		c.done = true
	}()
}

func (m *machine) Push(t *rapid.T) {
	c := m.draw(t)
	if !m.model.offer(c) {
		m.model.pushers = append(m.model.pushers, c)
	}
	m.start(c, func(ctx context.Context) (int, error) { return 0, m.q.Push(ctx, c.elem, c.priority) })
}

func (m *machine) TryPush(t *rapid.T) {
	c := m.draw(t)
	if !m.model.offer(c) {
		c.settle(0, ErrFull)
	}
	c.done, c.err = true, m.q.TryPush(c.elem, c.priority)
}

func (m *machine) PushEvict(t *rapid.T) {
	c := m.draw(t)
	wantEvicted := !m.model.offer(c)
	if wantEvicted {
		c.settle(m.model.evict(c), nil)
	}
	var evicted bool
	c.got, evicted, c.err = m.q.PushEvict(c.elem, c.priority)
	if c.done = true; evicted != wantEvicted {
		t.Fatalf("PushEvict evicted: %t, want %t", evicted, wantEvicted)
	}
}

func (m *machine) Pop(t *rapid.T) {
	c := m.draw(t)
	switch {
	case m.model.next(c):
	case m.model.closed:
		c.settle(0, ErrClosed)
	default:
		m.model.poppers = append(m.model.poppers, c)
	}
	m.start(c, m.q.Pop)
}

func (m *machine) TryPop(t *rapid.T) {
	c := m.draw(t)
	wantOK := m.model.next(c)
	got, ok := m.q.TryPop()
	if got != c.wantElem || ok != wantOK {
		t.Fatalf("TryPop = %d, %t, want %d, %t", got, ok, c.wantElem, wantOK)
	}
	c.settle(got, nil)
	c.got, c.done = got, true
}

var errGaveUp = errors.New("gave up")

// Cancel ends the context of any call, so that the one who leaves stands
// anywhere in its line, or is long gone.
func (m *machine) Cancel(t *rapid.T) {
	waiting := slices.Concat(m.model.pushers, m.model.poppers)
	if len(waiting) == 0 {
		t.Skip("nobody waits")
	}
	c := rapid.SampledFrom(waiting).Draw(t, "who")
	c.settle(0, errGaveUp)
	gone := func(o *call) bool { return o == c }
	m.model.pushers = slices.DeleteFunc(m.model.pushers, gone)
	m.model.poppers = slices.DeleteFunc(m.model.poppers, gone)
	c.cancel(errGaveUp)
}

// Close is rare, or most runs would be about closed queues.
func (m *machine) Close(t *rapid.T) {
	if rapid.IntRange(0, 9).Draw(t, "close if 9") < 9 {
		t.Skip("not now")
	}
	for _, c := range slices.Concat(m.model.pushers, m.model.poppers) {
		c.settle(0, ErrClosed)
	}
	m.model.closed, m.model.pushers, m.model.poppers = true, nil, nil
	if err := m.q.Close(); err != nil {
		t.Fatalf("Close = %v", err)
	}
}

func (m *machine) Check(t *rapid.T) {
	synctest.Wait()
	for _, c := range m.calls {
		if c.done != c.wantDone || c.got != c.wantElem || c.err != c.wantErr {
			t.Fatalf("call %d: done %t, %d, %v; want done %t, %d, %v",
				c.elem, c.done, c.got, c.err, c.wantDone, c.wantElem, c.wantErr)
		}
	}
	if got, want := m.q.Len(), len(m.model.queued); got != want {
		t.Fatalf("Len = %d, want %d", got, want)
	}
	sound(t, m.q)
}

// release lets all goroutines of the bubble end, also after a failure.
func (m *machine) release() {
	m.q.Close()
	for _, c := range m.calls {
		if c.cancel != nil {
			c.cancel(nil)
		}
	}
}
