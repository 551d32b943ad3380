package lane

import (
	"cmp"
	"slices"
)

// A model is the lane again, in the simplest way there is: one slice, scanned for every question. It is written from
// the rules in the package comment, and shares nothing with the lane but the names of the states.
type model struct {
	workers int
	aside   bool
	cut     [Levels]uint64

	items          []*message // in no order
	ended          []*message // whose lease has, for poll to return
	places, births int
	fails          int // in place
}

type message struct {
	item     *Item
	key      string
	priority int8
	expires  int64
	state    State
	due      int64
	ripe     bool   // Parked, and its time has come
	over     bool   // Running, and its lease has ended
	slot     bool   // was Parked when the consumer went
	plain    bool   // adopted
	cut      uint64 // place: cut and tie
	tie      int    // 0: no place yet
	born     int
	failed   int // number of its failure in place
}

func (m *model) accept(it *Item, state State) *message {
	m.births++
	x := &message{item: it, key: it.Key, priority: it.Priority, expires: it.Expires, state: state, born: m.births}
	m.items = append(m.items, x)
	return x
}

func (m *model) add(it *Item, due int64) {
	x := m.accept(it, Delayed)
	x.due = due
	if due == 0 {
		m.enqueue(x)
	}
}

func (m *model) adopt(it *Item, index uint64) {
	x := m.accept(it, Running)
	x.plain, x.cut, x.tie = true, index, 1<<62
}

func (m *model) enqueue(x *message) {
	if x.tie == 0 {
		m.places++
		x.cut, x.tie = m.cut[x.priority+1], m.places
	}
	x.state, x.ripe = Queued, false
}

// settle ends the lease of x, if it has one.
func (m *model) settle(x *message) {
	x.over = false
	m.ended = slices.DeleteFunc(m.ended, func(y *message) bool { return y == x })
}

func (m *model) end(x *message) {
	m.settle(x)
	for i := range m.items {
		if m.items[i] == x {
			m.items = append(m.items[:i:i], m.items[i+1:]...)
			return
		}
	}
	panic("model: no such message")
}

func (m *model) take(x *message) {
	x.state, x.due, x.ripe, x.slot = Running, 0, false, false
}

func (m *model) giveBack(x *message) {
	m.settle(x)
	m.enqueue(x)
	x.due, x.slot = 0, false
}

func (m *model) retry(x *message, due, now int64) {
	m.settle(x)
	x.due = due
	switch inPlace := !m.aside && (m.workers == 1 || x.key == ""); {
	case inPlace:
		m.fails++
		x.state, x.ripe, x.failed = Parked, due <= now, m.fails
	case due <= now:
		m.enqueue(x)
	default:
		x.state = Delayed
	}
}

func (m *model) suspend() {
	for _, x := range m.items {
		if x.state != Parked {
			continue
		}
		x.slot = true
		if x.ripe {
			m.enqueue(x)
		} else {
			x.state = Delayed
		}
	}
}

func (m *model) reattach() {
	for _, x := range m.items {
		if x.slot {
			x.ripe = x.state == Queued
			x.state, x.slot = Parked, false
		}
	}
}

func (m *model) supersede(x *message, priority int8, expires int64) {
	if priority != x.priority {
		x.cut = m.cut[priority+1]
	}
	m.births++
	x.priority, x.expires, x.born, x.due, x.slot = priority, expires, m.births, 0, false
}

// poll is one call of Lane.Poll.
func (m *model) poll(now int64) (*message, Event) {
	x := m.least(func(x *message) bool { return x.expiring() && x.expires <= now }, byExpires)
	if x != nil {
		m.end(x)
		return x, Expired
	}
	m.promote(now)
	if len(m.ended) > 0 {
		x := m.ended[0]
		m.ended = m.ended[1:]
		return x, LeaseEnded
	}
	return nil, 0
}

// promote is Lane.Promote.
func (m *model) promote(now int64) {
	for {
		x := m.least(func(x *message) bool { return x.timed() && x.due <= now }, byDue)
		switch {
		case x == nil:
			return
		case x.state == Running:
			x.over = true
			m.ended = append(m.ended, x)
		case x.state == Parked:
			x.ripe = true
		default:
			m.enqueue(x)
		}
	}
}

func (m *model) nextEvent() (at int64) {
	for _, x := range m.items {
		if x.expiring() && (at == 0 || x.expires < at) {
			at = x.expires
		}
		if (x.timed() || slices.Contains(m.ended, x)) && (at == 0 || x.due < at) {
			at = x.due
		}
	}
	return at
}

func (m *model) next() *message {
	if x := m.least(func(x *message) bool { return x.ripe }, byFailure); x != nil {
		return x
	}
	if m.count(Running, Parked) >= m.workers {
		return nil
	}
	return m.least(m.ready, byRank)
}

// ready: due, and not behind an earlier message of its key. One that runs, or waits for a retry, is earlier.
func (m *model) ready(x *message) bool {
	if x.state != Queued {
		return false
	}
	for _, y := range m.items {
		if y != x && x.key != "" && y.key == x.key && y.tie != 0 && (y.state != Queued || y.tie < x.tie) {
			return false
		}
	}
	return true
}

func (m *model) victim() *message {
	low := m.least(func(x *message) bool { return x.state.waits() }, func(x, y *message) int {
		return cmp.Compare(x.priority, y.priority)
	})
	if low == nil {
		return nil
	}
	return m.least(func(x *message) bool { return x.state.waits() && x.priority == low.priority }, byAge)
}

func (m *model) latest(key string) *message {
	return m.least(func(x *message) bool { return x.state == Queued && x.key == key }, func(x, y *message) int {
		return y.tie - x.tie
	})
}

func (m *model) keys() int {
	seen := map[string]bool{}
	for _, x := range m.items {
		if x.key != "" && x.tie != 0 {
			seen[x.key] = true
		}
	}
	return len(seen)
}

func (m *model) count(states ...State) (n int) {
	for _, s := range states {
		for _, x := range m.items {
			if x.state == s {
				n++
			}
		}
	}
	return n
}

// least returns the first of those that match, in an order, or nil.
func (m *model) least(match func(*message) bool, order func(x, y *message) int) (least *message) {
	for _, x := range m.items {
		if match(x) && (least == nil || order(x, least) < 0) {
			least = x
		}
	}
	return least
}

// expiring: it can expire where it stands.
func (x *message) expiring() bool { return x.expires != 0 && x.state != Running }

// timed: it waits for its time, or its lease has an end.
func (x *message) timed() bool {
	return x.state == Delayed || x.state == Parked && !x.ripe || x.state == Running && x.due != 0 && !x.over
}

func byFailure(x, y *message) int { return cmp.Or(cmp.Compare(x.due, y.due), x.failed-y.failed) }

func byDue(x, y *message) int { return cmp.Or(cmp.Compare(x.due, y.due), x.born-y.born) }

func byExpires(x, y *message) int { return cmp.Or(cmp.Compare(x.expires, y.expires), x.born-y.born) }

func byRank(x, y *message) int {
	return cmp.Or(cmp.Compare(y.priority, x.priority), cmp.Compare(x.cut, y.cut), x.tie-y.tie)
}

// byAge: adopted ones are older than all others, and among themselves in their order.
func byAge(x, y *message) int {
	switch {
	case x.plain && y.plain:
		return cmp.Compare(x.cut, y.cut)
	case x.plain:
		return -1
	case y.plain:
		return 1
	}
	return x.born - y.born
}

// before: plain message number i stands at {i, infinite}.
func (x *message) before(index uint64) bool {
	if x.plain {
		return x.cut < index
	}
	return x.cut <= index
}
