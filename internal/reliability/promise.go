package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
)

// A promise is one of docs/GUARANTEES.md.
type promise struct {
	number int
	title  string
	tests  int // that cite it
}

var promiseTitle = regexp.MustCompile(`\*\*G(\d+)(?: ([^*]+?)\.?)?\*\*`)

// promisesIn returns the promises of a file, with how many tests cite each.
func promisesIn(name string, cited map[int]int) ([]promise, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var all []promise
	for _, m := range promiseTitle.FindAllStringSubmatch(string(text), -1) {
		p := promise{title: m[2]}
		fmt.Sscan(m[1], &p.number)
		if slices.ContainsFunc(all, func(o promise) bool { return o.number == p.number }) {
			continue // mentioned again
		}
		p.tests = cited[p.number]
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b promise) int { return a.number - b.number })
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no promises", name)
	}
	return all, nil
}
