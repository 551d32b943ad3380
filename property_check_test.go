package herald_test

import (
	"flag"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// volume is how often a property is checked: a number of times by default, else an n-th of what -rapid.checks says.
func volume(t *testing.T, times, nth int) int {
	t.Helper()
	checks := flag.Lookup("rapid.checks")
	flag.Visit(func(f *flag.Flag) {
		if f == checks {
			asked, err := strconv.Atoi(f.Value.String())
			if err != nil {
				t.Fatal(err)
			}
			times = max(1, asked/nth)
		}
	})
	return times
}

// checkProperty checks a property in as many sequences as volume says. rapid, where it's short of time, is content with
// fewer; this isn't.
func checkProperty(t *testing.T, times, nth int, property func(*rapid.T)) {
	t.Helper()
	times = volume(t, times, nth)
	checks := flag.Lookup("rapid.checks").Value
	before := checks.String()
	defer checks.Set(before)
	if err := checks.Set(strconv.Itoa(times)); err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		times /= 5 // as rapid does
	}
	ran := 0
	rapid.Check(t, func(t *rapid.T) {
		ran++
		property(t)
	})
	if ran < times {
		t.Errorf("checked %d sequences, want %d", ran, times)
	}
	t.Logf("%d sequences", ran)
}
