package main

import "sync/atomic"

// A checker counts what one subscription sees. It's no function, so that a
// payload needn't be allocated to be seen.
type checker struct {
	next      [4]uint64 // by publisher
	seen      int
	reordered int
	shared    *shared // nil: one worker
	_         [64]byte
}

// A shared is what several workers of one subscription count together. Order
// means something to them by key only. It has no mutex, which would queue the
// workers up behind the measuring.
type shared struct {
	seen, reordered atomic.Int64
	next            []atomic.Uint64 // by key; none: no keys
}

func newShared(keys int) *shared { return &shared{next: make([]atomic.Uint64, keys)} }

func (c *checker) see(p *payload) {
	if c.shared != nil {
		c.shared.see(p[1])
		return
	}
	c.seen++
	if p[1] < c.next[p[0]] {
		c.reordered++
		return
	}
	c.next[p[0]] = p[1] + 1
}

// see takes message i of the one publisher, whose keys come in turn.
func (s *shared) see(i uint64) {
	s.seen.Add(1)
	if n := uint32(len(s.next)); n > 0 && s.next[uint32(i)%n].Swap(i+1) > i {
		s.reordered.Add(1)
	}
}

// result is for when all workers have ended.
func (c *checker) result() (seen, reordered int) {
	if s := c.shared; s != nil {
		return int(s.seen.Load()), int(s.reordered.Load())
	}
	return c.seen, c.reordered
}
