package main

import (
	"fmt"
	"strings"
)

// A bug is one that was in herald and isn't any more.
type bug struct{ what, layer, test string }

// bugsIn reads lines of three columns: what it was, what found it, and the
// test that holds it.
func bugsIn(tsv string) ([]bug, error) {
	var all []bug
	for line := range strings.Lines(tsv) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.Split(line, "\t")
		if len(columns) != 3 {
			return nil, fmt.Errorf("bugs.tsv: %d columns instead of 3: %q", len(columns), line)
		}
		all = append(all, bug{columns[0], columns[1], columns[2]})
	}
	return all, nil
}
