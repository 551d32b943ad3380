package pattern

import (
	"iter"
	"slices"
	"strings"
)

// A Trie holds values under keys that are either all patterns or all names,
// by word. It expects valid ones. It isn't safe for concurrent use. The zero
// Trie is empty.
//
// A look-up visits the nodes whose path matches a beginning of what is looked
// up, each once: what doesn't match costs nothing beyond its first word that
// doesn't, however much of it there is.
type Trie[V comparable] struct {
	root node[V]
	n    int
}

// A node is where keys go on after the words that lead to it. Only the root
// may be empty.
type node[V comparable] struct {
	ends  []V // of keys that end here
	rests []V // of keys that go on with ">"
	one   *node[V]
	words map[string]*node[V] // by literal word
}

// Len returns how many values there are.
func (t *Trie[V]) Len() int { return t.n }

// Add puts v under key. It must not be there yet.
func (t *Trie[V]) Add(key string, v V) {
	t.n++
	n := &t.root
	for word, more := "", true; more; {
		word, key, more = strings.Cut(key, ".")
		if word == rest {
			n.rests = append(n.rests, v)
			return
		}
		n = n.grow(word)
	}
	n.ends = append(n.ends, v)
}

// Remove takes v away from under key, and reports whether it was there.
// Nothing remains of a path that leads nowhere any more.
func (t *Trie[V]) Remove(key string, v V) bool {
	ok := t.root.remove(key, v)
	if ok {
		t.n--
	}
	return ok
}

// Matching yields the values of the patterns that match name, in no order.
func (t *Trie[V]) Matching(name string) iter.Seq[V] {
	return func(yield func(V) bool) {
		w := walk[V]{yield: yield}
		w.matching(&t.root, name)
	}
}

// Within yields the values of the names that pattern matches, in no order.
func (t *Trie[V]) Within(pattern string) iter.Seq[V] {
	return func(yield func(V) bool) {
		w := walk[V]{yield: yield}
		w.within(&t.root, pattern)
	}
}

// A walk is one look-up. Its methods return false when it's over.
type walk[V comparable] struct {
	yield func(V) bool
	nodes int // visited, for tests
}

func (w *walk[V]) each(vs []V) bool {
	for _, v := range vs {
		if !w.yield(v) {
			return false
		}
	}
	return true
}

func (w *walk[V]) matching(n *node[V], name string) bool {
	w.nodes++
	if !w.each(n.rests) {
		return false
	}
	word, tail, more := strings.Cut(name, ".")
	for _, next := range [...]*node[V]{n.words[word], n.one} {
		switch {
		case next == nil:
		case more:
			if !w.matching(next, tail) {
				return false
			}
		default:
			w.nodes++
			if !w.each(next.ends) {
				return false
			}
		}
	}
	return true
}

func (w *walk[V]) within(n *node[V], pattern string) bool {
	w.nodes++
	word, tail, more := strings.Cut(pattern, ".")
	switch word {
	case rest:
		return w.below(n)
	case one:
		for _, next := range n.words {
			if !w.follow(next, tail, more) {
				return false
			}
		}
		return true
	}
	return w.follow(n.words[word], tail, more)
}

// follow goes on at next (nil: there's no such node) with the rest of a pattern.
func (w *walk[V]) follow(next *node[V], tail string, more bool) bool {
	switch {
	case next == nil:
		return true
	case more:
		return w.within(next, tail)
	}
	w.nodes++
	return w.each(next.ends)
}

// below yields all that is further down than n.
func (w *walk[V]) below(n *node[V]) bool {
	for _, next := range n.words {
		w.nodes++
		if !w.each(next.ends) || !w.below(next) {
			return false
		}
	}
	return true
}

// grow returns the node after n by word, making it if need be.
func (n *node[V]) grow(word string) *node[V] {
	if next := n.next(word); next != nil {
		return next
	}
	next := new(node[V])
	if word == one {
		n.one = next
		return next
	}
	if n.words == nil {
		n.words = map[string]*node[V]{}
	}
	n.words[strings.Clone(word)] = next // a copy doesn't keep the whole key in memory
	return next
}

func (n *node[V]) next(word string) *node[V] {
	if word == one {
		return n.one
	}
	return n.words[word]
}

func (n *node[V]) remove(key string, v V) (ok bool) {
	word, tail, more := strings.Cut(key, ".")
	if word == rest {
		n.rests, ok = without(n.rests, v)
		return ok
	}
	next := n.next(word)
	switch {
	case next == nil:
		return false
	case more:
		ok = next.remove(tail, v)
	default:
		next.ends, ok = without(next.ends, v)
	}
	if next.isEmpty() {
		n.forget(word)
	}
	return ok
}

func (n *node[V]) isEmpty() bool {
	return len(n.ends) == 0 && len(n.rests) == 0 && n.one == nil && len(n.words) == 0
}

func (n *node[V]) forget(word string) {
	if word == one {
		n.one = nil
		return
	}
	delete(n.words, word)
	if len(n.words) == 0 {
		n.words = nil
	}
}

// without removes v from vs, in place.
func without[V comparable](vs []V, v V) ([]V, bool) {
	i := slices.Index(vs, v)
	if i < 0 {
		return vs, false
	}
	if len(vs) == 1 {
		return nil, true
	}
	return slices.Delete(vs, i, i+1), true
}
