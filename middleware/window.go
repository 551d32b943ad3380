package middleware

// A window remembers the n IDs that were seen last. The entries are a ring by
// when they were seen, which begins and ends at root.
type window struct {
	n       int
	entries map[string]*entry
	root    *entry // next is the one seen last, prev the one seen least recently
}

type entry struct {
	id         string
	prev, next *entry
}

func newWindow(n int) window {
	root := &entry{}
	root.prev, root.next = root, root
	return window{n: n, entries: map[string]*entry{}, root: root}
}

// see reports whether id is remembered, and if so takes note that it was seen.
func (w *window) see(id string) bool {
	e := w.entries[id]
	if e == nil {
		return false
	}
	e.unlink()
	w.push(e)
	return true
}

// add remembers id, and forgets another if there are more than n.
func (w *window) add(id string) {
	if w.see(id) {
		return
	}
	e := &entry{id: id}
	w.entries[id] = e
	w.push(e)
	if len(w.entries) > w.n {
		oldest := w.root.prev
		oldest.unlink()
		delete(w.entries, oldest.id)
	}
}

func (w *window) push(e *entry) {
	e.prev, e.next = w.root, w.root.next
	e.prev.next, e.next.prev = e, e
}

func (e *entry) unlink() {
	e.prev.next, e.next.prev = e.next, e.prev
	e.prev, e.next = nil, nil
}
