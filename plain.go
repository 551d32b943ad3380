package herald

import (
	"sync/atomic"
	"unsafe"

	"github.com/heraldbus/herald/internal/lane"
)

// The plain lane is the fast way through a subscription, for messages that
// need nothing special: no key, delay or expiry, one at a time, and nothing
// that would evict them. All others go through the side lane, package lane;
// the two are one order. Publishers append to it under the core's mutex. The
// consumer takes whole chains of messages under the mutex and then walks them
// without it.
//
// What makes that safe is one word, picks<<2 | attention<<1 | busy:
//
//   - The walking worker takes each message by a compare-and-swap from the
//     word as it left it to one pick more, busy set. That also says that the
//     message before is delivered.
//   - Whoever needs the worker's notice — because it paused, because a publisher
//     waits for room, because the side lane has something — sets attention, with
//     the mutex held. The worker's next swap then fails, and it comes to the
//     mutex before it touches another message. So a change under the mutex is
//     never overtaken by a pick that doesn't know of it.
//   - All else about the lane changes under the mutex. So with the mutex held,
//     one load of the word gives an exact cut: in-picks are queued, busy is in
//     flight, and picks-busy-adopted-discarded were delivered.
//
// Order: per level there is the open chain, which publishers append to, and
// the stash, which the consumer took. A stash is older than all that is open
// at its level. Before every pick the worker looks at levels, the bitmap of
// open chains: a higher one goes first. Message i of a level (0 is the first
// ever) ranks against the side lane as lane.Before says.
const (
	plainBusy      = 1 << 0
	plainAttention = 1 << 1
	plainPick      = 1 << 2
)

// plainState is the part of the plain lane that doesn't depend on T. What
// different goroutines write is kept apart by a cache line. The publishers'
// part comes last, next to the core's mutex.
type plainState struct {
	on        bool   // the subscription's options allow it; never changes
	adopted   uint64 // picked, then moved to the side lane; this and the next under the core's mutex
	discarded uint64

	_      [40]byte
	levels atomic.Uint32 // bitmap of levels with an open chain; written under the mutex, when a chain begins or is taken
	_      [60]byte
	word   atomic.Uint64 // the worker's own
	_      [56]byte

	bare  bool   // on, and there's no filter or key function; never changes
	calm  bool   // isCalm, as the mutex was last freed; all from here on under it
	limit int    // the capacity; never changes
	in    uint64 // messages ever taken in
	seen  uint64 // picks when last looked at
}

// picks returns how many messages have been taken out, for good or not.
func (p *plainState) picks() uint64 { return p.word.Load() / plainPick }

func (p *plainState) queued() uint64 { return p.in - p.picks() }

func (p *plainState) busy() uint64 { return p.word.Load() & plainBusy }

// A plainCut is what the plain lane has at one moment.
type plainCut struct{ queued, busy, delivered uint64 }

// cut takes it, by one load of the word. The core's mutex is held.
func (p *plainState) cut() plainCut {
	w := p.word.Load()
	picks, busy := w/plainPick, w&plainBusy
	return plainCut{queued: p.in - picks, busy: busy, delivered: picks - busy - p.adopted - p.discarded}
}

// hasRoom reports whether fewer than n are queued. It looks at the worker's
// word, which costs a cache miss, only if what it saw last says no.
func (p *plainState) hasRoom(n int) bool {
	if int64(p.in-p.seen) < int64(n) {
		return true
	}
	p.seen = p.picks()
	return int64(p.in-p.seen) < int64(n)
}

// room returns how many more may be queued where the limit is n.
func (p *plainState) room(n int) int {
	p.seen = p.picks()
	return max(0, n-int(p.in-p.seen))
}

// A plainLane holds the messages.
type plainLane[T any] struct {
	open  [lane.Levels]chain[T] // under the core's mutex
	spare *chunk[T]             // empty chunks; under the mutex

	// The consumer's: it touches them with the mutex or while it walks, others
	// only with the mutex while no Run is the consumer.
	stash  [lane.Levels]chain[T]
	picked [lane.Levels]uint64 // messages taken from the level, ever
	level  int                 // of the message in hand

	// Under the mutex:
	started atomic.Int64        // clock at the start of the message in hand, or of one not long before; the worker's
	base    uint64              // picks - index, of the chunk walked
	walked  *chunk[T]           // the chunk walked; nil: none
	stale   bool                // Discard emptied the stash; the consumer hasn't noticed
	cut     [lane.Levels]uint64 // what picked is from then on
}

// A chain is a list of chunks, of which only the last may have room.
type chain[T any] struct{ first, last *chunk[T] }

// A chunk is a stretch of messages in their order. next counts those taken;
// the slots before it are blank but for Seq, which stays until the chunk is
// used again: so Stats may read it beside the walking worker.
type chunk[T any] struct {
	after *chunk[T]
	small bool
	next  int
	slots []Message[T] // len: filled so far, cap: size
}

// Sizes of chunks in bytes: the first of a chain is small, so that a
// subscription with little to do holds little.
const (
	smallChunk = 512
	bigChunk   = 4096
)

// slot returns the next free slot of a level, for the caller to fill. The
// core's mutex is held.
func (l *plainLane[T]) slot(p *plainState, lv int) *Message[T] { return &l.stretch(p, lv, 1)[0] }

// stretch returns at most n free slots in a row, and at least one.
func (l *plainLane[T]) stretch(p *plainState, lv, n int) []Message[T] {
	c := l.open[lv].last
	if c == nil || len(c.slots) == cap(c.slots) {
		c = l.grow(p, lv)
	}
	i := len(c.slots)
	c.slots = c.slots[:min(i+n, cap(c.slots))]
	return c.slots[i:]
}

// grow adds an empty chunk to a level's open chain.
func (l *plainLane[T]) grow(p *plainState, lv int) *chunk[T] {
	ch, c := &l.open[lv], l.spare
	if c != nil {
		l.spare, c.after = c.after, nil
	} else {
		small := ch.first == nil
		size := bigChunk
		if small {
			size = smallChunk
		}
		n := max(1, size/int(unsafe.Sizeof(Message[T]{})))
		c = &chunk[T]{small: small, slots: make([]Message[T], 0, n)}
	}
	if ch.last == nil {
		ch.first = c
		p.levels.Or(1 << lv)
	} else {
		ch.last.after = c
	}
	ch.last = c
	return c
}

// top returns the highest level with a message. The mutex is held, by the
// consumer.
func (l *plainLane[T]) top() (level int, ok bool) {
	for lv := lane.Levels - 1; lv >= 0; lv-- {
		if l.stash[lv].first != nil || l.open[lv].first != nil {
			return lv, true
		}
	}
	return 0, false
}

// take makes the next message of level lv the one in hand and returns it.
// The mutex is held, by the consumer.
func (l *plainLane[T]) take(p *plainState, lv int) *Message[T] {
	st := &l.stash[lv]
	if st.first == nil {
		*st, l.open[lv] = l.open[lv], chain[T]{}
		p.levels.And(^uint32(1 << lv))
	}
	c := st.first
	l.level, l.walked = lv, c
	c.next++
	l.picked[lv]++
	return &c.slots[c.next-1]
}

// inHand returns the slot of the message in hand.
func (l *plainLane[T]) inHand() *Message[T] {
	c := l.walked
	return &c.slots[c.next-1]
}

// wipe blanks the slot of a message that has met its end, so that nothing
// keeps its payload (G36).
func (m *Message[T]) wipe() {
	m.Key, m.rare = "", nil
	m.Payload = *new(T)
}

// blank wipes all messages in the stash; where the worker is busy, in the
// chunk walked only those from index next on.
func (l *plainLane[T]) blank(next int, busy bool) {
	for _, st := range l.stash {
		for c := st.first; c != nil; c = c.after {
			from := 0
			if busy && c == l.walked {
				from = next
			}
			for i := range c.slots[from:] {
				c.slots[from+i].wipe()
			}
		}
	}
}

// tidy puts the stash in order after a walk, or a single pick: an emptied
// chunk becomes a spare one, and what Discard dropped is forgotten. The mutex
// is held, by the consumer, with no message in hand.
func (l *plainLane[T]) tidy() {
	if l.stale {
		l.stale = false
		l.stash = [lane.Levels]chain[T]{}
		l.picked = l.cut
		l.walked = nil
		return
	}
	c := l.walked
	if c == nil {
		return
	}
	l.walked = nil
	if c.next < len(c.slots) {
		return
	}
	st := &l.stash[l.level]
	st.first = c.after
	if st.first == nil {
		st.last = nil
	}
	c.slots, c.next = c.slots[:0], 0
	c.after, l.spare = l.spare, c
}

// trim lets go of spare chunks, but for a small one.
func (l *plainLane[T]) trim() {
	for c := l.spare; c != nil; c = c.after {
		if c.small {
			c.after, l.spare = nil, c
			return
		}
	}
	l.spare = nil
}
