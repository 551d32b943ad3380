package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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

var (
	testName   = regexp.MustCompile(`^(?:Test|Fuzz|Example)`)
	promiseRef = regexp.MustCompile(`(?:\b|_|t)G0?(\d+)(?:\b|_)`)
)

// citations returns how many tests below root cite each promise, in their
// name or comment, and the names of all tests.
func citations(root string) (cited map[int]int, tests map[string]bool, err error) {
	cited, tests = map[int]int{}, map[string]bool{}
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !testName.MatchString(f.Name.Name) {
				continue
			}
			tests[f.Name.Name] = true
			for n := range numbersIn(strings.ReplaceAll(f.Name.Name, "_", " _ ") + "\n" + f.Doc.Text()) {
				cited[n]++
			}
		}
		return nil
	})
	return cited, tests, err
}

// numbersIn returns the promises that a text names.
func numbersIn(text string) map[int]bool {
	all := map[int]bool{}
	for _, m := range promiseRef.FindAllStringSubmatch(text, -1) {
		var n int
		fmt.Sscan(m[1], &n)
		all[n] = true
	}
	return all
}
