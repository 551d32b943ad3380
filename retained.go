package herald

import (
	"fmt"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"unsafe"
)

// A tail is what cursors know of a log without its type T: its end, and who
// sleeps there.
type tail struct {
	head atomic.Uint64 // the last offset given; written under mu

	mu     sync.Mutex // protects the log; after any core's mutex, nothing after it
	asleep []*core    // whose consumers sleep, to be woken by the next append
	closed bool
}

// listen puts c, whose consumer sleeps, among those to wake. The caller looks
// at head after that: what was appended before is seen, what comes later
// wakes. c's mutex is held.
func (t *tail) listen(c *core) {
	if c.src.listed.Load() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c.src.listed.Store(true)
	t.asleep = append(t.asleep, c)
}

// forget takes c out of those to wake. c's mutex is held.
func (t *tail) forget(c *core) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asleep = slices.DeleteFunc(t.asleep, func(o *core) bool { return o == c })
	c.src.listed.Store(false)
}

// takeAsleep empties that list. mu is held.
func (t *tail) takeAsleep() []*core {
	cores := t.asleep
	t.asleep = nil
	for _, c := range cores {
		c.src.listed.Store(false)
	}
	return cores
}

// rouseAll lets the consumers of cores, which slept, look again.
func rouseAll(cores []*core) {
	for _, c := range cores {
		c.mu.Lock()
		c.unlock()
	}
}

// A retainedLog is a topic's log in memory: the messages first to head, in
// segments of equal size. Slots that hold no retained message are blank (G36).
type retainedLog[T any] struct {
	tail
	keep Retention

	// under mu:
	first uint64 // the oldest offset retained; head+1: none
	base  uint64 // offset of the first slot of segs
	segs  [][]Message[T]
	bytes int64 // of what is retained, where keep limits them
	at    int64 // clock of the last append
}

func newRetainedLog[T any](keep Retention) *retainedLog[T] {
	return &retainedLog[T]{keep: keep, first: 1, base: 1}
}

// segment is how many messages one segment has.
func (l *retainedLog[T]) segment() uint64 {
	return uint64(max(1, bigChunk/int(unsafe.Sizeof(Message[T]{}))))
}

// append gives the message its Seq and stores it. Then it wakes those who
// sleep at the tail. False: the log is closed.
func (l *retainedLog[T]) append(m *Meta, vs []T) bool {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return false
	}
	if m.at == 0 {
		m.at = clock()
	}
	m.at = max(m.at, l.at) // along a log time doesn't go back
	l.at = m.at
	for i := range vs {
		m.Seq = l.head.Load() + 1
		slot := l.slot(m.Seq)
		slot.fill(m, &vs[i])
		slot.Key = m.Key
		if l.keep.Bytes != 0 {
			l.bytes += l.size(slot)
		}
		l.head.Store(m.Seq)
		l.trim(m.at)
	}
	cores := l.takeAsleep()
	l.mu.Unlock()
	rouseAll(cores)
	return true
}

// slot returns the place of an offset, with a new segment if need be.
func (l *retainedLog[T]) slot(seq uint64) *Message[T] {
	size := l.segment()
	i := seq - l.base
	if i/size == uint64(len(l.segs)) {
		l.segs = append(l.segs, make([]Message[T], size))
	}
	return &l.segs[i/size][i%size]
}

// trim removes what is over the limits at the time now. mu is held.
func (l *retainedLog[T]) trim(now int64) {
	head := l.head.Load()
	for l.first <= head && l.isOver(head, now) {
		m := l.slot(l.first)
		if l.keep.Bytes != 0 {
			l.bytes -= l.size(m)
		}
		*m = Message[T]{}
		l.first++
	}
	for size := l.segment(); l.first-l.base >= size && len(l.segs) > 0; l.base += size {
		l.segs[0] = nil
		l.segs = l.segs[1:]
	}
}

// isOver reports whether the oldest message has to go.
func (l *retainedLog[T]) isOver(head uint64, now int64) bool {
	k := &l.keep
	return head-l.first >= uint64(k.Count) ||
		k.Bytes != 0 && l.bytes > k.Bytes && l.first < head ||
		k.Age != 0 && now-l.slot(l.first).at > int64(k.Age)
}

// size is what Retention.Bytes counts of a message.
func (l *retainedLog[T]) size(m *Message[T]) int64 {
	n := int(unsafe.Sizeof(*m)) + len(m.Key) + len(m.rare.id)
	switch v := any(&m.Payload).(type) {
	case *string:
		n += len(*v)
	case *[]byte:
		n += len(*v)
	}
	return int64(n)
}

// age removes what is too old by now. mu is held.
func (l *retainedLog[T]) age() {
	if l.keep.Age != 0 {
		l.trim(clock())
	}
}

// read copies messages from an offset on, up to the last one, into buf. Where
// that offset isn't retained any more it begins at the first that is; it returns
// the offset at which it began.
func (l *retainedLog[T]) read(from, last uint64, buf []Message[T]) (begin uint64, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.age()
	begin = min(max(from, l.first), last+1)
	for n < len(buf) && begin+uint64(n) <= min(last, l.head.Load()) {
		buf[n] = *l.slot(begin + uint64(n))
		n++
	}
	return begin, n
}

// find returns the offset at which reading from s begins.
func (l *retainedLog[T]) find(s Start, committed uint64, o *origin) (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.age()
	next := l.head.Load() + 1
	switch s.kind {
	case startUnset, startNewest:
		return next, nil
	case startOldest:
		return l.first, nil
	case startCommitted:
		return committed + 1, nil
	case startTime:
		at := o.start.clock(s.time)
		i := sort.Search(int(next-l.first), func(i int) bool { return l.slot(l.first+uint64(i)).at >= at })
		return l.first + uint64(i), nil
	}
	if s.seq == 0 || s.seq > next {
		return 0, fmt.Errorf("%w: start at %d, the next message will be %d", ErrOption, s.seq, next)
	}
	return s.seq, nil
}

// oldest returns the oldest offset retained.
func (l *retainedLog[T]) oldest() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.age()
	return l.first
}

// close ends the appends.
func (l *retainedLog[T]) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
}
