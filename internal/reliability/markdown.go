package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// layers are what the layers are called, and what each shows.
var layers = map[string]string{
	"race":            "Every test, under the race detector, in random order, at 1, 2 and 4 processors.",
	"model":           "Random sequences of calls against a model of slices and maps; accounts and order checked after every step.",
	"fuzz":            "Random input, from a corpus that is kept.",
	"schedules":       "A scheduler that lets one goroutine run at a time and tries every order at lock and atomic granularity, within the stated bound of preemptions; larger scenarios are sampled. Planted faults show that it finds what it should.",
	"linearizability": "Histories of goroutines that really overlap, checked by porcupine; an undecided one fails.",
	"mutants":         "Faults planted in the source, each of which a test must find.",
	"overload":        "Far more offered than fits, in a process under a memory limit; bytes, or things, offered, and bytes at the peak and in the end.",
	"soak":            "Random programs on real threads, for as long as told.",
	"crash":           "Processes killed while they write, with an oracle of what was acknowledged.",
}

func (d document) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Reliability

Written by `+"`go run ./internal/reliability`"+` from the output of `+"`.ci/run`"+`; not edited by hand. Commit %s, %s, %s/%s, %d processors, %s.

What is shown is shown for what was tried: "all interleavings of these scenarios", not "proved correct".

## Promises

Each is explained in [GUARANTEES.md](docs/GUARANTEES.md).

| promise | | tests that cite it |
|---|---|---|
`, d.commit, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), time.Now().UTC().Format(time.DateOnly))
	for _, p := range d.promises {
		fmt.Fprintf(&b, "| G%d | %s | %d |\n", p.number, p.title, p.tests)
	}
	d.writeLayers(&b)
	fmt.Fprintf(&b, "## Bugs found\n\n| what it was | found by | held by |\n|---|---|---|\n")
	for _, g := range d.bugs {
		fmt.Fprintf(&b, "| %s | %s | `%s` |\n", g.what, g.layer, g.test)
	}
	fmt.Fprintf(&b, "\n## The run\n\nSteps that passed: %s.\n", strings.Join(d.steps, ", "))
	return b.String()
}

// writeLayers writes a table for each layer, in the order in which they ran.
// Its columns are the keys of all its lines.
func (d document) writeLayers(b *strings.Builder) {
	b.WriteString("\n## Layers\n\n")
	var names []string
	for _, p := range d.proofs {
		if !slices.Contains(names, p.layer) {
			names = append(names, p.layer)
		}
	}
	for _, name := range names {
		fmt.Fprintf(b, "### %s\n\n", name)
		if what := layers[name]; what != "" {
			fmt.Fprintf(b, "%s\n\n", what)
		}
		for _, t := range tables(d.proofs, name) {
			t.write(b)
		}
	}
}

// A table has the lines of one layer that have the same keys.
type table struct {
	keys []string
	rows [][]string
}

func tables(proofs []proof, layer string) []*table {
	var all []*table
	for _, p := range proofs {
		if p.layer != layer {
			continue
		}
		var keys, values []string
		for _, kv := range p.pairs {
			keys, values = append(keys, kv.key), append(values, kv.value)
		}
		i := slices.IndexFunc(all, func(t *table) bool { return slices.Equal(t.keys, keys) })
		if i < 0 {
			i = len(all)
			all = append(all, &table{keys: keys})
		}
		all[i].rows = append(all[i].rows, values)
	}
	return all
}

func (t *table) write(b *strings.Builder) {
	fmt.Fprintf(b, "| %s |\n|%s\n", strings.Join(t.keys, " | "), strings.Repeat("---|", len(t.keys)))
	for _, r := range t.rows {
		fmt.Fprintf(b, "| %s |\n", strings.Join(escaped(r), " | "))
	}
	b.WriteString("\n")
}

// escaped returns the cells of a row as a table takes them.
func escaped(cells []string) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = strings.ReplaceAll(c, "|", "\\|")
	}
	return out
}
