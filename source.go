package herald

import "sync/atomic"

// A source is where the messages of a cursor come from: its place in the log
// of its topic. The consumer itself reads, when it comes to the core's mutex and
// finds the core hungry; see feed.go. The core's mutex protects all but listed.
type source struct {
	tail   *tail
	listed atomic.Bool // among tail.asleep; written under tail.mu

	next      uint64            // offset to read next
	last      uint64            // nothing beyond is read: the head as the core was closed, the greatest number before
	begun     uint64            // where reading began, at first or by the last Seek
	past      spans             // read before that: what is in there is read again
	committed uint64            // at and below it all messages have reached an end
	ahead     map[uint64]uint64 // ranges above it that have, by their first offset: the last
	lost      uint64            // see SubStats.Trimmed
	epoch     uint64            // changes when the position is set: what is being read then is void
	reading   bool              // somebody is
	seeking   bool              // a Seek waits for handlers to return: nothing is read or picked
	still     chan struct{}     // closed when they have
}

// How far a cursor reads ahead of its handlers, at least and at most.
const (
	readAhead = 64
	maxAhead  = 4096
)

// place sets the position; oldest is the first offset that is retained. The caller holds the core's mutex, and nothing that was read
// is without an end.
func (s *source) place(next, oldest uint64) {
	s.past = s.past.add(span{s.begun, s.next - 1}).from(oldest)
	s.begun, s.next, s.committed, s.ahead = next, next, next-1, nil
	s.epoch++
}

// end notes that the messages from first to last have reached an end.
func (s *source) end(first, last uint64) {
	if first != s.committed+1 {
		if s.ahead == nil {
			s.ahead = map[uint64]uint64{}
		}
		s.ahead[first] = last
		return
	}
	s.committed = last
	for len(s.ahead) > 0 {
		last, ok := s.ahead[s.committed+1]
		if !ok {
			return
		}
		delete(s.ahead, s.committed+1)
		s.committed = last
	}
}

// tailEnd is the last offset that the cursor will read, as of now.
func (s *source) tailEnd() uint64 { return min(s.last, s.tail.head.Load()) }

// lag is how many messages there are above the committed one.
func (s *source) lag() uint64 {
	end := s.tailEnd()
	return end - min(end, s.committed)
}

// hasMore reports whether there's something to read.
func (c *core) hasMore() bool { return c.src != nil && c.src.next <= c.src.tailEnd() }

// hungry reports whether the consumer should read now: there's more, nobody
// reads, and little is waiting or nothing of it can be handled.
func (c *core) hungry() bool {
	s := c.src
	if s == nil || s.reading || s.seeking || c.paused || !c.hasMore() {
		return false
	}
	n := c.lane.Len()
	switch {
	case n >= max(maxAhead, c.appetite()) || len(s.ahead) >= maxAhead:
		return false
	case c.lane.Queued() < c.appetite():
		return true
	}
	return c.lane.HasRoom() && c.lane.Next() == nil
}

// appetite is how many messages shall wait in the lane.
func (c *core) appetite() int {
	n := max(readAhead, 2*c.cfg.concurrency)
	if ws := c.consumer.workers; len(ws) > 0 {
		n = max(n, ws[0].max)
	}
	return n
}

// halted reports whether no message may be picked.
func (c *core) halted() bool { return c.paused || c.src != nil && c.src.seeking }

// passed notes that it has reached its end, if it comes from a log. mu is
// held.
func (c *core) passed(it *item) {
	if it.read {
		it.read = false
		c.src.end(it.Seq, it.Seq)
	}
}

// attend does what core.unlock owes a cursor: it tells the log of consumers
// that sleep, and a Seek that it may go on. mu is held.
func (c *core) attend() (still chan struct{}) {
	s := c.src
	if s == nil {
		return nil
	}
	if c.sleepers.first != nil && !c.closed {
		s.tail.listen(c)
	}
	if s.seeking && c.isStill() {
		still, s.still = s.still, nil
	}
	return still
}

// isStill reports whether no handler is under way, and nothing is being read
// or buried. What is on lease doesn't count.
func (c *core) isStill() bool {
	if c.src.reading || c.leaving > 0 {
		return false
	}
	for it := c.running; it != nil; it = it.next {
		if it.lease == 0 {
			return false
		}
	}
	return true
}
