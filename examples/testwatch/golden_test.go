package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// TestGolden runs every recorded stream in testdata and compares all that a person would see: the output, then what
// stands on standard error, then the exit status.
func TestGolden(t *testing.T) {
	streams, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(streams) == 0 {
		t.Fatalf("no streams: %v", err)
	}
	for _, stream := range streams {
		t.Run(strings.TrimSuffix(filepath.Base(stream), ".jsonl"), func(t *testing.T) {
			in, err := os.ReadFile(stream)
			if err != nil {
				t.Fatal(err)
			}
			var out, diag bytes.Buffer
			status := run(t.Context(), bytes.NewReader(in), &out, &diag, false)
			got := fmt.Sprintf("%s%sexit status %d\n", &out, &diag, status)
			golden := strings.TrimSuffix(stream, ".jsonl") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("the output differs (-want +got):\n%s", diff)
			}
		})
	}
}
