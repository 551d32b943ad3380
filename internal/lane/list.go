package lane

// A list is a doubly linked list of items. An item stands in at most one of each kind; the kind says which of its
// links are this list's, and is a constant at every call.
type list struct{ first, last *Item }

const (
	ofLevel = iota // a level's ready items, by rank
	ofKey          // a key's items, by place
	ofAge          // a level's items, by acceptance
	listKinds
)

// A link holds an item's neighbours in one list.
type link struct{ prev, next *Item }

func (l *list) push(it *Item, kind int) {
	it.links[kind].prev = l.last
	if l.last == nil {
		l.first = it
	} else {
		l.last.links[kind].next = it
	}
	l.last = it
}

// insert puts an item behind prev, or in front if that is nil.
func (l *list) insert(it, prev *Item, kind int) {
	next := l.first
	if prev != nil {
		next = prev.links[kind].next
	}
	it.links[kind] = link{prev, next}
	if prev == nil {
		l.first = it
	} else {
		prev.links[kind].next = it
	}
	if next == nil {
		l.last = it
	} else {
		next.links[kind].prev = it
	}
}

func (l *list) remove(it *Item, kind int) {
	prev, next := it.links[kind].prev, it.links[kind].next
	if prev == nil {
		l.first = next
	} else {
		prev.links[kind].next = next
	}
	if next == nil {
		l.last = prev
	} else {
		next.links[kind].prev = prev
	}
	it.links[kind].prev, it.links[kind].next = nil, nil
}
