// Reliability writes RELIABILITY.md from what a run of `.ci/run` printed: every figure in it is one that a layer counted.
//
//	.ci/run | tee ci.log && go run ./internal/reliability ci.log
//
// The layers print lines that begin with "proof:", followed by key=value pairs. Promises come from docs/GUARANTEES.md, the
// tests of each from the tests' own names and comments, and the bugs from bugs.tsv beside this file.
package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/heraldbus/herald/internal/promises"
)

//go:embed bugs.tsv
var bugsTSV string

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "reliability:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("which log? one argument is needed")
	}
	log, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	d, err := collect(string(log))
	if err != nil {
		return err
	}
	return os.WriteFile("RELIABILITY.md", []byte(d.markdown()), 0o644)
}

// A document is what RELIABILITY.md is made of.
type document struct {
	commit   string
	promises []promise
	proofs   []proof
	steps    []string // the steps of .ci/run that passed, with their time
	bugs     []bug
}

// collect reads everything, and refuses what would make a document of half a
// run.
func collect(log string) (d document, err error) {
	if !strings.Contains(log, ", 0 failed") {
		return d, errors.New("the log is not that of a whole run without failures")
	}
	if d.proofs = proofsIn(log); len(d.proofs) == 0 {
		return d, errors.New("the log has no proof lines")
	}
	d.steps = stepsIn(log)
	if d.bugs, err = bugsIn(bugsTSV); err != nil {
		return d, err
	}
	tests, err := promises.TestsBelow(".")
	if err != nil {
		return d, err
	}
	for _, b := range d.bugs {
		if !tests.Names[b.test] {
			return d, fmt.Errorf("the bug %q names a test that isn't there: %s", b.what, b.test)
		}
	}
	if d.promises, err = promisesIn("docs/GUARANTEES.md", tests.Cited); err != nil {
		return d, err
	}
	hash, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	d.commit = strings.TrimSpace(string(hash))
	return d, err
}
