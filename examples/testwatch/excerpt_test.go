package main

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestExcerptProperty shows for any pieces that an excerpt is the whole output if that is short, else its beginning and
// its end with the right number between them, and that it never holds more than it may.
func TestExcerptProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var x excerpt
		var whole strings.Builder
		held := 0
		for i, n := range rapid.SliceOfN(rapid.IntRange(0, outputLimit), 0, 8).Draw(t, "sizes") {
			piece := strings.Repeat(fmt.Sprintf("%d piece\n", i), n/8+1)[:n]
			held += x.add(piece)
			whole.WriteString(piece)
			if held != x.held() || held > 3*outputLimit/2 {
				t.Fatalf("holds %d, says %d", x.held(), held)
			}
		}
		got, want := x.text(), whole.String()
		begin, end, cut := strings.Cut(got, "\n… ")
		if !cut {
			if got != want {
				t.Fatalf("%d bytes, want %d", len(got), len(want))
			}
			return
		}
		var missing int
		if _, err := fmt.Sscanf(end, "%d", &missing); err != nil {
			t.Fatal(err)
		}
		_, end, _ = strings.Cut(end, " bytes left out …\n")
		if !strings.HasPrefix(want, begin) || !strings.HasSuffix(want, end) {
			t.Fatal("not the beginning and the end")
		}
		if sum := len(strings.TrimSuffix(want[:outputLimit/2], "\n")); len(begin) != sum {
			t.Fatalf("the beginning has %d bytes, want %d", len(begin), sum)
		}
		if outputLimit/2+missing+len(end) != len(want) {
			t.Fatalf("%d bytes missing, of %d there are %d and %d", missing, len(want), len(begin), len(end))
		}
	})
}
