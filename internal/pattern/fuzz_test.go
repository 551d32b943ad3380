package pattern

import (
	"strings"
	"testing"
)

// FuzzTrie compares the trie with the naive matcher, both ways (G31).
func FuzzTrie(f *testing.F) {
	for _, s := range [][2]string{
		{"a.*.c > a.> *.* a*", "a.b.c a.b a*"},
		{"foo.**.> foo.*bar.* >", "foo.** foo.**.x foo.*bar.baz"},
		{"датчик.> 🏠.*", "датчик.a.b 🏠.📊"},
		{"*.*.* a.a.> a.a.a", "a.a.a a.a a"},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, patterns, names string) {
		var ps, ns []string
		for _, p := range strings.Fields(patterns) {
			if Check(p) == nil {
				ps = append(ps, p)
			}
		}
		for _, n := range strings.Fields(names) {
			if Check(n) == nil && IsName(n) {
				ns = append(ns, n)
			}
		}
		var byPattern, byName Trie[int]
		for i, p := range ps {
			byPattern.Add(p, i)
		}
		for i, n := range ns {
			byName.Add(n, i)
		}
		type pair struct{ pattern, name int }
		met := map[pair]int{}
		for i, n := range ns {
			for p := range byPattern.Matching(n) {
				met[pair{p, i}] |= 1
			}
		}
		for i, p := range ps {
			for n := range byName.Within(p) {
				met[pair{i, n}] |= 2
			}
		}
		for i, p := range ps {
			for j, n := range ns {
				want := 0
				if matches(p, n) {
					want = 3
				}
				if met[pair{i, j}] != want {
					t.Errorf("%q and %q: the tries say %d, want %d", p, n, met[pair{i, j}], want)
				}
			}
		}
		for i, p := range ps {
			byPattern.Remove(p, i)
		}
		for i, n := range ns {
			byName.Remove(n, i)
		}
		if !byPattern.root.isEmpty() || !byName.root.isEmpty() {
			t.Error("something is left of emptied tries")
		}
	})
}
