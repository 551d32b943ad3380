package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestTooManyPackages shows that a stream with more packages under way than any go test has is given up, with a reason.
func TestTooManyPackages(t *testing.T) {
	var in strings.Builder
	for i := range openLimit + 1 {
		fmt.Fprintf(&in, `{"Action":"start","Package":"p%d"}`+"\n", i)
	}
	_, diag, status := watched(t, strings.NewReader(in.String()), false)
	if status != statusUnusable || !strings.Contains(diag, "more than 10000 packages under way at once") {
		t.Errorf("status %d, diag %q", status, diag)
	}
}

func TestNote(t *testing.T) {
	for output, want := range map[string]string{
		"ok  \tp\t(cached)\n":                  "cached",
		"ok  \tp\t0.1s\n":                      "",
		"ok  \tp\t0.1s [no tests to run]\n":    "no tests to run",
		"?   \tp\t[no test files]\n":           "no test files",
		"FAIL\tp [build failed]\n":             "build failed",
		"FAIL\tp\t0.1s\n":                      "",
		"a line of the package's own [really]": "",
		"PASS\n":                               "",
	} {
		if got := noteIn(output); got != want {
			t.Errorf("%q: %q, want %q", output, got, want)
		}
	}
}
