package linear

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/heraldbus/herald/policy"
	"github.com/heraldbus/herald/queue"
)

// TestQueueIsLinearizable shows that a queue of any small capacity does what a
// sorted list with a bound would, however many use it: no element is lost or comes
// twice, none overtakes another, it's full and empty exactly when it should be.
func TestQueueIsLinearizable(t *testing.T) {
	for _, capacity := range []int{1, 2, 4} {
		check(t, fmt.Sprintf("queue-%d", capacity), queueModel(capacity), func(seed uint64) subject {
			return newQueueSubject(queue.New[element](capacity))
		})
	}
}

// An element says who it is.
type element struct {
	id       uint16
	priority policy.Priority
}

// A queueOp is what was asked of the queue, and a queueResult what came of it.
type queueOp struct {
	kind kind
	elem element // pushed
}

type queueResult struct {
	elem element // popped, or evicted
	ok   bool    // there is one
	n    int     // Len
	err  error   // one of queue's, or errCancelled
}

type kind string

const (
	push    kind = "Push"
	tryPush kind = "TryPush"
	evict   kind = "PushEvict"
	pop     kind = "Pop"
	tryPop  kind = "TryPop"
	length  kind = "Len"
	closing kind = "Close"
)

var errCancelled = errors.New("cancelled")

// queueAPI is what a queue can do; the faulty ones too.
type queueAPI interface {
	Push(context.Context, element, policy.Priority) error
	TryPush(element, policy.Priority) error
	PushEvict(element, policy.Priority) (element, bool, error)
	Pop(context.Context) (element, error)
	TryPop() (element, bool)
	Len() int
	Close() error
}

// A queueSubject lets clients use a queue.
type queueSubject struct {
	queueAPI
	ids    atomic.Uint32
	rounds atomic.Int64 // of stop

	mu      sync.Mutex // protects cancels
	cancels [clients]context.CancelFunc
}

func newQueueSubject(q queueAPI) *queueSubject { return &queueSubject{queueAPI: q} }

// stop ends one wait, now and then.
func (s *queueSubject) stop() {
	round := s.rounds.Add(1)
	if round%8 != 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.cancels[round/8%clients]; cancel != nil {
		cancel()
	}
}

// patient returns a context that stop may end.
func (s *queueSubject) patient(client int) context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancels[client] = func() { cancel(errCancelled) }
	return ctx
}

func (s *queueSubject) do(r *recorder, client int, rand *rand.Rand) {
	kinds := []kind{push, push, tryPush, evict, pop, pop, tryPop, length}
	op := queueOp{kind: kinds[rand.IntN(len(kinds))]}
	if id := s.ids.Add(1); id == operations*9/10 {
		op.kind = closing
	} else {
		op.elem = element{uint16(id), policy.Priority(rand.IntN(3)) + policy.Low}
	}
	ctx := s.patient(client)
	r.call(client, rand, op, func() any { return s.carryOut(ctx, op) })
}

func (s *queueSubject) carryOut(ctx context.Context, op queueOp) (r queueResult) {
	switch e := op.elem; op.kind {
	case push:
		r.err = s.Push(ctx, e, e.priority)
	case tryPush:
		r.err = s.TryPush(e, e.priority)
	case evict:
		r.elem, r.ok, r.err = s.PushEvict(e, e.priority)
	case pop:
		r.elem, r.err = s.Pop(ctx)
		r.ok = r.err == nil
	case tryPop:
		r.elem, r.ok = s.TryPop()
	case length:
		r.n = s.Len()
	case closing:
		s.Close()
	}
	return r
}

// queueModel is the queue as one goroutine sees it. Its state is a string: a
// letter that says whether it's closed, then the elements as they come out.
func queueModel(capacity int) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return "o" },
		Step: func(state, input, output any) (bool, any) {
			q := queueState{closed: state.(string)[0] == 'c', list: state.(string)[1:]}
			ok := q.step(capacity, input.(queueOp), output.(queueResult))
			return ok, q.String()
		},
		Hash: hashString,
	}
}

type queueState struct {
	closed bool
	list   string
}

func (q queueState) String() string {
	if q.closed {
		return "c" + q.list
	}
	return "o" + q.list
}

// step makes q what it is after an operation, and reports whether the operation
// could have that result.
func (q *queueState) step(capacity int, op queueOp, r queueResult) bool {
	full := len(q.list) == capacity*elementSize
	switch {
	case op.kind == length:
		return r.n*elementSize == len(q.list)
	case op.kind == closing:
		q.closed = true
		return true
	case r.err == errCancelled:
		return op.kind == push || op.kind == pop
	case op.kind == pop || op.kind == tryPop:
		return q.pop(op, r)
	case q.closed:
		return r.err == queue.ErrClosed
	case op.kind == evict && full:
		q.list = insert(q.list, op.elem)
		return r.err == nil && r.ok && q.evict() == r.elem
	case op.kind == tryPush && full:
		return r.err == queue.ErrFull
	}
	q.list = insert(q.list, op.elem)
	return r.err == nil && !r.ok && !full
}

func (q *queueState) pop(op queueOp, r queueResult) bool {
	switch {
	case q.list != "":
		first := elementAt(q.list, 0)
		q.list = q.list[elementSize:]
		return r.ok && r.elem == first
	case op.kind == tryPop:
		return !r.ok
	}
	return q.closed && r.err == queue.ErrClosed
}

// evict takes out the oldest of the lowest priority.
func (q *queueState) evict() element {
	at := len(q.list) - elementSize
	lowest := elementAt(q.list, at)
	for at > 0 && elementAt(q.list, at-elementSize).priority == lowest.priority {
		at -= elementSize
	}
	victim := elementAt(q.list, at)
	q.list = q.list[:at] + q.list[at+elementSize:]
	return victim
}
