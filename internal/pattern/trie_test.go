package pattern

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestG31_Matching(t *testing.T) {
	var trie Trie[string]
	for _, p := range []string{"a.b.c", "a.*.c", "a.b.*", "a.>", ">", "x.y", "*", "a.b", "a.b.c.>", "a*", "*.b.c"} {
		trie.Add(p, p)
	}
	for name, want := range map[string][]string{
		"a":       {"*", ">"},
		"a.b":     {">", "a.>", "a.b"},
		"a.b.c":   {"*.b.c", ">", "a.*.c", "a.>", "a.b.*", "a.b.c"},
		"a.b.c.d": {">", "a.>", "a.b.c.>"},
		"a*":      {"*", ">", "a*"},
		"x.y":     {">", "x.y"},
		"A.b.c":   {"*.b.c", ">"},
	} {
		if diff := cmp.Diff(want, sorted(trie.Matching(name))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestG31_Within(t *testing.T) {
	var trie Trie[string]
	for _, n := range []string{"a", "b", "a.b", "a.c", "a.b.c", "b.b", "a.*b"} {
		trie.Add(n, n)
	}
	for pattern, want := range map[string][]string{
		"a":     {"a"},
		"*":     {"a", "b"},
		">":     {"a", "a.*b", "a.b", "a.b.c", "a.c", "b", "b.b"},
		"a.*":   {"a.*b", "a.b", "a.c"},
		"a.>":   {"a.*b", "a.b", "a.b.c", "a.c"},
		"*.b":   {"a.b", "b.b"},
		"*.*.>": {"a.b.c"},
		"c.*":   nil,
		"a.*b":  {"a.*b"},
	} {
		if diff := cmp.Diff(want, sorted(trie.Within(pattern))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", pattern, diff)
		}
	}
}

// One key may have several values; each is removed by itself.
func TestG31_ValuesOfOneKey(t *testing.T) {
	for _, key := range []string{"a.b", "a.*", "a.>", "*", ">"} {
		var trie Trie[int]
		for v := range 3 {
			trie.Add(key, v)
		}
		trie.Remove(key, 1)
		if diff := cmp.Diff([]int{0, 2}, sorted(trie.Matching(strings.NewReplacer("*", "b", ">", "b").Replace(key)))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
		trie.Remove(key, 0)
		trie.Remove(key, 2)
		if held, dead := trie.root.count(); held+dead+trie.Len() > 0 || !trie.root.isEmpty() {
			t.Errorf("%s: something is left of an emptied trie", key)
		}
	}
}

func TestG31_Check(t *testing.T) {
	for _, p := range []string{
		"a", "*", ">", "a.*", "*.a.>", "a*", "a.>b.c", ">>", "**", "a.b*.>", "ä.🏠", strings.Repeat("a", 255), strings.Repeat("a.", 127) + "a",
	} {
		if err := Check(p); err != nil {
			t.Errorf("Check(%q) = %v", p, err)
		}
	}
	for _, p := range []string{
		"", ".", "a.", ".a", "a..b", "a.>.b", ">.a", ">.>", "a\nb", "a\x00", "a\xff", strings.Repeat("a", 256), "a.\u0085",
	} {
		if Check(p) == nil {
			t.Errorf("Check(%q) = nil", p)
		}
	}
	for p, want := range map[string]bool{"a": true, "a.b": true, "a*": true, "a.>b": true, "*": false, "a.*.b": false, "a.>": false} {
		if IsName(p) != want {
			t.Errorf("IsName(%q) = %t", p, !want)
		}
	}
}

// What it costs to find the patterns of a name depends on those that match a
// beginning of it, not on how many others there are.
func TestG31_CostIsThatOfWhatMatches(t *testing.T) {
	var trie Trie[int]
	trie.Add("orders.*.created", 0)
	trie.Add("orders.>", 1)
	alone := cost(&trie, "orders.eu.created")
	for i := range 100_000 {
		trie.Add(fmt.Sprintf("noise%d.*.>", i), i)
		trie.Add(fmt.Sprintf("orders.noise%d.*", i), i)
	}
	if got := cost(&trie, "orders.eu.created"); got != alone {
		t.Errorf("%d nodes visited among 200,000 patterns, %d alone", got, alone)
	}
}

// No pattern makes it take longer than its own length: there's no going back.
func TestG31_NoBlowUp(t *testing.T) {
	const words = 127
	name := strings.Repeat("a.", words) + "a"
	var trie Trie[int]
	trie.Add(strings.Repeat("*.", words-1)+"*", 0) // one word short
	trie.Add(strings.Repeat("*.", words-1)+"b", 1)
	trie.Add(strings.Repeat("a.", words-1)+">", 2)
	if got := cost(&trie, name); got > 2*words+4 {
		t.Errorf("%d nodes visited for a name of %d words", got, words+1)
	}
	nodes := 0
	var wide Trie[int]
	for mask := range 1 << 10 { // all of a and * in ten words: each node of it matches
		p := make([]string, 10)
		for i := range p {
			if p[i] = "a"; mask>>i&1 == 1 {
				p[i] = "*"
			}
		}
		wide.Add(strings.Join(p, ".")+".x", mask)
	}
	nodes = cost(&wide, strings.Repeat("a.", 10)+"y")
	if nodes > 2<<10 {
		t.Errorf("%d nodes visited of a trie of fewer than %d", nodes, 2<<10)
	}
}

// cost is the number of nodes visited.
func cost(trie *Trie[int], name string) int {
	w := walk[int]{yield: func(int) bool { return true }}
	w.matching(&trie.root, name)
	return w.nodes
}

// A removed key is let go of, also where a part of it lives on.
func TestG34_RemovedKeysLeaveNothing(t *testing.T) {
	var trie Trie[int]
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	key := func(i int) string { return fmt.Sprintf("w%d.%s.*", i, strings.Repeat("x", 200)) }
	before := heap()
	for i := range 10_000 {
		trie.Add(key(i), i)
	}
	for i := range 10_000 {
		trie.Remove(key(i), i)
	}
	if after := heap(); after > before+100_000 {
		t.Errorf("%d bytes kept", after-before)
	}
	runtime.KeepAlive(&trie)
}
