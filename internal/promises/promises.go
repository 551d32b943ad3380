// Package promises finds out which tests cite which promise of
// docs/GUARANTEES.md. A test cites one by its number: in its name, as in
// TestG07_Else, or in its comment, as in (G7).
package promises

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Tests are the tests of a tree.
type Tests struct {
	Names map[string]bool
	Cited map[int]int // by promise: how many tests cite it
}

// TestsBelow returns the tests in all files below root.
func TestsBelow(root string) (Tests, error) {
	t := Tests{Names: map[string]bool{}, Cited: map[int]int{}}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		return t.read(path)
	})
	return t, err
}

var prefix = regexp.MustCompile(`^(?:Test|Fuzz|Example)`)

// read adds the tests of one file.
func (t Tests) read(path string) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || !prefix.MatchString(f.Name.Name) {
			continue
		}
		t.Names[f.Name.Name] = true
		words := strings.ReplaceAll(prefix.ReplaceAllString(f.Name.Name, ""), "_", " ")
		for n := range In(words + "\n" + f.Doc.Text()) {
			t.Cited[n]++
		}
	}
	return nil
}

var reference = regexp.MustCompile(`\bG(\d+)\b`)

// In returns the numbers of the promises that a text names.
func In(text string) map[int]bool {
	all := map[int]bool{}
	for _, m := range reference.FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(m[1])
		if err == nil { // else it's longer than any number of a promise
			all[n] = true
		}
	}
	return all
}
