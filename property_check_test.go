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
func checkProperty(t *testing.T, times, nth int, property func(*rapid.T)) (sequences int) {
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
	return ran
}

// sights counts rare things that happened, so that a model that never gets there isn't taken for a proof.
type sights map[string]int

func (s sights) see(what string) { s[what]++ }

// check fails if something was never seen in so many sequences that it should have been.
func (s sights) check(t *testing.T, sequences int, all ...string) {
	t.Helper()
	for _, what := range all {
		if s[what] == 0 && sequences >= 10_000 {
			t.Errorf("never seen: %s", what)
		}
	}
	t.Logf("seen: %v", map[string]int(s))
}

// commonSights are those of all models.
var commonSights = []string{
	"an attempt", "dead: retries exhausted", "dead: expired", "dead: permanent", "dead: filter failed", "dead: policy failed",
	"a retry aside", "a retry in place", "expired between attempts", "a message behind another of its key",
	"a publisher admitted", "a publisher that gave up", "a Block whose time is up", "a policy asked again",
	"a letter replayed twice", "a letter replayed to a full subscription", "a letter replayed to a closed subscription",
	"a replayed message superseded by a newer one",
}
