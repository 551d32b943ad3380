// Mutants plants faults in the source, one at a time, and says which test finds each of them.
//
//	go run ./internal/mutants                 all of them
//	go run ./internal/mutants -run evict      those whose name matches
//
// A mutant that no test finds, a survivor, is a hole in the tests and fails the command.
//
// The source that is built and shipped has none of this: the faults exist in copies, which a `go test -overlay` puts in the
// place of the files. All faults of a package are in one test binary, each behind a question for its name, which an
// environment variable answers; so a package is compiled once for all its mutants. The table is in table*.go.
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
)

func main() {
	pattern := flag.String("run", "", "only mutants whose name matches this `regexp`")
	at := flag.Int("p", 2, "how many at a time")
	flag.Parse()
	chosen, err := choose(table, *pattern)
	if err == nil {
		err = hunt(chosen, *at, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// choose returns the mutants whose name matches.
func choose(all []mutant, pattern string) ([]mutant, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	var some []mutant
	for _, m := range all {
		if re.MatchString(m.name) {
			some = append(some, m)
		}
	}
	if len(some) == 0 {
		return nil, fmt.Errorf("no mutant matches %q", pattern)
	}
	return some, nil
}
