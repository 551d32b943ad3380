// Command explore runs the scenarios of internal/sim under the controlled
// scheduler, against an instrumented copy of the sources. It's called from the
// top of the module.
//
//	go run ./internal/sim/cmd/explore                                   what CI runs
//	go run ./internal/sim/cmd/explore -samples 17000                    100,000 schedules drawn, and more
//	go run ./internal/sim/cmd/explore -deeper 1                         one preemption more in each scenario
//	go run ./internal/sim/cmd/explore -scenario NAME -choices 0,2,1     one run again
//	go run ./internal/sim/cmd/explore -scenario NAME -seed 42           a sampled run again
//	go run ./internal/sim/cmd/explore -faults                           finds every planted fault
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"

	"github.com/heraldbus/herald/internal/sim/instrument"
)

func main() {
	if err := explore(); err != nil {
		fmt.Fprintln(os.Stderr, "explore:", err)
		os.Exit(1)
	}
}

func explore() error {
	var tests []string // flags of the tests, and their values
	pass := func(name, value, usage string) {
		flag.Func(name, usage+fmt.Sprintf(" (default %q)", value), func(s string) error {
			tests = append(tests, "-sim."+name, s)
			return nil
		})
		tests = append(tests, "-sim."+name, value)
	}
	pass("scenario", ".*", "`pattern` of the scenarios to run")
	pass("choices", "", "repeat the run with these `choices`")
	pass("seed", "", "repeat the sampled run with this `seed`")
	pass("samples", "1000", "`number` of schedules to draw of each large scenario")
	pass("exhaust", "1000000", "`number` of schedules at which exhausting a scenario gives up, which is a failure")
	pass("deeper", "0", "`number` of preemptions tried beyond the bound of each small scenario")
	fault := flag.String("fault", "", "plant the fault of this `name`")
	faults := flag.Bool("faults", false, "plant every known fault, find it, and repeat the run that found it")
	flag.Parse()
	if *faults {
		return findAll()
	}
	var edits []instrument.Edit
	if *fault != "" {
		f, err := faultOf(*fault)
		if err != nil {
			return err
		}
		edits = f.Edits
	}
	return runTests(os.Stdout, edits, tests...)
}

// runTests runs the tests of package scenario against the sources with these
// edits.
func runTests(out io.Writer, edits []instrument.Edit, args ...string) error {
	root, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "explore")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	overlay, err := instrument.Overlay(root, dir, edits)
	if err != nil {
		return err
	}
	command := []string{"test", "-count=1", "-v", "-tags", "sim", "-overlay", overlay, "-cpu", "1", "-timeout", "2h",
		"-run", "Schedules", "./internal/sim/scenario", "-args"}
	cmd := exec.Command("go", append(command, args...)...)
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("a schedule failed, or could not be tried: %w", err)
	}
	return nil
}

func faultOf(name string) (instrument.Fault, error) {
	for _, f := range instrument.Faults {
		if f.Name == name {
			return f, nil
		}
	}
	return instrument.Fault{}, fmt.Errorf("no fault %q", name)
}

// findAll finds every known fault.
func findAll() error {
	for _, f := range instrument.Faults {
		if err := find(f); err != nil {
			return fmt.Errorf("fault %s: %w", f.Name, err)
		}
	}
	return nil
}

var (
	found   = regexp.MustCompile(`proof: .* schedules=(\d+) .* failed=1`)
	replays = regexp.MustCompile(`-choices ([\d,]+)`)
	repeats = regexp.MustCompile(`proof: .* repeated=1 failed=1`)
)

// find finds one fault, and repeats the run that showed it by the replay that
// was printed.
func find(f instrument.Fault) error {
	var out bytes.Buffer
	err := runTests(&out, f.Edits, "-sim.scenario", f.Scenario)
	first := out.String()
	schedules, choices := found.FindStringSubmatch(first), replays.FindStringSubmatch(first)
	if err == nil || schedules == nil || choices == nil {
		return fmt.Errorf("not found: %v\n%s", err, first)
	}
	out.Reset()
	err = runTests(&out, f.Edits, "-sim.scenario", f.Scenario, "-sim.choices", choices[1])
	if err == nil || !repeats.Match(out.Bytes()) {
		return fmt.Errorf("the replay did not fail: %v\n%s", err, out.String())
	}
	fmt.Printf("proof: layer=schedules fault=%s scenario=%s schedules=%s found=true replayed=true\n", f.Name, f.Scenario, schedules[1])
	return nil
}
