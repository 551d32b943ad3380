package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"testing"
)

// start runs testwatch as a process of its own and returns its exit status and what it wrote to standard error.
func start(t *testing.T, stdout *os.File, stdin []byte, args ...string) (status int, stderr string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	var diag bytes.Buffer
	cmd.Env = append(os.Environ(), "TESTWATCH_MAIN=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), stdout, &diag
	if err := cmd.Run(); err != nil {
		if _, ok := errors.AsType[*exec.ExitError](err); !ok {
			t.Fatal(err)
		}
	}
	return cmd.ProcessState.ExitCode(), diag.String()
}

// TestClosedPipe shows that testwatch outlives the reader of its output, as in "testwatch | head -1": without a signal,
// a panic or a stack, and with the status of the tests.
func TestClosedPipe(t *testing.T) {
	for stream, want := range map[string]int{"pass": statusPassed, "shop": statusFailed} {
		in, err := os.ReadFile("testdata/" + stream + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		status, stderr := start(t, w, in)
		w.Close()
		if status != want || stderr != "" {
			t.Errorf("%s: status %d, want %d, stderr %q", stream, status, want, stderr)
		}
	}
}

// TestUsage shows that arguments are refused.
func TestUsage(t *testing.T) {
	if status, stderr := start(t, nil, nil, "-v"); status != statusUnusable || stderr != usage {
		t.Errorf("status %d, stderr %q", status, stderr)
	}
}
