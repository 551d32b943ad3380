package lane

// Trim lets spare memory go, but for a handful. Call it when there is nothing to do: it costs O(1) unless most of
// what the lane holds is spare, and then no more than it took to grow.
func (l *Lane) Trim() {
	l.ready.late.trim()
	l.late.trim()
	l.resume.trim()
	l.expiry.trim()
	l.keys.trim()
	l.slots = trimmed(l.slots)
	l.ended = trimmed(l.ended)
}
