package herald

import (
	"context"
	"fmt"
	"log/slog"
	"math"
)

// readFrom makes c a cursor in the log with that tail. It must then be placed.
func (c *core) readFrom(t *tail) {
	c.src = &source{tail: t, begun: 1, next: 1, last: math.MaxUint64}
	c.plain.on, c.plain.bare = false, false
}

// A haul is what is read in one go: from one offset to another, at most as
// much as there are items. catch has those read so far, beginning at begin.
type haul struct {
	from, last uint64
	items      []*item
	begin      uint64
	catch      []caught
}

// A caught record is one that the filter keeps, or not, or on which filter or
// key function failed.
type caught struct {
	it   *item
	keep bool
	err  error
}

// feed reads the next records and takes them in. The core is hungry; mu is
// held, and freed in the end. It returns what was lost on the way.
func (c *core) feed() (gap *TrimmedError) {
	s := c.src
	s.reading = true
	epoch := s.epoch
	h := haul{from: s.next, last: s.tailEnd(), begin: s.next}
	n := min(max(readAhead, c.appetite()-c.lane.Queued()), maxAhead)
	for range min(uint64(n), h.last+1-h.from) {
		h.items = append(h.items, c.spare.take(c.owner))
	}
	c.unlock()
	var failed []caught
	defer func() { // also when user code calls Goexit: what it was asked about counts as failed
		c.mu.Lock()
		s.reading = false
		if s.epoch == epoch {
			gap = c.jump(h.begin)
			failed = c.takeIn(h.catch)
			h.items = h.items[len(h.catch):]
		}
		for _, it := range h.items {
			c.spare.give(it)
		}
		c.unlock()
		c.buryUnread(failed)
	}()
	c.owner.fetch(&h)
	return nil
}

// jump sets the position to an offset that is not lower, and says what that
// leaves out. mu is held.
func (c *core) jump(begin uint64) *TrimmedError {
	s := c.src
	if begin == s.next {
		return nil
	}
	lost := begin - s.next
	s.end(s.next, begin-1)
	s.next, s.lost = begin, s.lost+lost
	return &TrimmedError{Lost: lost, First: begin}
}

// takeIn accepts the records from the position on. It returns those whose
// filter or key function failed. mu is held.
func (c *core) takeIn(catch []caught) (failed []caught) {
	c.promote()
	s := c.src
	for _, r := range catch {
		seq := s.next
		s.next++
		c.counts.replayed += s.past.overlap(span{seq, seq})
		if !r.keep && r.err == nil {
			c.counts.filtered++
			c.spare.give(r.it)
			s.end(seq, seq)
			continue
		}
		c.counts.accepted++
		r.it.read = true
		if r.err != nil {
			c.leaving++
			failed = append(failed, r)
			continue
		}
		c.limitAge(r.it)
		r.it.pos.Priority, r.it.pos.Key, r.it.pos.Expires = 0, r.it.Key, r.it.expires()
		c.lane.Add(&r.it.pos, 0)
	}
	return failed
}

// buryUnread ends what a filter or key function failed on.
func (c *core) buryUnread(failed []caught) {
	defer func() {
		if len(failed) > 0 { // user code called Goexit: the rest must not be lost
			c.buryUnread(failed)
		}
	}()
	for len(failed) > 0 {
		r := failed[0]
		failed = failed[1:]
		c.bury(r.it, FilterFailed, r.err)
	}
}

// skip discards what hasn't been read yet, and returns how much that was. mu
// is held.
func (c *core) skip() int {
	if !c.hasMore() {
		return 0
	}
	s := c.src
	end := s.tailEnd()
	c.jump(min(max(s.next, c.owner.oldest()), end+1))
	n := end + 1 - s.next
	if n > 0 {
		c.counts.replayed += s.past.overlap(span{s.next, end})
		s.end(s.next, end)
	}
	c.counts.accepted += n
	s.next = end + 1
	s.epoch++
	return int(n)
}

// logGap logs what was lost, where no call returns it.
func (c *core) logGap(e *TrimmedError) {
	c.logAttrs(slog.LevelWarn, "messages lost: no longer retained", func() []slog.Attr {
		return []slog.Attr{
			slog.String("topic", c.topic),
			slog.String("subscription", c.name),
			slog.Uint64("lost", e.Lost),
			slog.Uint64("first", e.First),
		}
	})
}

// The owner's part.

func (s *Subscription[T]) fetch(h *haul) {
	buf := make([]Message[T], len(h.items))
	begin, n := s.view.source.(*hub[T]).log.read(h.from, h.last, buf)
	h.begin = begin
	h.catch = make([]caught, 0, n)
	for i := range buf[:n] {
		s.inspect(h, &buf[i])
	}
}

// inspect adds a record to the catch, after filter and key function have been
// asked about it.
func (s *Subscription[T]) inspect(h *haul, m *Message[T]) {
	it := h.items[len(h.catch)]
	it.Meta = m.Meta
	it.Attempt = 0
	nodeOf[T](it).payload = m.Payload
	if s.view.keep == nil && s.view.key == nil {
		h.catch = append(h.catch, caught{it: it, keep: true})
		return
	}
	h.catch = append(h.catch, caught{it: it, err: ErrHandlerExited}) // unless they return
	r := &h.catch[len(h.catch)-1]
	keep, err := s.judge(&envelope{Meta: m.Meta}, &m.Payload, &it.Key)
	r.keep, r.err = keep, err
}

func (s *Subscription[T]) oldest() uint64 { return s.view.source.(*hub[T]).log.oldest() }

// Seek moves the subscription to another place in the log of its topic, which
// must have one ([WithRetain]), else it's [ErrOption]. It waits until handlers under way have
// returned, or ctx ends; meanwhile no other begins. Deliveries out on lease
// are void ([ErrLeaseLost]), and what was read but has no end yet is
// counted as Discarded: reading is some dozens of messages ahead of the handlers. What is read again is counted as Replayed. With the
// context of a handler of this subscription Seek is [ErrDeadlock]; of two at a
// time the second is [ErrBusy]. A closed subscription can seek too, in what
// was published before it was closed.
func (s *Subscription[T]) Seek(ctx context.Context, to Start) error {
	c := &s.core
	if err := c.checkCall("seek", ctx, false); err != nil {
		return err
	}
	switch {
	case c.src == nil:
		return c.fail("seek", fmt.Errorf("%w: the topic has no log", ErrOption))
	case to.kind == startUnset:
		return c.fail("seek", fmt.Errorf("%w: zero Start", ErrOption))
	case ctx.Err() != nil:
		return c.fail("seek", ended(ctx))
	}
	if err := c.checkOwn(ctx); err != nil {
		return c.fail("seek", err)
	}
	h := s.view.source.(*hub[T])
	find := func(committed uint64) (uint64, error) { return h.log.find(to, committed, h.origin) }
	if err := c.seek(ctx, find); err != nil {
		return c.fail("seek", err)
	}
	return nil
}
