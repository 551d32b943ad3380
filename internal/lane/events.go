package lane

// An Event is what [Lane.Poll] found out about an item; 0 is none.
type Event uint8

const (
	Expired    Event = iota + 1 // its time to live is over: it has been removed
	LeaseEnded                  // its lease is over: it is Running still, without a lease
)

// Poll brings the lane to the time now. Items whose due has come are moved to where they may run; what the caller
// must handle is returned, one item a call, until there is nil. Expiry comes before anything else: an item that
// expires now never runs. With nothing due it costs O(1).
//
// An item whose lease has ended still says in Due when that was.
func (l *Lane) Poll(now int64) (*Item, Event) {
	if it := l.expiry.due(now); it != nil {
		l.drop(it)
		return it, Expired
	}
	l.Promote(now)
	if len(l.ended) > 0 {
		it := l.ended[0]
		l.ended[0] = nil
		if l.ended = l.ended[1:]; len(l.ended) == 0 {
			l.ended = nil
		}
		return it, LeaseEnded
	}
	return nil, 0
}

// Promote moves the items whose due has come to where they may run, each with a place as of its due, and leaves the
// rest to Poll. Call it before Add: what is added must stand behind what was due before. An item that has expired
// too may get a place here, but Poll finds it before it runs.
func (l *Lane) Promote(now int64) {
	for it := l.late.due(now); it != nil; it = l.late.due(now) {
		l.late.remove(it)
		switch it.state {
		case Running:
			l.ended = append(l.ended, it)
		case Parked:
			l.park(it, it.due, true)
		default:
			l.enqueue(it)
		}
	}
}

// NextDue returns the earliest time at which Promote will find something, or 0.
func (l *Lane) NextDue() int64 { return l.late.firstTime() }

// NextEvent returns the earliest time at which Poll will find something, or 0.
func (l *Lane) NextEvent() int64 {
	due, expiry := l.late.firstTime(), l.expiry.firstTime()
	if len(l.ended) > 0 {
		due = l.ended[0].due
	}
	if due == 0 || expiry != 0 && expiry < due {
		return expiry
	}
	return due
}
