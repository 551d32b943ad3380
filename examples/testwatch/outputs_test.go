package main

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sum counts anew what o holds.
func (o *outputs) sum() int {
	n := 0
	for name, x := range o.builds {
		n += len(name) + entryCost + x.held()
	}
	for name, p := range o.packages {
		n += len(name) + entryCost + p.held()
		for name, t := range p.tests {
			n += len(name) + entryCost + t.held()
		}
	}
	return n
}

// TestOutputsProperty shows for any events, also those that no go test would send, that the bytes held are counted
// right, and that nothing is held when all has ended.
func TestOutputsProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var o outputs
		packages, builds := rapid.SampledFrom([]string{"p", "q"}), rapid.SampledFrom([]string{"b", "c"})
		tests := rapid.SampledFrom([]string{"", "T", "T/a", "T/a/b", "U"})
		t.Repeat(map[string]func(*rapid.T){
			"output": func(t *rapid.T) {
				n := rapid.IntRange(0, outputLimit).Draw(t, "size")
				o.add(Event{Action: actionOutput, Package: packages.Draw(t, "package"), Test: tests.Draw(t, "test"),
					Output: strings.Repeat("x", n)})
			},
			"build output": func(t *rapid.T) {
				o.add(Event{Action: actionBuildOutput, ImportPath: builds.Draw(t, "path"), Output: "no\n"})
			},
			"build ends": func(t *rapid.T) { o.takeBuild(builds.Draw(t, "path")) },
			"test ends": func(t *rapid.T) {
				o.takeTest(Event{Action: actionFail, Package: packages.Draw(t, "package"), Test: tests.Draw(t, "test")})
			},
			"package ends": func(t *rapid.T) { o.takePackage(packages.Draw(t, "package")) },
			"": func(t *rapid.T) {
				if o.held != o.sum() {
					t.Fatalf("counted %d bytes, held %d", o.held, o.sum())
				}
			},
		})
		for _, name := range []string{"p", "q"} {
			o.takePackage(name)
		}
		for _, name := range []string{"b", "c"} {
			o.takeBuild(name)
		}
		if o.held != 0 {
			t.Fatalf("%d bytes held at the end", o.held)
		}
	})
}

// TestOutputsLimit shows that tests that never end don't add up: over the limit their output is left out, and said so.
func TestOutputsLimit(t *testing.T) {
	var o outputs
	chunk := strings.Repeat("x", outputLimit/2)
	for i := range 3 * heldLimit / len(chunk) {
		o.add(Event{Action: actionOutput, Package: "p", Test: "T" + strings.Repeat("i", i%2000), Output: chunk})
	}
	if o.held > heldLimit+outputLimit {
		t.Errorf("%d bytes held", o.held)
	}
	o.add(Event{Action: actionOutput, Package: "p", Test: "T", Output: "one more\n"})
	if text := o.takeTest(Event{Package: "p", Test: "T"}).text(); !strings.Contains(text, "bytes left out") {
		t.Errorf("nothing said of what was left out in %d bytes", len(text))
	}
	if x := o.takeTest(Event{Package: "p", Test: "unknown"}); x.size != 0 {
		t.Errorf("an unknown test printed %d bytes", x.size)
	}
}

// TestFraming shows which lines of go test are not a test's own output.
func TestFraming(t *testing.T) {
	for line, want := range map[string]bool{
		"=== RUN   T\n":             true,
		"=== PAUSE T\n":             true,
		"=== CONT  T\n":             true,
		"=== NAME  T\n":             true,
		"--- FAIL: T (0.00s)\n":     true,
		"--- PASS: T (0.00s)\n":     true,
		"=== a heading ===\n":       false,
		"--- FAIL: other (0.00s)\n": false,
		"--- a/file.go\n":           false,
		"    x_test.go:1: no\n":     false,
		"":                          false,
	} {
		if got := isFraming(Event{Test: "T", Output: line}); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
	if isFraming(Event{Output: "=== RUN   T\n"}) {
		t.Error("framing without a test")
	}
}
