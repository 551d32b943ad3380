package main

import (
	"fmt"
	"path"
	"strings"
)

// A mutant is one fault to plant.
type mutant struct {
	name string
	file string // from the module's root
	old  string // what stands there; exactly once in the file
	new  string // what stands there instead, where ON is true while this mutant is the one at work
}

// suites are the folders of the packages whose tests may find it, from the
// module's root: its own, and what its own is a part of.
func (m mutant) suites() []string {
	dir := "./" + path.Dir(m.file)
	if dir == "./internal/letters" {
		return []string{dir, "./dlq"}
	}
	return []string{dir}
}

// plant returns src with all of ms in it, which are all of that file.
func plant(src string, ms []mutant) (string, error) {
	for _, m := range ms {
		if n := strings.Count(src, m.old); n != 1 {
			return "", fmt.Errorf("%s: what it replaces is %d times in %s, not once", m.name, n, m.file)
		}
		if !strings.Contains(m.new, "ON") {
			return "", fmt.Errorf("%s has no ON: it would always be at work", m.name)
		}
		src = strings.Replace(src, m.old, strings.ReplaceAll(m.new, "ON", fmt.Sprintf("mutantIs(%q)", m.name)), 1)
	}
	return src, nil
}

// question is the file that answers ON, for a package of that name.
func question(pkg string) string {
	return fmt.Sprintf(`package %s

import "os"

var mutantAtWork = os.Getenv(%q)

func mutantIs(name string) bool { return mutantAtWork == name }
`, pkg, variable)
}

// variable is the environment variable with the name of the mutant at work.
const variable = "HERALD_MUTANT"

// packageName returns the name of the package that a Go file belongs to.
func packageName(src string) string {
	for line := range strings.Lines(src) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "package "); ok {
			return name
		}
	}
	return ""
}
