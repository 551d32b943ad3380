package herald

import "slices"

// A span is a range of offsets, both ends included.
type span struct{ first, last uint64 }

// spans are disjoint ranges in ascending order.
type spans []span

// add returns p with one more range, merged with those that it meets.
func (p spans) add(n span) spans {
	if n.first > n.last {
		return p
	}
	i := 0
	for i < len(p) && p[i].last+1 < n.first {
		i++
	}
	j := i
	for ; j < len(p) && p[j].first <= n.last+1; j++ {
		n.first, n.last = min(n.first, p[j].first), max(n.last, p[j].last)
	}
	return slices.Replace(p, i, j, n)
}

// overlap returns how many offsets of n are in p.
func (p spans) overlap(n span) (count uint64) {
	for _, s := range p {
		if first, last := max(s.first, n.first), min(s.last, n.last); first <= last {
			count += last - first + 1
		}
	}
	return count
}

// from returns p without what is below first.
func (p spans) from(first uint64) spans {
	for len(p) > 0 && p[0].last < first {
		p = p[1:]
	}
	return slices.Clone(p)
}
