package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"
)

// A row is one system on one workload, over all rounds.
type row struct {
	workload   workload
	system     string
	procs      int
	wall, cpu  float64 // ratio to the raw channel: median of the rounds'
	low, high  float64 // quartiles of wall
	ns         float64 // a delivery, wall clock
	allocs     float64 // a message published
	bytes      float64
	lost       int
	reordered  int
	deliveries int
}

// note says what is wrong with a row, or nothing.
func (r row) note() string {
	var notes []string
	if r.lost > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d lost or doubled", r.lost, r.deliveries))
	}
	switch share := 100 * float64(r.reordered) / float64(r.deliveries); {
	case share >= .1:
		notes = append(notes, fmt.Sprintf("%.1f %% out of order", share))
	case r.reordered > 0:
		notes = append(notes, fmt.Sprintf("%d of %d out of order", r.reordered, r.deliveries))
	}
	return strings.Join(notes, ", ")
}

// results are everything measured.
type results struct {
	config   config
	commit   string // and load: as they were at the start
	load     string
	rows     []row
	facts    []fact
	prices   []price
	families []family
}

func measureAll(c config, out io.Writer) *results {
	r := &results{config: c, commit: commit(), load: load()}
	fmt.Fprintf(out, "Commit %s. %s\n", r.commit, r.load)
	for _, procs := range []int{1, 2} {
		runtime.GOMAXPROCS(procs)
		fmt.Fprintf(out, "\nGOMAXPROCS=%d\n%s\n", procs, rowHeader)
		r.measureWorkloads(procs, out)
		r.measureFacts(procs, out)
	}
	runtime.GOMAXPROCS(1)
	fmt.Fprintf(out, "\nWhat features cost, GOMAXPROCS=1\n")
	for _, p := range prices {
		if c.run.MatchString("price " + p.name) {
			p.measure(c)
			r.prices = append(r.prices, p)
			fmt.Fprintln(out, p)
		}
	}
	fmt.Fprintf(out, "\nGrowth, GOMAXPROCS=1; channels in brackets\n")
	for _, f := range families {
		if c.run.MatchString("growth " + f.name) {
			f.measure(c)
			r.families = append(r.families, f)
			fmt.Fprintln(out, f)
		}
	}
	return r
}

// measureWorkloads adds a row for each system on each workload, and
// herald's lead over the other buses as facts.
func (r *results) measureWorkloads(procs int, out io.Writer) {
	for _, w := range workloads {
		if !r.config.run.MatchString(w.name) {
			continue
		}
		rows := compare(r.config, w, procs)
		r.rows = append(r.rows, rows...)
		for _, row := range rows {
			fmt.Fprintln(out, row)
		}
		if f, ok := lead(rows); ok {
			r.facts = append(r.facts, f)
			fmt.Fprintln(out, f)
		}
	}
}

func (r *results) measureFacts(procs int, out io.Writer) {
	for _, f := range facts {
		if r.config.run.MatchString(f.name) {
			f.procs = procs
			f.measure(&f, r.config)
			r.facts = append(r.facts, f)
			fmt.Fprintln(out, f)
		}
	}
}

// compare runs one workload on every system, in rounds.
func compare(c config, w workload, procs int) []row {
	raw := system{name: "raw channel", start: rawChannels}
	systems := []system{raw, {name: "map of channels", start: handWritten}, {name: "herald", start: heraldBus}}
	if w.peers && c.peers {
		systems = append(systems, peers...)
	}
	n := calibrate(raw, w, c.slice)
	slices := make([][]slice, len(systems))
	for round := range c.rounds {
		for i := range systems {
			i = (i + round) % len(systems) // nobody is always first
			s := systems[i]
			slices[i] = append(slices[i], s.run(w, s.messages(w, n)))
		}
	}
	var rows []row
	for i, s := range systems {
		rows = append(rows, summarize(row{workload: w, system: s.name, procs: procs}, slices[i], slices[0]))
	}
	return rows
}

// summarize fills in a row from its slices and those of the base line.
func summarize(r row, own, base []slice) row {
	var wall, cpu, ns, allocs, bytes []float64
	for i, s := range own {
		wall = append(wall, s.perMessage()/base[i].perMessage())
		cpu = append(cpu, s.cpuPerMessage()/base[i].cpuPerMessage())
		ns = append(ns, s.perMessage())
		published := float64(s.messages) / float64(r.workload.subscriptions)
		allocs = append(allocs, float64(s.allocs)/published)
		bytes = append(bytes, float64(s.bytes)/published)
		r.lost += s.lost
		r.reordered += s.reordered
		r.deliveries += s.messages
	}
	r.wall, r.cpu, r.ns = median(wall), median(cpu), median(ns)
	r.low, r.high = quantile(wall, .25), quantile(wall, .75)
	r.allocs, r.bytes = median(allocs), median(bytes)
	return r
}

const rowHeader = "workload              system                      wall  (quartiles)     cpu   ns/delivery  allocs/msg  B/msg   must   aim"

func (r row) String() string {
	goal := "             "
	if r.system == "herald" {
		goal = fmt.Sprintf("%6s%6s %s", target(r.workload.must[r.procs-1]), target(r.workload.aim[r.procs-1]), r.verdict())
	}
	return fmt.Sprintf("%-22s%-26s%6.2f %-15s%6.2f %13.1f %11.2f %6.0f %s %s",
		r.workload.name, r.system, r.wall, r.spread(), r.cpu, r.ns, r.allocs, r.bytes, goal, r.note())
}

// spread is how much the rounds differed: half of them lie in it.
func (r row) spread() string { return fmt.Sprintf("(%.2f–%.2f)", r.low, r.high) }

func (r row) verdict() string {
	return verdict(r.wall, r.workload.must[r.procs-1], r.workload.aim[r.procs-1])
}
