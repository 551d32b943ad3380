package main

import (
	"fmt"
	"strings"
)

// A fact is one figure that is no ratio of throughputs.
type fact struct {
	name      string
	unit      string
	must, aim float64
	procs     int
	value     float64
	note      string
	measure   func(*fact, config)
}

// facts are W4 to W7.
var facts = []fact{
	{name: "W4 ping-pong, ratio of medians", unit: "×", must: 1.2, aim: 1, measure: pingPong},
	{name: "W4 wake-up by a publisher that stays busy", unit: "µs", measure: busyPublisher},
	{name: "W5 subscription running and idle", unit: "B", must: 4096, aim: 3072, measure: footprint{running: true, capacity: capacity}.measure},
	{name: "W5 the same at capacity 1,000,000", unit: "B", must: 4096, aim: 3072, measure: footprint{running: true, capacity: 1_000_000}.measure},
	{name: "W5 the same after 1,000 messages", unit: "B", must: 4096, aim: 3072, measure: footprint{running: true, capacity: capacity, messages: 1000}.measure},
	{name: "W5 subscription not running", unit: "B", must: 1024, aim: 512, measure: footprint{capacity: capacity}.measure},
	{name: "W6 cost at 1,000 topics to cost at 1", unit: "×", must: 1.1, aim: 1, measure: manyTopics(1000)},
	{name: "W6 cost at 100,000 topics to cost at 1", unit: "×", must: 1.1, aim: 1, measure: manyTopics(100_000)},
	{name: "W7 fast one has 300 beside a slow one", unit: "ms", must: 1, aim: .1, measure: slowBesideFast},
}

func (f fact) verdict() string { return verdict(f.value, f.must, f.aim) }

func (f fact) String() string {
	return strings.TrimRight(fmt.Sprintf("%-48s%10.2f %-3s must %s, aim %s %s  %s",
		f.name, f.value, f.unit, target(f.must), target(f.aim), f.verdict(), f.note), " ")
}
