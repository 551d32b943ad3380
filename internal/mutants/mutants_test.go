package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every mutant of the table fits the source as it is, has a name of its own,
// and is something else than what it replaces.
func TestTableFits(t *testing.T) {
	names, files := map[string]bool{}, map[string][]mutant{}
	for _, m := range table {
		if names[m.name] {
			t.Errorf("%q is there twice", m.name)
		}
		names[m.name] = true
		files[m.file] = append(files[m.file], m)
	}
	for file, ms := range files {
		src, err := os.ReadFile(filepath.Join("..", "..", file))
		if err != nil {
			t.Fatal(err)
		}
		planted, err := plant(string(src), ms)
		if err != nil {
			t.Error(err)
		}
		for _, m := range ms {
			if strings.Count(planted, `mutantIs("`+m.name+`")`) == 0 {
				t.Errorf("%q isn't planted", m.name)
			}
		}
	}
}

func TestPlantRefuses(t *testing.T) {
	for name, m := range map[string]mutant{
		"text that isn't there":     {old: "x++", new: "if !ON { x++ }"},
		"text that is there twice":  {old: "a++", new: "if !ON { a++ }"},
		"a fault that is always on": {old: "b++", new: "b--"},
	} {
		if _, err := plant("a++\na++\nb++\n", []mutant{m}); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// A survivor fails the command and stands in the table.
func TestSurvivorsAreReported(t *testing.T) {
	ms := []mutant{{name: "first"}, {name: "second"}}
	var out strings.Builder
	if err := report(ms, []string{"TestX", "TestY"}, &out); err != nil {
		t.Errorf("all are killed, but %v", err)
	}
	out.Reset()
	if err := report(ms, []string{"TestX", ""}, &out); err == nil {
		t.Error("a survivor is no error")
	}
	if !strings.Contains(out.String(), "SURVIVED") || !strings.Contains(out.String(), "planted=2 killed=1 survived=1") {
		t.Errorf("it printed\n%s", out.String())
	}
}

// What found a mutant is read from the output of its tests, which may also
// have ended otherwise.
func TestKill(t *testing.T) {
	for script, want := range map[string]string{
		"exit 0":                                     "",
		"echo '--- FAIL: TestX (0.00s)'; exit 1":     "TestX",
		"echo '    --- FAIL: TestX/y (0s)'; exit 1":  "TestX/y",
		"echo 'panic: test timed out after'; exit 2": "test timed out after",
		"[ \"$HERALD_MUTANT\" = me ] && exit 3":      "ended: exit status 3",
	} {
		path := filepath.Join(t.TempDir(), "x.test")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		b := &binary{path: path, dir: ".", patience: slack}
		if got := b.kill("me"); got != want {
			t.Errorf("%q: %q, want %q", script, got, want)
		}
	}
}

func TestChoose(t *testing.T) {
	if some, err := choose(table, "^pause is ignored$"); err != nil || len(some) != 1 {
		t.Errorf("chose %d, %v", len(some), err)
	}
	for _, bad := range []string{"no such mutant", "("} {
		if _, err := choose(table, bad); err == nil {
			t.Errorf("%q chooses something", bad)
		}
	}
}
