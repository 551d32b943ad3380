// Package lane is the side lane: the reference order of one subscription, as data. It knows priorities, keys,
// delays, retries, expiries, leases and eviction, and decides for each message when it is its turn.
//
// A [Lane] has no lock, clock or goroutine and runs no user code. Its caller holds the subscription's mutex during
// every call, owns the items, and tells the time, in nanoseconds on a clock of its own; a time is greater than 0.
//
// # Order
//
// The item that runs next is, of those ready, the one with the highest priority, then the lowest place. A place is
// the pair {cut, tie}, given when the item is first due and kept until its end: cut is the number of messages of its
// level that the plain lane beside this one had taken in by then, tie counts the places given here. The plain lane's
// own message number i ranks as {i, ∞}. So one order runs through both lanes, and neither asks the other.
//
// Ready is what is due and not behind an earlier message of its key. What is in flight, or waits for a retry, is
// earlier than all that is behind it.
//
// # Who stands where
//
//	          ready     late    resume    expiry¹   slots   age   line²
//	Queued    if head³   –        –         yes       ⁴     yes   yes
//	Delayed     –       yes       –         yes       ⁴     yes   a retry, as head
//	Running     –       lease⁵    –          –        –     yes   as head
//	Parked      –      not due   if due     yes      yes    yes   as head
//	Free        –        –        –          –        –      –     –
//
// ¹ Where it expires at all. ² Where it has a key; the table holds a key exactly while its line has items. ³ An item
// without a key is one; a few others may stand there early. ⁴ Only if it was Parked when its consumer went, see
// [Lane.Suspend]. ⁵ Until its end; then in ended, until Poll returns it.
package lane

import "slices"

// Levels is the number of priorities; priorities -1..2 are levels 0..3.
const Levels = 4

// A Lane orders the messages of one subscription. Its zero value must be set up with Init.
type Lane struct {
	// Cut counts, by level, the messages the plain lane has ever taken in. Its owner writes it, this lane reads it.
	Cut [Levels]uint64

	ready  ready
	late   heap // by due or lease end
	resume heap // Parked items whose time has come, by due
	expiry heap // by Expires
	keys   keys
	ages   [Levels]ages
	slots  []*Item // items that hold a slot while they wait; in no order
	ended  []*Item // Running items whose lease has ended, for Poll to return

	ties   uint64          // places given
	births uint64          // items accepted
	fails  uint64          // attempts failed in place
	states [Parked + 1]int // items by state; minus all of them for Free

	workers int
	single  bool // one worker, by Init
	aside   bool
}

// maxEarly is the length up to which a key's line stands in ready as a whole. It bounds what one Next has to skip.
const maxEarly = 256

// Init sets a zero lane up: how many may be in flight at once, and whether every failed attempt goes aside.
func (l *Lane) Init(workers int, aside bool) {
	l.workers, l.single, l.aside = workers, workers == 1, aside
	l.expiry.kind = byExpiry
}

// SetWorkers changes how many may be in flight at once, while none is Running. Whether attempts fail in place is
// still decided by what Init said.
func (l *Lane) SetWorkers(n int) { l.workers = n }

// Counters, all O(1).

func (l *Lane) Queued() int  { return l.states[Queued] }
func (l *Lane) Delayed() int { return l.states[Delayed] }
func (l *Lane) Running() int { return l.states[Running] }
func (l *Lane) Parked() int  { return l.states[Parked] }

// Resumable returns how many of those Parked may run again.
func (l *Lane) Resumable() int { return len(l.resume.es) }

// Len returns how many are accepted and not in flight.
func (l *Lane) Len() int { return l.states[Queued] + l.states[Delayed] }

// Empty reports whether the lane holds no item in any state.
func (l *Lane) Empty() bool { return l.states[Free] == 0 }

// Keys returns how many keys are in use.
func (l *Lane) Keys() int { return l.keys.n }

// HasRoom reports whether one more item may run.
func (l *Lane) HasRoom() bool { return l.states[Running]+l.states[Parked] < l.workers }

// Add accepts a Free item: at once with a new place if due is 0, else Delayed until due.
func (l *Lane) Add(it *Item, due int64) {
	it.mustBe(it.state == Free, "Add")
	l.births++
	it.born = l.births
	l.ages[it.level()].add(it)
	if it.Expires != 0 {
		l.expire(it)
	}
	if due > 0 {
		l.delay(it, due)
		return
	}
	l.enqueue(it)
}

// Adopt takes in the plain lane's message number index, which its consumer has in hand: it is Running, at the place
// it has there, and older than all that came in here. It must have no key; indexes ascend within a level.
func (l *Lane) Adopt(it *Item, index uint64) {
	it.mustBe(it.state == Free && it.Key == "", "Adopt")
	l.births++
	it.born = l.births
	it.rank = rankOf(it.level(), index, maxTie)
	l.ages[it.level()].adopt(it)
	l.set(it, Running)
}

// Next returns the item whose turn it is, or nil. Parked items whose time has come are first, as they hold a slot
// already; any other needs room. Nothing changes until [Lane.Take].
func (l *Lane) Next() *Item {
	if it := l.resume.first(); it != nil {
		return it
	}
	if !l.HasRoom() {
		return nil
	}
	it := l.ready.first()
	for it != nil && !it.isHead() {
		l.ready.remove(it) // too early: it comes back as the head
		it = l.ready.first()
	}
	return it
}

// Before reports whether it precedes the plain lane's message number index of the same level.
func (l *Lane) Before(it *Item, index uint64) bool {
	return it.rank.less(rankOf(it.level(), index, maxTie))
}

// Take hands the item of [Lane.Next] to its consumer: Running.
func (l *Lane) Take(it *Item) {
	it.mustBe(it.state == Queued && it.isHead() || it.resumable, "Take")
	if it.resumable {
		l.unlate(it)
	} else {
		l.ready.remove(it)
	}
	l.unhold(it)
	it.due = 0
	l.set(it, Running)
}

// Done ends a Running item.
func (l *Lane) Done(it *Item) {
	it.mustBe(it.state == Running, "Done")
	l.unlate(it)
	l.end(it)
}

// Return puts a Running or Parked item back in the queue, at its old place and as the head of its key.
func (l *Lane) Return(it *Item) {
	it.mustBe(it.state == Running || it.state == Parked, "Return")
	l.unlate(it)
	l.unhold(it)
	if it.Expires != 0 {
		l.expire(it)
	}
	it.due = 0
	l.enqueue(it)
}

// enqueue makes an item Queued that stands in neither ready nor a time heap, with a place if it has none yet.
func (l *Lane) enqueue(it *Item) {
	if it.rank.lo == 0 {
		l.ties++
		it.rank = rankOf(it.level(), l.Cut[it.level()], l.ties)
	}
	l.set(it, Queued)
	if it.Key == "" || it.line != nil || l.keys.join(it).len <= maxEarly {
		l.ready.push(it)
	}
}

// delay makes an item Delayed until due.
func (l *Lane) delay(it *Item, due int64) {
	it.due = due
	l.late.push(rank{uint64(due), it.born}, it)
	l.set(it, Delayed)
}

// end frees an item that stands nowhere any more but in the age list and its key's line.
func (l *Lane) end(it *Item) {
	l.ages[it.level()].drop(it)
	if it.line != nil {
		if head := l.keys.leave(it); head != nil && head.state == Queued && !head.ready {
			l.ready.push(head)
		}
	}
	l.set(it, Free)
	it.rank, it.due, it.born, it.failed = rank{}, 0, 0, 0
}

// set is the only writer of an item's state.
func (l *Lane) set(it *Item, s State) {
	l.states[it.state]--
	l.states[s]++
	it.state = s
}

// expire lets an item expire at its time.
func (l *Lane) expire(it *Item) { l.expiry.push(rank{uint64(it.Expires), it.born}, it) }

// unlate takes an item that is not Queued out of where its time is kept, if anywhere.
func (l *Lane) unlate(it *Item) {
	if it.pos[byTurn] != 0 || len(l.ended) > 0 {
		l.forgetTime(it)
	}
}

func (l *Lane) forgetTime(it *Item) {
	switch {
	case it.resumable:
		l.resume.remove(it)
		it.resumable = false
	case it.pos[byTurn] != 0:
		l.late.remove(it)
	case it.state == Running:
		l.ended = slices.DeleteFunc(l.ended, func(e *Item) bool { return e == it })
	}
}

// unhold takes an item out of what only those hold that wait: expiry, and a slot without running.
func (l *Lane) unhold(it *Item) {
	if it.pos[byExpiry]|it.slot != 0 {
		l.forgetWait(it)
	}
}

func (l *Lane) forgetWait(it *Item) {
	if it.pos[byExpiry] != 0 {
		l.expiry.remove(it)
	}
	if it.slot != 0 {
		l.giveSlot(it)
	}
}
