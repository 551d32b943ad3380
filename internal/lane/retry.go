package lane

// Retry says that a Running item's attempt has failed and that the next one is at due.
//
// In place, the item is Parked: it keeps its slot, and nothing overtakes it. That is so with one worker, and for an
// item without a key, unless the lane is aside. Else it is Delayed and the worker goes on; its key waits. When due
// has come already, it is ready to run at once. Of several in place that are due at the same time, the first to fail
// is the first to run again.
func (l *Lane) Retry(it *Item, due, now int64) {
	it.mustBe(it.state == Running, "Retry")
	l.unlate(it)
	if it.Expires != 0 {
		l.expire(it)
	}
	due = max(due, 0)
	switch {
	case !l.aside && (l.single || it.Key == ""):
		l.fails++
		it.failed = l.fails
		l.keepSlot(it)
		l.park(it, due, due <= now)
	case due <= now:
		it.due = due
		l.enqueue(it)
	default:
		l.delay(it, due)
	}
}

// Lease sets or moves the end of a Running item's lease; 0 is none.
func (l *Lane) Lease(it *Item, end int64) {
	it.mustBe(it.state == Running, "Lease")
	l.unlate(it)
	it.due = end
	if end > 0 {
		l.late.push(rank{uint64(end), it.born}, it)
	}
}

// Suspend tells that the consumer is gone: a Parked item has no worker to wait with it any more. It becomes Delayed,
// or Queued where its time has come, and is treated as such, but remembers that it holds a slot.
func (l *Lane) Suspend() {
	for _, it := range l.slots {
		switch {
		case it.state != Parked:
		case it.resumable:
			l.unlate(it)
			l.enqueue(it)
		default:
			l.set(it, Delayed)
		}
	}
}

// Reattach tells that a consumer is back: what [Lane.Suspend] let go and still waits is Parked again.
func (l *Lane) Reattach() {
	for _, it := range l.slots {
		switch it.state {
		case Queued:
			l.ready.remove(it)
			l.park(it, it.due, true)
		case Delayed:
			l.set(it, Parked)
		}
	}
}

// park makes an item Parked that stands in neither ready nor a time heap.
func (l *Lane) park(it *Item, due int64, resumable bool) {
	it.due, it.resumable = due, resumable
	h := &l.late
	if resumable {
		h = &l.resume
	}
	h.push(rank{uint64(due), it.failed}, it)
	l.set(it, Parked)
}

func (l *Lane) keepSlot(it *Item) {
	l.slots = append(l.slots, it)
	it.slot = int32(len(l.slots))
}

// giveSlot forgets the slot of an item that holds one.
func (l *Lane) giveSlot(it *Item) {
	n := len(l.slots) - 1
	last := l.slots[n]
	l.slots[it.slot-1], last.slot = last, it.slot
	l.slots[n] = nil
	l.slots = l.slots[:n]
	it.slot = 0
}
