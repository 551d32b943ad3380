package sim

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// A Step is one move of a schedule.
type Step struct {
	Thread string
	point  uintptr
	which  int // 1 + the case that a select chose; 0: a turn
	tick   bool
}

func (s Step) String() string {
	switch {
	case s.tick:
		return "time passes"
	case s.point == 0:
		return s.Thread + " begins"
	}
	frame, _ := runtime.CallersFrames([]uintptr{s.point}).Next()
	file := frame.File[strings.LastIndexByte(frame.File, '/')+1:]
	function := frame.Function[strings.LastIndexByte(frame.Function, '/')+1:]
	if s.which > 0 {
		return fmt.Sprintf("%s, finding several cases ready, takes number %d at %s:%d", s.Thread, s.which, file, frame.Line)
	}
	return fmt.Sprintf("%s goes on from %s:%d %s", s.Thread, file, frame.Line, function)
}

// A Report says what was tried of a scenario.
type Report struct {
	Scenario  string
	Mode      string
	Bound     int
	Deep      bool
	Schedules int
	Steps     int
	Exhausted bool
	Diverged  int
	Failed    *Outcome // the first run with a fault; nil: none
	Seed      uint64   // of that run, in the random modes
}

// String is the line of a proof.
func (r Report) String() string {
	bound := ""
	if r.Mode == "exhaust" {
		bound = fmt.Sprintf(" deep=%t preemptions=all", r.Deep)
		if r.Bound >= 0 {
			bound = fmt.Sprintf(" deep=%t preemptions=%d", r.Deep, r.Bound)
		}
	}
	failed := 0
	if r.Failed != nil {
		failed = 1
	}
	return fmt.Sprintf("proof: layer=schedules scenario=%s mode=%s schedules=%d steps=%d exhausted=%t%s diverged=%d failed=%d",
		r.Scenario, r.Mode, r.Schedules, r.Steps, r.Exhausted, bound, r.Diverged, failed)
}

// Trace describes a run, and how to repeat it.
func (o *Outcome) Trace(scenario string) string {
	var b strings.Builder
	for _, f := range o.Faults {
		fmt.Fprintf(&b, "%s\n", f)
	}
	for i, s := range o.Steps {
		fmt.Fprintf(&b, "%4d %v\n", i+1, s)
	}
	fmt.Fprintf(&b, "replay: go run ./internal/sim/cmd/explore -scenario %s -choices %s\n", scenario, joined(o.Choices))
	return b.String()
}

func joined(list []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", ",")
}

// Exhaust tries all schedules within the scenario's bound, but no more than
// limit, and stops at the first fault.
func Exhaust(t *testing.T, s Scenario, limit int) Report {
	r := Report{Scenario: s.Name, Mode: "exhaust", Bound: s.Bound, Deep: s.Deep}
	st := &search{bound: s.Bound}
	for more := true; more && r.Schedules < limit; {
		if r.add(once(t, s, st)); r.Failed != nil {
			return r
		}
		more = st.next()
		if r.Diverged = st.diverged; r.Diverged > 0 {
			return r
		}
		r.Exhausted = !more
	}
	return r
}

// repeatEvery is how many sampled runs there are to one that is repeated, to
// see whether it's the same.
const repeatEvery = 50

// Sample tries n schedules drawn from seeds that begin with seed: one half
// any, the other half by PCT. It stops at the first fault.
func Sample(t *testing.T, s Scenario, n int, seed uint64) Report {
	r := Report{Scenario: s.Name, Mode: "random+pct"}
	for i := range uint64(n) {
		r.Seed = seed + i
		o := Seeded(t, s, r.Seed)
		if r.add(o); r.Failed != nil {
			return r
		}
		if i%repeatEvery == 0 && !slices.Equal(Seeded(t, s, r.Seed).Steps, o.Steps) {
			r.Diverged++
		}
	}
	return r
}

// Seeded makes the run of a seed.
func Seeded(t *testing.T, s Scenario, seed uint64) Outcome {
	source := rand.New(rand.NewPCG(seed, 0))
	if seed%2 == 0 {
		return once(t, s, uniform{source})
	}
	return once(t, s, newPCT(source))
}

// Replay repeats the run with these choices. It fails where they don't fit the
// scenario.
func Replay(t *testing.T, s Scenario, choices []int) Outcome {
	l := &listed{list: choices}
	o := once(t, s, l)
	if l.bad || l.next < len(choices) {
		o.Faults = append(o.Faults, "the choices don't fit the scenario: the run diverged")
	}
	return o
}

func (r *Report) add(o Outcome) {
	r.Schedules++
	r.Steps += len(o.Steps)
	if len(o.Faults) > 0 {
		r.Failed = &o
	}
}
