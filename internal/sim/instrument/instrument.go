// Package instrument makes a go build -overlay in which the sources of some
// packages use package sim instead of sync and sync/atomic, and call it before
// they use channels. Lines keep their numbers.
package instrument

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const simPath = "github.com/heraldbus/herald/internal/sim"

// packages are the folders whose sources are instrumented: what has locks,
// atomics or channels and is no program.
var packages = []string{".", "dlq", "internal/lane", "internal/letters", "queue"}

// shortcuts leave out what only repeats itself: a worker with nothing to do
// looks several times before it sleeps, and each look multiplies the schedules.
var shortcuts = []Edit{{"run.go", "const maxYields = 4", "const maxYields = 0"}}

// An Edit replaces a text in a source, which must be there once.
type Edit struct{ File, Old, New string }

// Overlay writes the copies of the module's sources in root, with the edits
// made, into dir, and returns the name of the overlay file there.
func Overlay(root, dir string, edits []Edit) (string, error) {
	edits = append(edits, shortcuts...)
	replace := map[string]string{}
	for _, p := range packages {
		names, err := filepath.Glob(filepath.Join(root, p, "*.go"))
		if err != nil {
			return "", err
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			mine := filepath.Join(dir, fmt.Sprintf("%d.go", len(replace)))
			if err := copyFile(root, name, mine, edits); err != nil {
				return "", err
			}
			replace[name] = mine
		}
	}
	for _, e := range edits {
		if replace[filepath.Join(root, e.File)] == "" {
			return "", fmt.Errorf("edit: %s is not instrumented", e.File)
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o666)
}

// copyFile writes the instrumented copy of one source.
func copyFile(root, name, mine string, edits []Edit) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	for _, e := range edits {
		if filepath.Join(root, e.File) != name {
			continue
		}
		if n := strings.Count(string(text), e.Old); n != 1 {
			return fmt.Errorf("edit: %s has %q %d times", e.File, e.Old, n)
		}
		text = []byte(strings.Replace(string(text), e.Old, e.New, 1))
	}
	text, err = Source(name, text)
	if err != nil {
		return err
	}
	return os.WriteFile(mine, text, 0o666)
}

// Source instruments one source.
func Source(name string, text []byte) ([]byte, error) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	r := rewriter{text: text, offset: func(p token.Pos) int { return files.Position(p).Offset }}
	for _, s := range f.Imports {
		r.importSpec(s)
	}
	ast.Inspect(f, r.node)
	if r.err != nil {
		return nil, fmt.Errorf("%s: %w", name, r.err)
	}
	if r.hooks > 0 { // behind the package clause, on its line
		r.insert(f.Name.End(), fmt.Sprintf("; import sim %q", simPath))
	}
	return r.apply(), nil
}

// A rewriter collects insertions and replacements in a source.
type rewriter struct {
	text   []byte
	offset func(token.Pos) int
	spans  []span
	hooks  int
	err    error
}

type span struct {
	from, to int
	text     string
}

func (r *rewriter) insert(at token.Pos, text string) { r.replace(at, at, text) }

func (r *rewriter) replace(from, to token.Pos, text string) {
	r.spans = append(r.spans, span{r.offset(from), r.offset(to), text})
}

func (r *rewriter) source(n ast.Node) string {
	return string(r.text[r.offset(n.Pos()):r.offset(n.End())])
}

func (r *rewriter) apply() []byte {
	slices.SortStableFunc(r.spans, func(a, b span) int { return a.from - b.from })
	var out []byte
	at := 0
	for _, s := range r.spans {
		out = append(append(out, r.text[at:s.from]...), s.text...)
		at = s.to
	}
	return append(out, r.text[at:]...)
}

// importSpec lets sync and sync/atomic mean package sim.
func (r *rewriter) importSpec(s *ast.ImportSpec) {
	switch s.Path.Value {
	case `"sync"`:
		r.replace(s.Pos(), s.End(), fmt.Sprintf("sync %q", simPath))
	case `"sync/atomic"`:
		r.replace(s.Pos(), s.End(), fmt.Sprintf("atomic %q", simPath))
	}
}

// node puts the hooks into lists of statements.
func (r *rewriter) node(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BlockStmt:
		r.statements(n.List)
	case *ast.CaseClause:
		r.statements(n.Body)
	case *ast.CommClause:
		r.statements(n.Body)
	}
	return true
}

func (r *rewriter) statements(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.SelectStmt:
			r.selects(s)
		case *ast.SendStmt:
			r.waking(s)
		case *ast.ExprStmt:
			if call, ok := s.X.(*ast.CallExpr); ok {
				if f, ok := call.Fun.(*ast.Ident); ok && f.Name == "close" {
					r.waking(s)
				}
			}
		}
	}
}

func (r *rewriter) waking(s ast.Stmt) {
	r.hooks++
	r.insert(s.Pos(), "sim.Waking(); ")
}

// selects instruments a select: one that sends may wake somebody, one that
// waits for several channels lets the scheduler choose, any other is left.
func (r *rewriter) selects(s *ast.SelectStmt) {
	var from []ast.Expr
	waits, sends := true, false
	for _, c := range s.Body.List {
		switch comm := c.(*ast.CommClause).Comm.(type) {
		case nil:
			waits = false
		case *ast.SendStmt:
			sends = true
		case *ast.ExprStmt:
			from = append(from, comm.X.(*ast.UnaryExpr).X)
		default:
			r.err = fmt.Errorf("a select whose received value is used, at byte %d", r.offset(comm.Pos()))
		}
	}
	switch {
	case sends && (waits || len(from) > 0):
		r.err = fmt.Errorf("a select that sends and waits, at byte %d", r.offset(s.Pos()))
	case sends:
		r.waking(s)
	case waits && len(from) > 1:
		r.chooses(s, from)
	}
}

// chooses lets a select receive from channels that the scheduler has chosen.
func (r *rewriter) chooses(s *ast.SelectStmt, from []ast.Expr) {
	r.hooks++
	var names, channels []string
	for i, x := range from {
		name := fmt.Sprintf("sim%d", i)
		names = append(names, name)
		channels = append(channels, r.source(x))
		r.replace(x.Pos(), x.End(), name)
	}
	r.insert(s.Pos(), fmt.Sprintf("%s := sim.Select%d(%s); ", strings.Join(names, ", "), len(from), strings.Join(channels, ", ")))
}
