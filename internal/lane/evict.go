package lane

// Victim returns the item that a full queue can do without: the oldest accepted of the lowest priority, of those
// Queued or Delayed, or nil. It costs O(in flight).
func (l *Lane) Victim() *Item {
	for level := range l.ages {
		if it := l.ages[level].waiting(); it != nil {
			return it
		}
	}
	return nil
}

// Lowest returns the lowest priority of all that is Queued or Delayed. It costs as much as Victim.
func (l *Lane) Lowest() (priority int8, ok bool) {
	it := l.Victim()
	if it == nil {
		return 0, false
	}
	return it.Priority, true
}

// Remove takes a Queued or Delayed item out, wherever it stands. Where it held its key, the key is released.
func (l *Lane) Remove(it *Item) {
	it.mustBe(it.state.waits(), "Remove")
	l.drop(it)
}

// Clear removes all that is Queued or Delayed, and hands each item to f once it is Free: level by level, the oldest
// first. f must not call the lane.
func (l *Lane) Clear(f func(*Item)) { l.Prune(func(*Item) bool { return true }, f) }

// Prune is Clear for those items that match; match must not call the lane either.
func (l *Lane) Prune(match func(*Item) bool, f func(*Item)) {
	for level := range l.ages {
		for it := l.ages[level].first; it != nil; {
			next := it.links[ofAge].next
			if it.state.waits() && match(it) {
				l.drop(it)
				f(it)
			}
			it = next
		}
	}
}

// drop ends an item that is not Running.
func (l *Lane) drop(it *Item) {
	if it.ready {
		l.ready.remove(it)
	} else {
		l.unlate(it)
	}
	l.unhold(it)
	l.end(it)
}
