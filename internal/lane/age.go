package lane

// ages is one level's items by acceptance, the oldest first, those in flight included: an item that comes back to
// the queue is where it always was. Adopted ones form the front, in the order of the plain lane they come from: they
// were accepted before any message that stands here, or concurrently.
type ages struct {
	list
	adopted *Item // the youngest of the adopted, or nil
}

func (a *ages) add(it *Item) { a.push(it, ofAge) }

// adopt inserts behind the adopted ones: a plain lane gives its messages out in order.
func (a *ages) adopt(it *Item) {
	a.insert(it, a.adopted, ofAge)
	a.adopted = it
}

func (a *ages) drop(it *Item) {
	if a.adopted == it {
		a.adopted = it.links[ofAge].prev
	}
	a.remove(it, ofAge)
}

// waiting returns the oldest item that is not in flight, or nil. It passes over at most as many as are in flight.
func (a *ages) waiting() *Item {
	it := a.first
	for it != nil && !it.state.waits() {
		it = it.links[ofAge].next
	}
	return it
}
