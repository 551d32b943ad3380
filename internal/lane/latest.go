package lane

// Latest returns the newest Queued item of a key, or nil.
func (l *Lane) Latest(key string) *Item {
	line := l.keys.line(key)
	if line == nil || line.last.state != Queued {
		return nil
	}
	return line.last
}

// Supersede lets a newer message take a Queued item's place in line, with a priority and an expiry of its own. The
// message counts as accepted now, and as never tried. On another level its place is behind the plain messages
// that are there by now: their count there at the time of the old message isn't known, and overtaking would be wrong.
func (l *Lane) Supersede(it *Item, priority int8, expires int64) {
	it.mustBe(it.state == Queued && it.Key != "", "Supersede")
	ready := it.ready
	if ready {
		l.ready.remove(it)
	}
	l.unhold(it)
	l.ages[it.level()].drop(it)

	if priority != it.Priority {
		it.Priority = priority
		it.rank = rankOf(it.level(), l.Cut[it.level()], it.rank.lo)
	}
	l.births++
	it.born, it.due, it.Expires = l.births, 0, expires
	l.ages[it.level()].add(it)
	if it.Expires != 0 {
		l.expire(it)
	}
	if ready {
		l.ready.push(it)
	}
}
