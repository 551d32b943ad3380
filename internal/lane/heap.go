package lane

// An entry copies the rank next to the pointer, so that sifting touches an item only to tell it its new position.
type entry struct {
	rank
	it *Item
}

// A heap is a min-heap of items with four children a node: half the levels of a binary one, and the children of a
// node share a cache line or two. Items know their position, which makes removal from the middle O(log n).
type heap struct {
	es   []entry
	kind uint8 // byTurn or byExpiry: which of an item's positions is this heap's
}

// first returns the least item, or nil.
func (h *heap) first() *Item {
	if len(h.es) == 0 {
		return nil
	}
	return h.es[0].it
}

// firstTime returns the rank's time of the least item in a heap ordered by time, or 0.
func (h *heap) firstTime() int64 {
	if len(h.es) == 0 {
		return 0
	}
	return int64(h.es[0].hi)
}

// due returns the least item of a heap ordered by time if its time has come, or nil.
func (h *heap) due(now int64) *Item {
	if len(h.es) == 0 || int64(h.es[0].hi) > now {
		return nil
	}
	return h.es[0].it
}

func (h *heap) push(r rank, it *Item) {
	h.es = append(h.es, entry{})
	h.up(len(h.es)-1, entry{r, it})
}

// remove takes an item out that is in this heap, wherever it stands.
func (h *heap) remove(it *Item) {
	i, n := int(it.pos[h.kind&1])-1, len(h.es)-1
	e := h.es[n]
	h.es[n] = entry{}
	h.es = h.es[:n]
	it.pos[h.kind&1] = 0
	switch {
	case i == n:
	case i > 0 && e.less(h.es[(i-1)/4].rank):
		h.up(i, e)
	default:
		h.down(i, e)
	}
}

// up puts e at position i or above, moving down what is greater on the way.
func (h *heap) up(i int, e entry) {
	for i > 0 {
		p := (i - 1) / 4
		if !e.less(h.es[p].rank) {
			break
		}
		h.set(i, h.es[p])
		i = p
	}
	h.set(i, e)
}

// down puts e at position i or below, moving up what is less on the way.
func (h *heap) down(i int, e entry) {
	es := h.es
	for {
		c := 4*i + 1
		if c >= len(es) {
			break
		}
		m := c
		for k := c + 1; k < min(c+4, len(es)); k++ {
			if es[k].less(es[m].rank) {
				m = k
			}
		}
		if !es[m].less(e.rank) {
			break
		}
		h.set(i, es[m])
		i = m
	}
	h.set(i, e)
}

func (h *heap) set(i int, e entry) {
	h.es[i] = e
	e.it.pos[h.kind&1] = int32(i + 1)
}

// trim lets spare memory go.
func (h *heap) trim() { h.es = trimmed(h.es) }

// trimmed returns s, in a smaller array where it uses a quarter of its own or less. A handful is never worth it.
func trimmed[E any](s []E) []E {
	const handful = 16
	if cap(s) <= handful || len(s) > cap(s)/4 {
		return s
	}
	if len(s) == 0 {
		return nil
	}
	return append(make([]E, 0, 2*len(s)), s...)
}
