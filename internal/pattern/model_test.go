package pattern

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestG31_Model runs random calls on two tries, one of patterns and one of
// names, against plain lists and the naive matcher.
func TestG31_Model(t *testing.T) {
	check(t, func(t *rapid.T) {
		t.Repeat(rapid.StateMachineActions(&machine{}))
	})
}

// An entry is a key and the value it was added with.
type entry struct {
	key   string
	value int
}

// A machine drives the tries and their models. Its exported methods are the
// actions.
type machine struct {
	patterns, names Trie[int]
	addedPatterns   []entry
	addedNames      []entry
	last            int
}

func (m *machine) AddPattern(t *rapid.T) {
	m.add(&m.patterns, &m.addedPatterns, drawPattern().Draw(t, "pattern"))
}

func (m *machine) AddName(t *rapid.T) { m.add(&m.names, &m.addedNames, drawName().Draw(t, "name")) }

func (m *machine) RemovePattern(t *rapid.T) { remove(t, &m.patterns, &m.addedPatterns) }

func (m *machine) RemoveName(t *rapid.T) { remove(t, &m.names, &m.addedNames) }

// RemoveAbsent takes away what isn't there, under a key that may be.
func (m *machine) RemoveAbsent(t *rapid.T) {
	if m.patterns.Remove(drawPattern().Draw(t, "pattern"), -1) {
		t.Fatal("removed what was never added")
	}
}

func (m *machine) Matching(t *rapid.T) {
	name := drawName().Draw(t, "name")
	want := values(m.addedPatterns, func(key string) bool { return matches(key, name) })
	if diff := cmp.Diff(want, sorted(m.patterns.Matching(name))); diff != "" {
		t.Fatalf("Matching(%q) of %v (-want +got):\n%s", name, m.addedPatterns, diff)
	}
}

func (m *machine) Within(t *rapid.T) {
	pattern := drawPattern().Draw(t, "pattern")
	want := values(m.addedNames, func(key string) bool { return matches(pattern, key) })
	if diff := cmp.Diff(want, sorted(m.names.Within(pattern))); diff != "" {
		t.Fatalf("Within(%q) of %v (-want +got):\n%s", pattern, m.addedNames, diff)
	}
}

// Stop leaves a loop in the middle.
func (m *machine) Stop(t *rapid.T) {
	name := drawName().Draw(t, "name")
	all := sorted(m.patterns.Matching(name))
	n := rapid.IntRange(0, len(all)).Draw(t, "values")
	seen := 0
	for range m.patterns.Matching(name) {
		if seen++; seen >= n {
			break
		}
	}
	if want := min(max(n, 1), len(all)); seen != want {
		t.Fatalf("a loop left after %d values of %d had %d", want, len(all), seen)
	}
}

// Check is called after each action: the tries have what was added, and no
// node that leads nowhere.
func (m *machine) Check(t *rapid.T) {
	for _, trie := range []struct {
		*Trie[int]
		want int
	}{{&m.patterns, len(m.addedPatterns)}, {&m.names, len(m.addedNames)}} {
		held, dead := trie.root.count()
		if trie.Len() != trie.want || held != trie.want || dead > 0 {
			t.Fatalf("Len %d, holds %d, want %d; %d nodes lead nowhere", trie.Len(), held, trie.want, dead)
		}
	}
}

func (m *machine) add(trie *Trie[int], model *[]entry, key string) {
	m.last++
	trie.Add(key, m.last)
	*model = append(*model, entry{key, m.last})
}

func remove(t *rapid.T, trie *Trie[int], model *[]entry) {
	if len(*model) == 0 {
		t.Skip("nothing added")
	}
	i := rapid.IntRange(0, len(*model)-1).Draw(t, "entry")
	e := (*model)[i]
	*model = slices.Delete(*model, i, i+1)
	if !trie.Remove(e.key, e.value) || trie.Remove(e.key, e.value) {
		t.Fatalf("%v can't be removed just once", e)
	}
}

func values(entries []entry, match func(key string) bool) (vs []int) {
	for _, e := range entries {
		if match(e.key) {
			vs = append(vs, e.value)
		}
	}
	slices.Sort(vs)
	return vs
}

// count returns how many values n and what is below hold, and how many nodes
// below are empty.
func (n *node[V]) count() (held, dead int) {
	held = len(n.ends) + len(n.rests)
	for _, next := range n.below() {
		h, d := next.count()
		held, dead = held+h, dead+d
		if h == 0 {
			dead++
		}
	}
	return held, dead
}

func (n *node[V]) below() []*node[V] {
	var all []*node[V]
	if n.one != nil {
		all = append(all, n.one)
	}
	for _, next := range n.words {
		all = append(all, next)
	}
	return all
}
