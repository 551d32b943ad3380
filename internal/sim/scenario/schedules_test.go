//go:build sim

package scenario

import (
	"flag"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/heraldbus/herald/internal/sim"
)

var (
	pattern = flag.String("sim.scenario", ".*", "")
	choices = flag.String("sim.choices", "", "")
	seed    = flag.String("sim.seed", "", "")
	samples = flag.Int("sim.samples", 100, "")
	exhaust = flag.Int("sim.exhaust", 200_000, "")
	deeper  = flag.Int("sim.deeper", 0, "")
)

// TestSchedulesExhausted tries every schedule of the small scenarios, within
// the bound of each.
func TestSchedulesExhausted(t *testing.T) {
	each(t, small, func(t *testing.T, s sim.Scenario) {
		if s.Bound >= 0 {
			s.Bound += *deeper
		}
		r := sim.Exhaust(t, s, *exhaust)
		report(t, s, r)
		if r.Failed == nil && !r.Exhausted {
			t.Errorf("not exhausted after %d schedules", r.Schedules)
		}
	})
}

// TestSchedulesSampled draws schedules of the large scenarios.
func TestSchedulesSampled(t *testing.T) {
	each(t, large, func(t *testing.T, s sim.Scenario) { report(t, s, sim.Sample(t, s, *samples, 0)) })
}

// each calls f for the scenarios that were asked for, or repeats a run.
func each(t *testing.T, list []sim.Scenario, f func(*testing.T, sim.Scenario)) {
	want := regexp.MustCompile("^(?:" + *pattern + ")$")
	for _, s := range list {
		if !want.MatchString(s.Name) {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			if *choices == "" && *seed == "" {
				f(t, s)
				return
			}
			o := again(t, s)
			fmt.Print(o.Trace(s.Name))
			failed := min(len(o.Faults), 1)
			fmt.Printf("proof: layer=schedules scenario=%s repeated=1 failed=%d\n", s.Name, failed)
			if failed > 0 {
				t.Error("the run failed")
			}
		})
	}
}

func again(t *testing.T, s sim.Scenario) sim.Outcome {
	if *seed != "" {
		n, err := strconv.ParseUint(*seed, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return sim.Seeded(t, s, n)
	}
	var list []int
	for c := range strings.SplitSeq(*choices, ",") {
		n, err := strconv.Atoi(c)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, n)
	}
	return sim.Replay(t, s, list)
}

func report(t *testing.T, s sim.Scenario, r sim.Report) {
	fmt.Println(r)
	if r.Failed != nil {
		t.Errorf("%s:\n%s", s.Promise, r.Failed.Trace(s.Name))
	}
	if r.Diverged > 0 {
		t.Errorf("%d runs were not the same when repeated: the scenario, or the hooks, leave something to chance", r.Diverged)
	}
}
