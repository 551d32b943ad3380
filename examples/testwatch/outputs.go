package main

import "strings"

const (
	heldLimit = 32 << 20 // bytes that all that is under way holds together, names included; beyond, nothing more is kept
	entryCost = 256      // bytes counted for an entry, besides its name and output
)

// outputs keeps what builds, packages and tests print until they end, within heldLimit. The zero value is empty.
type outputs struct {
	builds   map[string]*excerpt
	packages map[string]*openPackage
	held     int // bytes, of names and outputs and entries
}

// An openPackage is a package that has not ended, with those of its tests that have not ended.
type openPackage struct {
	excerpt
	tests  map[string]*openTest
	failed int // its tests that failed
}

// An openTest is a test that has not ended.
type openTest struct {
	excerpt
	childFailed bool // one of its subtests failed
}

// add keeps what e says of something that has not ended.
func (o *outputs) add(e Event) {
	switch x := o.entry(e); {
	case x == nil, isFraming(e):
	case o.held >= heldLimit:
		x.leaveOut(e.Output)
	default:
		o.held += x.add(e.Output)
	}
}

// entry returns the output that e belongs to, a new one if there is room for it, or nil.
func (o *outputs) entry(e Event) *excerpt {
	if e.Action == actionBuildOutput {
		return open(o, &o.builds, e.ImportPath)
	}
	p := open(o, &o.packages, e.Package)
	if p == nil || e.Test == "" {
		return p.output()
	}
	return open(o, &p.tests, e.Test).output()
}

func (p *openPackage) output() *excerpt {
	if p == nil {
		return nil
	}
	return &p.excerpt
}

func (t *openTest) output() *excerpt {
	if t == nil {
		return nil
	}
	return &t.excerpt
}

// open returns what entries has under name, a new one if there is room, or nil.
func open[E any](o *outputs, entries *map[string]*E, name string) *E {
	if e := (*entries)[name]; e != nil || o.held >= heldLimit {
		return e
	}
	if *entries == nil {
		*entries = map[string]*E{}
	}
	o.held += len(name) + entryCost
	e := new(E)
	(*entries)[name] = e
	return e
}

// take removes what entries has under name and returns it, or an empty one.
func take[E any](o *outputs, entries map[string]*E, name string) *E {
	e := entries[name]
	if e == nil {
		return new(E)
	}
	delete(entries, name)
	o.held -= len(name) + entryCost
	return e
}

func (o *outputs) takeBuild(importPath string) *excerpt {
	x := take(o, o.builds, importPath)
	o.held -= x.held()
	return x
}

// takePackage returns a package that ended; its tests are those that did not.
func (o *outputs) takePackage(name string) *openPackage {
	p := take(o, o.packages, name)
	o.held -= p.held()
	for name, t := range p.tests {
		o.held -= len(name) + entryCost + t.held()
	}
	return p
}

// takeTest returns a test that ended; if it failed, its package and the tests around it know.
func (o *outputs) takeTest(e Event) *openTest {
	p := o.packages[e.Package]
	if p == nil {
		return new(openTest)
	}
	t := take(o, p.tests, e.Test)
	o.held -= t.held()
	if e.Action == actionFail {
		p.failed++
		p.markParents(e.Test)
	}
	return t
}

// markParents notes a failed subtest at every test around it.
func (p *openPackage) markParents(test string) {
	for i := strings.LastIndexByte(test, '/'); i >= 0; i = strings.LastIndexByte(test[:i], '/') {
		if t := p.tests[test[:i]]; t != nil {
			t.childFailed = true
		}
	}
}

// isFraming reports whether e is a line by which go test frames a test's own output.
func isFraming(e Event) bool {
	if e.Test == "" {
		return false
	}
	word, rest, _ := strings.Cut(e.Output, " ")
	switch word {
	case "===":
		kind, _, _ := strings.Cut(rest, " ")
		return kind == "RUN" || kind == "PAUSE" || kind == "CONT" || kind == "NAME"
	case "---":
		_, verdict, _ := strings.Cut(rest, ": ")
		return strings.HasPrefix(verdict, e.Test+" (")
	}
	return false
}

// ownOutput returns what a package printed besides the verdicts of go test.
func (p *openPackage) ownOutput() string {
	var own strings.Builder
	for line := range strings.Lines(p.text()) {
		if !isVerdict(line) {
			own.WriteString(line)
		}
	}
	return strings.TrimSpace(own.String())
}

func isVerdict(line string) bool {
	for _, prefix := range []string{"PASS\n", "FAIL\n", "FAIL\t", "ok  \t", "?   \t", "exit status ", "coverage: "} {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return false
}
