package main

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// linesOf reads all lines of in.
func linesOf(t *testing.T, in io.Reader) []Line {
	t.Helper()
	var lines []Line
	for r := newLineReader(in); ; {
		line, err := r.next()
		if errors.Is(err, io.EOF) {
			return lines
		}
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
}

func TestLines(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []Line
	}{
		{"nothing", "", nil},
		{"one", "a\n", []Line{{Number: 1, Text: []byte("a"), Size: 1}}},
		{"blank ones count", "\n\nb\n", []Line{{Number: 1}, {Number: 2}, {Number: 3, Text: []byte("b"), Size: 1}}},
		{"torn", "a\nb", []Line{{Number: 1, Text: []byte("a"), Size: 1}, {Number: 2, Text: []byte("b"), Size: 1, Torn: true}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, linesOf(t, strings.NewReader(c.in))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestLineLimit shows that a line of exactly the limit is whole and one byte more leaves a prefix.
func TestLineLimit(t *testing.T) {
	for _, size := range []int{lineLimit - 1, lineLimit, lineLimit + 1, 3 * lineLimit} {
		kept := size
		if size > lineLimit {
			kept = linePrefix
		}
		lines := linesOf(t, strings.NewReader(strings.Repeat("x", size)+"\nnext\n"))
		if len(lines) != 2 || string(lines[1].Text) != "next" {
			t.Fatalf("size %d: %d lines", size, len(lines))
		}
		got := lines[0]
		if got.Size != size || len(got.Text) != kept || bytes.Count(got.Text, []byte("x")) != kept {
			t.Errorf("size %d: got %d, of which %d bytes are kept", size, got.Size, len(got.Text))
		}
		if size > lineLimit && cap(got.Text) > 2*linePrefix {
			t.Errorf("size %d holds %d bytes", size, cap(got.Text))
		}
	}
}

// FuzzLines compares the reader with bytes.Split, whatever pieces the input comes in.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nbb\n\nccc"))
	f.Add(bytes.Repeat([]byte("long "), 40_000))
	f.Fuzz(func(t *testing.T, in []byte) {
		texts := bytes.Split(in, []byte("\n"))
		if last := len(texts) - 1; len(texts[last]) == 0 {
			texts = texts[:last]
		}
		lines := linesOf(t, iotest.HalfReader(bytes.NewReader(in)))
		if len(lines) != len(texts) {
			t.Fatalf("%d lines, want %d", len(lines), len(texts))
		}
		for i, line := range lines {
			torn := i == len(lines)-1 && in[len(in)-1] != '\n'
			if line.Number != i+1 || line.Size != len(texts[i]) || line.Torn != torn {
				t.Errorf("line %d is %d of %d bytes, torn %v", i+1, line.Number, line.Size, line.Torn)
			}
			if line.Size <= lineLimit && !bytes.Equal(line.Text, texts[i]) {
				t.Errorf("line %d is %.80q, want %.80q", i+1, line.Text, texts[i])
			}
		}
	})
}
