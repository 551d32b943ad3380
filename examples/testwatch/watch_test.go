package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// watched runs testwatch on in and returns what it wrote to its output and to standard error, and its status.
func watched(t *testing.T, in io.Reader, terminal bool) (out, diag string, status int) {
	t.Helper()
	var o, d bytes.Buffer
	status = run(t.Context(), in, &o, &d, terminal)
	return o.String(), d.String(), status
}

// TestMillionLines shows that a long stream is counted exactly and in bounded memory.
func TestMillionLines(t *testing.T) {
	const bound = 32 << 20
	packages := 250 / raceFactor
	before, most := heap(), uint64(0)
	in := &stream{lines: packages * streamPackage, each: func(left int) {
		if left%100_000 == 0 {
			most = max(most, heap())
		}
	}}
	out, diag, status := watched(t, in, false)
	if status != statusFailed || diag != "" {
		t.Errorf("status %d, diag %q", status, diag)
	}
	want := fmt.Sprintf("SUMMARY\n\n"+
		"  packages %8d passed %6d failed %6d without tests\n"+
		"  tests    %8d passed %6d failed %6d skipped %6d unfinished\n"+
		"  lines    %8d read   %6d malformed\n"+
		"\nFAIL\n", 0, packages, 0, packages*(streamTests-1), packages, 0, 0, packages*streamPackage, 0)
	if _, got, _ := strings.Cut(out, "SUMMARY"); cmp.Diff(want, "SUMMARY"+got) != "" {
		t.Errorf("summary (-want +got):\n%s", cmp.Diff(want, "SUMMARY"+got))
	}
	if more := fmt.Sprintf("  and %d more\n", packages-findingLimit); packages > findingLimit && !strings.Contains(out, more) {
		t.Errorf("no line %q", more)
	}
	if most > before+bound {
		t.Errorf("the heap grew from %d to %d bytes, by more than %d", before, most, bound)
	}
}

// heap returns the bytes that are in use, garbage aside.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestLongLine shows that a line of 10 MB is one dead letter with its number and size, and that what comes after it
// counts.
func TestLongLine(t *testing.T) {
	in := io.MultiReader(
		strings.NewReader(`{"Action":"start","Package":"p"}`+"\n"+`{"Action":"output","Package":"p","Output":"`),
		io.LimitReader(letters{}, 10_000_000),
		strings.NewReader("\"}\n"+`{"Action":"pass","Package":"p","Elapsed":1}`+"\n"))
	out, _, status := watched(t, in, false)
	for _, want := range []string{
		"ok       1.00s       -       -        -  p\n",
		"line 2: 10000045 bytes long, more than 1048576\n    `{\"Action\":\"output\",\"Package\":\"p\",\"Output\":\"aaaa",
		"        3 read        1 malformed\n",
		"\nPASS\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q", want)
		}
	}
	if status != statusPassed || len(out) > 2000 {
		t.Errorf("status %d, %d bytes of output:\n%.2000s", status, len(out), out)
	}
}

// letters is an endless reader of one letter.
type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

// TestMalformedLinesAreBounded shows that the dead letters keep the newest lines and count the others.
func TestMalformedLinesAreBounded(t *testing.T) {
	var in strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&in, "noise %d\n", i+1)
	}
	in.WriteString(`{"Action":"pass","Package":"p"}` + "\n")
	out, _, status := watched(t, strings.NewReader(in.String()), false)
	if status != statusPassed {
		t.Errorf("status %d", status)
	}
	if !strings.Contains(out, "MALFORMED LINES\n\n  980 before these\n  line 981: not JSON\n    `noise 981`\n") ||
		!strings.Contains(out, "    `noise 1000`\n") || !strings.Contains(out, "1000 malformed") {
		t.Errorf("got:\n%s", out)
	}
}

// TestFailedBuildsComeFirst shows that the report is in order of priority, then of the stream.
func TestFailedBuildsComeFirst(t *testing.T) {
	const in = `{"Action":"run","Package":"a","Test":"TestB"}
{"Action":"fail","Package":"a","Test":"TestB","Elapsed":1}
{"Action":"run","Package":"a","Test":"TestA"}
{"Action":"fail","Package":"a","Test":"TestA","Elapsed":2}
noise
{"Action":"fail","Package":"a"}
{"Action":"build-output","ImportPath":"b","Output":"b.go:1: no\n"}
{"Action":"build-fail","ImportPath":"b"}
{"Action":"fail","Package":"b","FailedBuild":"b"}
`
	out, _, _ := watched(t, strings.NewReader(in), false)
	_, got, _ := strings.Cut(out, "\n\n")
	const want = "FAILED BUILDS\n\n  b\n    b.go:1: no\n\n" +
		"FAILED TESTS\n\n  TestB  1.00s  a\n\n  TestA  2.00s  a\n\n" +
		"MALFORMED LINES\n\n  line 5: not JSON\n    `noise`\n\n" +
		"SLOWEST TESTS\n\n      2.00s  TestA  a\n      1.00s  TestB  a\n\n"
	if got, _, _ = strings.Cut(got, "SUMMARY"); got != want {
		t.Errorf("(-want +got):\n%s", cmp.Diff(want, got))
	}
}

// TestStatus has a case for each way in which a run can end.
func TestStatus(t *testing.T) {
	const pass = `{"Action":"pass","Package":"p"}` + "\n"
	for _, c := range []struct {
		name, in string
		want     int
	}{
		{"passed", pass, statusPassed},
		{"no tests", `{"Action":"skip","Package":"p"}` + "\n", statusPassed},
		{"last newline missing", strings.TrimSpace(pass), statusPassed},
		{"last line torn", pass + `{"Action":"sta`, statusFailed},
		{"malformed line besides", "noise\n" + pass, statusPassed},
		{"test failed", `{"Action":"fail","Package":"p","Test":"T"}` + "\n" + pass, statusFailed},
		{"package failed", `{"Action":"fail","Package":"p"}` + "\n" + pass, statusFailed},
		{"build failed", `{"Action":"build-fail","ImportPath":"p"}` + "\n", statusFailed},
		{"package without a verdict", pass + `{"Action":"start","Package":"q"}` + "\n", statusFailed},
		{"test without a verdict in a package that passed", `{"Action":"run","Package":"p","Test":"BenchmarkX"}` + "\n" + pass, statusPassed},
		{"nothing", "", statusUnusable},
		{"blank lines", "\n \n", statusUnusable},
		{"noise", "noise\n", statusUnusable},
	} {
		t.Run(c.name, func(t *testing.T) {
			if out, diag, got := watched(t, strings.NewReader(c.in), false); got != c.want {
				t.Errorf("status %d, want %d\n%s%s", got, c.want, out, diag)
			}
		})
	}
}

// TestReadError shows that an input that breaks off is reported as far as it went.
func TestReadError(t *testing.T) {
	in := io.MultiReader(strings.NewReader(`{"Action":"pass","Package":"p"}`+"\n"), iotest.ErrReader(errors.New("disk on fire")))
	out, diag, status := watched(t, in, false)
	if status != statusUnusable || diag != "testwatch: reading after line 1: disk on fire\n" {
		t.Errorf("status %d, diag %q", status, diag)
	}
	if !strings.Contains(out, "1 passed") || !strings.HasSuffix(out, "\nUNUSABLE\n") {
		t.Errorf("got:\n%s", out)
	}
}

// A brokenWriter takes some bytes and then fails.
type brokenWriter struct {
	left int
	err  error
}

func (w *brokenWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, w.err
	}
	return len(p), nil
}

// TestBrokenOutput shows that a reader of the output who goes away changes neither how much is read nor the status, and
// that another write error is said.
func TestBrokenOutput(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want int
		diag string
	}{
		{"closed pipe", syscall.EPIPE, statusFailed, ""},
		{"full disk", syscall.ENOSPC, statusUnusable, "testwatch: writing: no space left on device\n"},
	} {
		for _, left := range []int{0, 1, 50, 51, 100, 150, 200, 300} {
			in := &stream{lines: streamPackage / 10}
			var diag bytes.Buffer
			got := run(t.Context(), in, &brokenWriter{left, c.err}, &diag, left%2 == 0)
			if got != c.want || diag.String() != c.diag || in.lines > 0 {
				t.Fatalf("%s after %d bytes: status %d, diag %q, %d lines unread", c.name, left, got, &diag, in.lines)
			}
		}
	}
}

// TestCancel shows that the end of the context ends everything, though the input would go on.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	in := &stream{lines: 1 << 60, each: func(int) { cancel(errors.New("enough")) }}
	var out, diag bytes.Buffer
	if got := run(ctx, in, &out, &diag, true); got != statusUnusable || !strings.Contains(diag.String(), "enough") {
		t.Errorf("status %d, diag %q", got, &diag)
	}
}

// TestTerminal shows that what stays on a terminal is what goes into a pipe, besides the colours, and that the live line
// was there meanwhile.
func TestTerminal(t *testing.T) {
	piped, _, _ := watched(t, &stream{lines: 2 * streamPackage}, false)
	drawn, _, status := watched(t, &stream{lines: 2 * streamPackage}, true)
	if status != statusFailed {
		t.Errorf("status %d", status)
	}
	if !regexp.MustCompile(`\r\x1b\[K\d packages  \d+ passed  \d failed  0 skipped  Test\d+`).MatchString(drawn) {
		t.Errorf("no live line in %.500q", drawn)
	}
	stays := regexp.MustCompile(`[^\n]*\r\x1b\[K`).ReplaceAllString(drawn, "")
	stays = strings.NewReplacer(red, "", plain, "").Replace(stays)
	if diff := cmp.Diff(piped, stays); diff != "" {
		t.Errorf("(-pipe +terminal):\n%s", diff)
	}
	if strings.Contains(piped, "\x1b") {
		t.Error("an escape sequence in a pipe")
	}
}
