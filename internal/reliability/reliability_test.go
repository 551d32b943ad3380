package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heraldbus/herald/internal/promises"
)

func TestProofsIn(t *testing.T) {
	got := proofsIn("noise\n    proof: layer=a x=1 y=two\nproof: layer=b z=3\n")
	want := []proof{{"a", []pair{{"x", "1"}, {"y", "two"}}}, {"b", []pair{{"z", "3"}}}}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(proof{}, pair{})); d != "" {
		t.Error(d)
	}
}

// A log of half a run, or of none, makes no document.
func TestCollectRefuses(t *testing.T) {
	for name, log := range map[string]string{
		"nothing":  "",
		"failures": "proof: layer=a x=1\nci: 3 passed, 1 failed\n",
		"no proof": "ci: 3 passed, 0 failed\n",
	} {
		if _, err := collect(log); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Every bug of the list is held by a test that is there.
func TestBugsAreHeld(t *testing.T) {
	bugs, err := bugsIn(bugsTSV)
	if err != nil {
		t.Fatal(err)
	}
	tests, err := promises.TestsBelow("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range bugs {
		if !tests.Names[b.test] {
			t.Errorf("%q: no test %s", b.what, b.test)
		}
	}
	if _, err := bugsIn("only\ttwo"); err == nil {
		t.Error("two columns are enough")
	}
}

// Lines of one layer with the same keys share a table; others get their own.
func TestMarkdown(t *testing.T) {
	d := document{
		promises: []promise{{4, "Conservation", 12}},
		proofs:   proofsIn("proof: layer=soak s=1\nproof: layer=soak s=2\nproof: layer=soak k=3\n"),
		bugs:     []bug{{"it was wrong", "model", "TestX"}},
	}
	got := d.markdown()
	for _, want := range []string{"| G4 | Conservation | 12 |", "| s |\n|---|\n| 1 |\n| 2 |\n", "| k |\n|---|\n| 3 |\n", "| it was wrong | model | `TestX` |"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
