package lane

import (
	"fmt"
	"slices"
)

// check returns the first broken invariant it finds in a lane: the table of the package comment, word for word.
func (l *Lane) check() error {
	c := checker{Lane: l, lines: map[*keyLine]int{}}
	for level := range l.ages {
		c.ages(level)
	}
	c.counters()
	c.readyOrder()
	c.heap("ready.late", &l.ready.late, byTurn)
	c.heap("late", &l.late, byTurn)
	c.heap("resume", &l.resume, byTurn)
	c.heap("expiry", &l.expiry, byExpiry)
	c.keyTable()
	c.slotTable()
	c.endedList()
	return c.err
}

type checker struct {
	*Lane
	err    error
	states [Parked + 1]int
	ready  int // items that should be ready
	late   int
	resume int
	expiry int
	slots  int
	lines  map[*keyLine]int // items that should be in each line
}

func (c *checker) must(ok bool, format string, args ...any) {
	if !ok && c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// ages walks one level's age list, and with it every item there is.
func (c *checker) ages(level int) {
	a := &c.Lane.ages[level]
	var adopted *Item
	c.list(&a.list, ofAge, func(older, it *Item) {
		c.must(it.level() == level, "age list: priority %d on level %d", it.Priority, level)
		plain := it.rank.lo == maxTie
		if plain {
			c.must(older == adopted, "age list: an adopted item behind another")
			c.must(older == nil || older.rank.less(it.rank), "age list: adopted out of order")
			adopted = it
		} else if older != adopted {
			c.must(older.born < it.born, "age list: %d before %d", older.born, it.born)
		}
		c.item(it)
	})
	c.must(a.adopted == adopted, "age list: adopted isn't the last adopted")
}

// list walks a list and returns its length.
func (c *checker) list(l *list, kind int, f func(prev, it *Item)) (n int) {
	var prev *Item
	for it := l.first; it != nil; prev, it = it, it.links[kind].next {
		c.must(it.links[kind].prev == prev, "list %d: an item links back to another", kind)
		f(prev, it)
		n++
	}
	c.must(l.last == prev, "list %d: last isn't the last", kind)
	return n
}

// item checks where one item stands.
func (c *checker) item(it *Item) {
	c.states[it.state]++
	c.states[Free]--
	c.must(it.state != Free, "a free item is in the age list")
	expires := it.Expires != 0 && it.state != Running
	c.must((it.pos[byExpiry] != 0) == expires, "%v item in the expiry heap: %v", it.state, !expires)
	if expires {
		c.expiry++
	}
	if it.slot != 0 {
		c.slots++
		c.must(it.state != Running, "a running item holds a second slot")
	}
	c.must(it.state == Parked || !it.resumable, "%v item is resumable", it.state)
	if it.line != nil {
		c.lines[it.line]++
		c.must(it.line.key() == it.Key, "item of key %q in the line of %q", it.Key, it.line.key())
		c.must(it.state == Queued || it.isHead(), "%v item of key %q isn't its head", it.state, it.Key)
	}
	placed := it.rank != rank{}
	c.must(placed || it.state == Delayed, "%v item without a place", it.state)
	c.must((it.line != nil) == (placed && it.Key != ""), "%v item of key %q: in line %v", it.state, it.Key, it.line != nil)

	c.must(!it.ready || it.state == Queued, "%v item is ready", it.state)
	if it.ready {
		c.ready++
		return
	}
	timed := false
	switch it.state {
	case Queued:
		c.must(!it.isHead(), "a head isn't ready")
	case Delayed:
		timed = true
	case Running:
		timed = it.due != 0 && it.pos[byTurn] != 0 // after LeaseEnded due still says when
	case Parked:
		timed = true
		c.must(it.slot != 0, "a parked item without a slot")
	}
	c.must((it.pos[byTurn] != 0) == timed, "%v item in a time heap: %v", it.state, !timed)
	switch {
	case it.resumable:
		c.resume++
	case timed:
		c.late++
	}
}

func (c *checker) counters() {
	c.must(c.states == c.Lane.states, "states: have %v, count %v", c.Lane.states, c.states)
	c.must(len(c.Lane.late.es) == c.late, "late: have %d, count %d", len(c.Lane.late.es), c.late)
	c.must(len(c.Lane.resume.es) == c.resume, "resume: have %d, count %d", len(c.Lane.resume.es), c.resume)
	c.must(len(c.Lane.expiry.es) == c.expiry, "expiry: have %d, count %d", len(c.Lane.expiry.es), c.expiry)
	c.must(len(c.Lane.slots) == c.slots, "slots: have %d, count %d", len(c.Lane.slots), c.slots)
}

func (c *checker) readyOrder() {
	n := len(c.Lane.ready.late.es)
	for level := range c.Lane.ready.lists {
		l := &c.Lane.ready.lists[level]
		c.must((l.first != nil) == (c.Lane.ready.levels>>level&1 == 1), "ready: bit of level %d", level)
		n += c.list(l, ofLevel, func(prev, it *Item) {
			c.must(it.ready && it.level() == level && it.pos[byTurn] == 0, "ready: a wrong item")
			c.must(prev == nil || prev.rank.less(it.rank), "ready: out of order")
		})
	}
	for _, e := range c.Lane.ready.late.es {
		c.must(e.it.ready && e.rank == e.it.rank, "ready.late: a wrong item")
	}
	c.must(n == c.ready, "ready: have %d, count %d", n, c.ready)
}

func (c *checker) heap(name string, h *heap, kind uint8) {
	c.must(h.kind == kind, "%s: kind %d", name, h.kind)
	for i, e := range h.es {
		c.must(i == 0 || !e.less(h.es[(i-1)/4].rank), "%s: a child before its parent", name)
		c.must(e.it.pos[kind] == int32(i+1), "%s: an item at %d knows position %d", name, i, e.it.pos[kind]-1)
		c.must(kind == byTurn || e.rank == rank{uint64(e.it.Expires), e.it.born}, "%s: another time than the item's", name)
	}
	for _, e := range h.es[len(h.es):cap(h.es)] {
		c.must(e == entry{}, "%s: a vacated place keeps its entry", name)
	}
}

func (c *checker) keyTable() {
	n, k := 0, &c.Lane.keys
	for i := range k.buckets {
		for line := k.buckets[i]; line != nil; line = line.next {
			n++
			c.must(c.lines[line] > 0, "keys: a line that no item knows")
			c.must(k.bucket(line.hash) == &k.buckets[i] && k.line(line.key()) == line, "keys: %q isn't found", line.key())
			count, early := 0, 0
			c.list(&line.list, ofKey, func(prev, it *Item) {
				count++
				c.must(prev == nil || prev.rank.lo < it.rank.lo, "keys: %q out of order", line.key())
				if it.ready && prev != nil {
					early++
				}
			})
			c.must(count == line.len && count == c.lines[line], "keys: %q has %d, count %d", line.key(), line.len, c.lines[line])
			c.must(early < maxEarly, "keys: %q has %d early", line.key(), early)
		}
	}
	for _, line := range k.buckets[len(k.buckets):cap(k.buckets)] {
		c.must(line == nil, "keys: a vacated bucket keeps its lines")
	}
	c.must(len(k.buckets) <= max(4*n, minBuckets) && 2*n <= len(k.buckets), "keys: %d buckets for %d", len(k.buckets), n)
	c.must(n == len(c.lines) && n == c.Keys(), "keys: have %d and %d, count %d", n, c.Keys(), len(c.lines))
	spares := 0
	for line := c.Lane.keys.spare; line != nil; line = line.next {
		spares++
		c.must(*line == keyLine{next: line.next}, "keys: a spare line keeps something")
	}
	c.must(spares == c.Lane.keys.spares && spares <= maxSpares, "keys: have %d spares, count %d", c.Lane.keys.spares, spares)
}

func (c *checker) slotTable() {
	for i, it := range c.Lane.slots {
		c.must(it.slot == int32(i+1), "slots: an item at %d knows %d", i, it.slot-1)
	}
	for _, it := range c.Lane.slots[len(c.Lane.slots):cap(c.Lane.slots)] {
		c.must(it == nil, "slots: a vacated place keeps its item")
	}
}

func (c *checker) endedList() {
	for i, it := range c.Lane.ended {
		c.must(it.state == Running && it.due != 0 && it.pos[byTurn] == 0, "ended: a wrong item")
		c.must(!slices.Contains(c.Lane.ended[:i], it), "ended: an item twice")
	}
	for _, it := range c.Lane.ended[len(c.Lane.ended):cap(c.Lane.ended)] {
		c.must(it == nil, "ended: a vacated place keeps its item")
	}
}

// checkFree returns an error unless an item keeps nothing of the lane it was in.
func checkFree(it *Item) error {
	if got, want := *it, (Item{Owner: it.Owner, Key: it.Key, Expires: it.Expires, Priority: it.Priority}); got != want {
		return fmt.Errorf("a free item keeps something: %+v", got)
	}
	return nil
}
