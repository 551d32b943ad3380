package queue

import "reflect"

const (
	// A chunk is about this big, to make it worth an allocation and yet no
	// burden to an idle queue. A larger element gets a chunk to itself.
	chunkBytes = 512

	// stockLimit is how many empty chunks a queue keeps: one a level, so that
	// traffic that keeps switching levels needs no allocation either.
	stockLimit = levelCount
)

// A fifo is the elements of one priority in the order in which they were
// accepted, in a chain of chunks. It needs the queue's mutex.
//
// An empty fifo is the zero fifo and owns no chunk. In another, head.slots[read]
// is the oldest element, and tail.slots[write-1] the youngest. Every slot that
// holds no element is zero, so that the chunks keep nothing from being collected.
type fifo[E any] struct {
	head, tail  *chunk[E]
	read, write int
}

type chunk[E any] struct {
	next  *chunk[E]
	slots []E
}

func (f *fifo[E]) empty() bool { return f.head == nil }

func (f *fifo[E]) push(e E, spare *stock[E]) {
	if f.tail == nil || f.write == len(f.tail.slots) {
		f.extend(spare.take())
	}
	f.tail.slots[f.write] = e
	f.write++
}

func (f *fifo[E]) extend(c *chunk[E]) {
	if f.tail == nil {
		f.head = c
	} else {
		f.tail.next = c
	}
	f.tail, f.write = c, 0
}

// pop removes the oldest element. There must be one.
func (f *fifo[E]) pop(spare *stock[E]) E {
	var none E
	c := f.head
	e := c.slots[f.read]
	c.slots[f.read] = none
	f.read++
	switch {
	case c == f.tail && f.read == f.write:
		*f = fifo[E]{}
		spare.put(c)
	case f.read == len(c.slots):
		f.head, f.read = c.next, 0
		spare.put(c)
	}
	return e
}

// A stock is a few empty chunks kept for later, every slot of them zero.
type stock[E any] struct {
	first *chunk[E]
	count int // at most stockLimit
}

func (s *stock[E]) take() *chunk[E] {
	c := s.first
	if c == nil {
		return &chunk[E]{slots: make([]E, slotsPerChunk[E]())}
	}
	s.first, c.next = c.next, nil
	s.count--
	return c
}

func (s *stock[E]) put(c *chunk[E]) {
	if s.count == stockLimit {
		return
	}
	c.next, s.first = s.first, c
	s.count++
}

func slotsPerChunk[E any]() int {
	size := max(1, int(reflect.TypeFor[E]().Size()))
	return max(1, min(64, chunkBytes/size))
}
