// Package letters is a bounded store of dead letters of any type: what is
// common to dlq.Queue and to the dead letters of a broker.
package letters

import (
	"context"
	"fmt"
	"iter"
	"math"
	"sync"
)

// A Letter can be sent back once. Its copies are one and the same letter.
type Letter interface {
	Replay(ctx context.Context) error
	Replayed() bool // neither waits nor locks
}

// A Store holds letters, for any number of goroutines at once. Its zero value
// is empty. How many it may hold is said by whoever puts one in.
type Store[L Letter] struct {
	// mu protects all below, and the slots in the list. It's a leaf: while
	// it's held nothing is called but Replayed.
	mu          sync.Mutex
	first, last *slot[L] // oldest and youngest
	n           int      // slots in the list; letters that replayed themselves are noticed late
	puts        uint64   // so far
	shown       uint64   // letters up to this one were given to somebody who may replay them
	evicted     uint64
}

// A slot holds one letter. When it leaves the list it lets go of its
// neighbours, so that who still has it, from a snapshot, has nothing else.
type slot[L Letter] struct {
	letter L      // never written once it's in the list
	number uint64 // of its Put

	prev, next *slot[L]
	stored     bool // in the list
	movers     int  // Replays that are moving it right now
	pushedOut  bool // evicted under their hands: the last of them counts it, if all fail
}

// Put stores l, in the place of the oldest letter if capacity many are there.
// A letter that was replayed before it came here isn't stored.
//
// A full store looks for letters that were replayed by themselves before it
// evicts, but only among those that somebody may have got from it: the ones
// that an All, Replay or Purge has come upon. Put costs as much as these are,
// and next to nothing where there are none.
func (s *Store[L]) Put(l L, capacity int) {
	if l.Replayed() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.makeRoomLocked(max(capacity, 1))
	s.puts++
	last := &slot[L]{letter: l, number: s.puts, stored: true, prev: s.last}
	if s.last != nil {
		s.last.next = last
	} else {
		s.first = last
	}
	s.last = last
	s.n++
}

// Len returns how many letters there are. It looks at each of them.
func (s *Store[L]) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweepLocked(math.MaxUint64)
	return s.n
}

// Evicted returns how many letters had to leave for others so far.
func (s *Store[L]) Evicted() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.evicted
}

// All yields the letters that are there when the loop begins, the oldest
// first. Those that are replayed before the loop comes to them are left out.
// The body may use the store and replay the letters that it gets.
func (s *Store[L]) All() iter.Seq[L] {
	return func(yield func(L) bool) {
		for l := range s.slots() {
			if !yield(l.letter) {
				return
			}
		}
	}
}

// Purge removes the letters for which match returns true, and returns how many
// that were. A nil match means all. A letter that a concurrent Replay is about
// to move is that one's.
func (s *Store[L]) Purge(match func(L) bool) int {
	n := 0
	for l := range s.slots() {
		if (match == nil || match(l.letter)) && s.drop(l) {
			n++
		}
	}
	return n
}

// drop removes l, and reports whether it was there and nobody's else.
func (s *Store[L]) drop(l *slot[L]) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !l.stored || l.movers > 0 || l.letter.Replayed() {
		return false
	}
	s.removeLocked(l)
	return true
}

// slots yields what is stored when the loop begins, the oldest first, but for
// what is replayed until the loop comes to it.
func (s *Store[L]) slots() iter.Seq[*slot[L]] {
	return func(yield func(*slot[L]) bool) {
		for _, l := range s.snapshot() {
			if !l.letter.Replayed() && !yield(l) {
				return
			}
		}
	}
}

// snapshot returns what is stored, for the caller to show to somebody.
func (s *Store[L]) snapshot() []*slot[L] {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweepLocked(math.MaxUint64)
	s.shown = s.puts
	all := make([]*slot[L], 0, s.n)
	for l := s.first; l != nil; l = l.next {
		all = append(all, l)
	}
	return all
}

// makeRoomLocked makes sure that there is room for one more.
func (s *Store[L]) makeRoomLocked(capacity int) {
	if s.n < capacity {
		return
	}
	s.sweepLocked(s.shown)
	if s.n < capacity {
		return
	}
	oldest := s.first
	s.removeLocked(oldest)
	switch {
	case oldest.letter.Replayed(): // by a copy that didn't come from here
	case oldest.movers > 0:
		oldest.pushedOut = true
	default:
		s.evicted++
	}
}

// sweepLocked removes the letters that were replayed, up to that of the Put
// with the number last.
func (s *Store[L]) sweepLocked(last uint64) {
	for l := s.first; l != nil && l.number <= last; {
		next := l.next
		if l.letter.Replayed() {
			s.removeLocked(l)
		}
		l = next
	}
}

func (s *Store[L]) removeLocked(l *slot[L]) {
	if l.prev != nil {
		l.prev.next = l.next
	} else {
		s.first = l.next
	}
	if l.next != nil {
		l.next.prev = l.prev
	} else {
		s.last = l.prev
	}
	l.prev, l.next, l.stored = nil, nil, false
	s.n--
}

// Check says what is wrong with the store's inside; for tests.
func (s *Store[L]) Check(capacity int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	var prev *slot[L]
	for l := s.first; l != nil; prev, l = l, l.next {
		if l.prev != prev || !l.stored || prev != nil && l.number <= prev.number {
			return fmt.Errorf("slot %d of the list is broken: %+v", n, l)
		}
		n++
	}
	if s.last != prev || n != s.n || n > capacity {
		return fmt.Errorf("list of %d, n is %d, capacity %d, ends right: %t", n, s.n, capacity, s.last == prev)
	}
	return nil
}
