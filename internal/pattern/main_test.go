package pattern

import (
	"flag"
	"iter"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// matches is the naive matcher: word against word.
func matches(pattern, name string) bool {
	ps, ns := strings.Split(pattern, "."), strings.Split(name, ".")
	for i, p := range ps {
		switch {
		case p == ">":
			return len(ns) > i
		case i >= len(ns):
			return false
		case p != "*" && p != ns[i]:
			return false
		}
	}
	return len(ps) == len(ns)
}

func sorted[V int | string](seq iter.Seq[V]) []V { return slices.Sorted(seq) }

// words are few, so that names and patterns meet often.
var words = []string{"a", "b", "*", ">", "**", "a*", ">a", "é"}

func drawWord(wild bool) *rapid.Generator[string] {
	return rapid.SampledFrom(words).Filter(func(w string) bool { return wild || w != "*" && w != ">" })
}

func drawName() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(drawWord(false), 1, 5).Draw(t, "words"), ".")
	})
}

func drawPattern() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(drawWord(true), 1, 5).Draw(t, "words"), ".")
	}).Filter(func(p string) bool { return Check(p) == nil })
}

// check is rapid.Check that fails where rapid, short of time, ran fewer checks than asked.
func check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	ran := 0
	rapid.Check(t, func(t *rapid.T) {
		ran++
		property(t)
	})
	asked, err := strconv.Atoi(flag.Lookup("rapid.checks").Value.String())
	if err != nil {
		t.Fatal(err)
	}
	if !testing.Short() && ran < asked {
		t.Errorf("rapid ran %d of %d checks", ran, asked)
	}
}
