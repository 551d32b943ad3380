package herald

// spareItems is a subscription's stack of items to use again, so that a
// steady flow allocates nothing. It's protected by the core's mutex.
type spareItems struct {
	first *item
	n     int
}

// maxIdleSpare is how many spare items an idle subscription keeps.
const maxIdleSpare = 4

// take returns a blank item.
func (s *spareItems) take(o owner) *item {
	it := s.first
	if it == nil {
		return o.newItem()
	}
	s.first, it.next = it.next, nil
	s.n--
	return it
}

// give takes back an item that has come to its end, and wipes from it all
// that could keep something else in memory (G36).
func (s *spareItems) give(it *item) {
	it.Meta = Meta{}
	it.due, it.since, it.started, it.over, it.lease, it.err = 0, 0, 0, 0, 0, nil
	it.read = false
	it.pos.Key, it.pos.Expires = "", 0
	it.node.clear()
	it.next, s.first = s.first, it
	s.n++
}

// trim lets go of all but a few. It's called when the consumer finds nothing
// to do: in a steady flow that doesn't happen.
func (s *spareItems) trim() {
	if s.n <= maxIdleSpare {
		return
	}
	last := s.first
	for range maxIdleSpare - 1 {
		last = last.next
	}
	last.next = nil
	s.n = maxIdleSpare
}
