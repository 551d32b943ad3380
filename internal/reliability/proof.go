package main

import (
	"regexp"
	"strings"
)

// A proof is one line of counters.
type proof struct {
	layer string
	pairs []pair
}

type pair struct{ key, value string }

// proofsIn returns the proofs of a log, in their order.
func proofsIn(log string) []proof {
	var all []proof
	for line := range strings.Lines(log) {
		_, rest, ok := strings.Cut(line, "proof: ")
		if !ok {
			continue
		}
		var p proof
		for field := range strings.FieldsSeq(rest) {
			key, value, _ := strings.Cut(field, "=")
			if key == "layer" {
				p.layer = value
				continue
			}
			p.pairs = append(p.pairs, pair{key, value})
		}
		all = append(all, p)
	}
	return all
}

var passedStep = regexp.MustCompile(`(?m)^-- (\w+): passed in (\d+) s$`)

// stepsIn returns the steps that passed, as "name (seconds s)".
func stepsIn(log string) []string {
	var all []string
	for _, m := range passedStep.FindAllStringSubmatch(log, -1) {
		all = append(all, m[1]+" ("+m[2]+" s)")
	}
	return all
}
