package dlq

import (
	"iter"
	"math"
	"sync"

	"github.com/heraldbus/herald"
)

// defaultCapacity is that of the zero Queue.
const defaultCapacity = 1000

// A Queue is a bounded store of dead letters, for any number of goroutines at
// once. The zero Queue is ready to use and holds 1000 letters. A Queue must not
// be copied after first use.
type Queue[T any] struct {
	capacity int // 0: the default

	// mu protects all below, and the slots in the list. It's a leaf: while
	// it's held nothing is called but DeadLetter.Replayed, an atomic load.
	mu          sync.Mutex
	first, last *slot[T] // oldest and youngest
	n           int      // slots in the list; letters that replayed themselves are noticed late
	puts        uint64   // so far
	shown       uint64   // letters up to this one were given to somebody who may replay them
	evicted     uint64
}

// A slot holds one letter. When it leaves the list it lets go of its
// neighbours, so that who still has it, from a snapshot, has nothing else.
type slot[T any] struct {
	letter herald.DeadLetter[T] // never written once it's in the list
	number uint64               // of its Put

	prev, next *slot[T]
	stored     bool // in the list
	movers     int  // Replays that are moving it right now
	pushedOut  bool // evicted under their hands: the last of them counts it, if all fail
}

// New makes a queue that holds at most capacity letters. A capacity below 1
// counts as 1. Capacity costs nothing until it's used.
func New[T any](capacity int) *Queue[T] {
	return &Queue[T]{capacity: max(capacity, 1)}
}

// Put stores d, in the place of the oldest letter if the queue is full. Its
// signature is that of DeadLetterTo; its error is always nil. A letter that was
// replayed before it came here isn't stored.
//
// A full queue looks for letters that were replayed by themselves before it
// evicts, but only among those that somebody may have got from it: the ones
// that an All, Replay or Purge has come upon. Put costs as much as these are,
// and next to nothing where there are none.
func (q *Queue[T]) Put(d herald.DeadLetter[T]) error {
	if d.Replayed() {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.makeRoomLocked()
	q.puts++
	s := &slot[T]{letter: d, number: q.puts, stored: true, prev: q.last}
	if q.last != nil {
		q.last.next = s
	} else {
		q.first = s
	}
	q.last = s
	q.n++
	return nil
}

// Len returns how many letters there are. It looks at each of them.
func (q *Queue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sweepLocked(math.MaxUint64)
	return q.n
}

// Evicted returns how many letters had to leave for others so far.
func (q *Queue[T]) Evicted() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.evicted
}

// All yields the letters that are there when the loop begins, the oldest
// first. Those that are replayed before the loop comes to them are left out.
// The body may use the queue and replay the letters that it gets.
func (q *Queue[T]) All() iter.Seq[herald.DeadLetter[T]] {
	return func(yield func(herald.DeadLetter[T]) bool) {
		for s := range q.slots() {
			if !yield(s.letter) {
				return
			}
		}
	}
}

// Purge removes the letters for which match returns true, and returns how many
// that were. A nil match means all. A letter that a concurrent Replay is about
// to move is that one's.
func (q *Queue[T]) Purge(match func(herald.DeadLetter[T]) bool) int {
	n := 0
	for s := range q.slots() {
		if (match == nil || match(s.letter)) && q.drop(s) {
			n++
		}
	}
	return n
}

// drop removes s, and reports whether it was there and nobody's else.
func (q *Queue[T]) drop(s *slot[T]) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !s.stored || s.movers > 0 || s.letter.Replayed() {
		return false
	}
	q.removeLocked(s)
	return true
}

// slots yields what is stored when the loop begins, the oldest first, but for
// what is replayed until the loop comes to it.
func (q *Queue[T]) slots() iter.Seq[*slot[T]] {
	return func(yield func(*slot[T]) bool) {
		for _, s := range q.snapshot() {
			if !s.letter.Replayed() && !yield(s) {
				return
			}
		}
	}
}

// snapshot returns what is stored, for the caller to show to somebody.
func (q *Queue[T]) snapshot() []*slot[T] {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sweepLocked(math.MaxUint64)
	q.shown = q.puts
	all := make([]*slot[T], 0, q.n)
	for s := q.first; s != nil; s = s.next {
		all = append(all, s)
	}
	return all
}

// makeRoomLocked makes sure that there is room for one more.
func (q *Queue[T]) makeRoomLocked() {
	if q.n < q.limit() {
		return
	}
	q.sweepLocked(q.shown)
	if q.n < q.limit() {
		return
	}
	oldest := q.first
	q.removeLocked(oldest)
	switch {
	case oldest.letter.Replayed(): // by a copy that didn't come from here
	case oldest.movers > 0:
		oldest.pushedOut = true
	default:
		q.evicted++
	}
}

// sweepLocked removes the letters that were replayed, up to that of the Put
// with the number last.
func (q *Queue[T]) sweepLocked(last uint64) {
	for s := q.first; s != nil && s.number <= last; {
		next := s.next
		if s.letter.Replayed() {
			q.removeLocked(s)
		}
		s = next
	}
}

func (q *Queue[T]) removeLocked(s *slot[T]) {
	if s.prev != nil {
		s.prev.next = s.next
	} else {
		q.first = s.next
	}
	if s.next != nil {
		s.next.prev = s.prev
	} else {
		q.last = s.prev
	}
	s.prev, s.next, s.stored = nil, nil, false
	q.n--
}

func (q *Queue[T]) limit() int {
	if q.capacity == 0 {
		return defaultCapacity
	}
	return q.capacity
}
