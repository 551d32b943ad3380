package lane

import "math/bits"

// ready holds the items that may run now. What arrives in order is appended to its level's list, which costs O(1);
// what comes back out of order goes to one heap over all levels. The least is the lesser of the two fronts.
//
// It may hold a few items early, which still stand behind another of their key: mostly they are the head by the time
// it is their turn, and have cost no heap. Who asks for the first must skip those that are not.
type ready struct {
	lists  [Levels]list // each ascending by rank
	levels uint8        // bit i is set while lists[i] has items
	late   heap
}

func (r *ready) push(it *Item) {
	it.ready = true
	level := it.level()
	l := &r.lists[level]
	if l.last != nil && it.rank.less(l.last.rank) {
		r.late.push(it.rank, it)
		return
	}
	l.push(it, ofLevel)
	r.levels |= 1 << level
}

func (r *ready) remove(it *Item) {
	it.ready = false
	if it.pos[byTurn] != 0 {
		r.late.remove(it)
		return
	}
	level := it.level()
	l := &r.lists[level]
	l.remove(it, ofLevel)
	if l.first == nil {
		r.levels &^= 1 << level
	}
}

// first returns the least item, or nil.
func (r *ready) first() *Item {
	late := r.late.first()
	if r.levels == 0 {
		return late
	}
	it := r.lists[(bits.Len8(r.levels)-1)&(Levels-1)].first
	if late != nil && late.rank.less(it.rank) {
		return late
	}
	return it
}
