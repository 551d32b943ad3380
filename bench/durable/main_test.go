package main

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestSystems shows that every system has what it acknowledged.
func TestSystems(t *testing.T) {
	for _, s := range systems {
		for _, n := range []int{1, 8} {
			rate, err := slice(s, filepath.Join(t.TempDir(), "slice"), n, 50*time.Millisecond)
			if err != nil || rate <= 0 {
				t.Errorf("%s with %d publishers: %v records/s, %v", s.name, n, rate, err)
			}
		}
	}
}

// TestLoss shows that a system that loses a record is found out, and one that
// fails is too.
func TestLoss(t *testing.T) {
	sick := errors.New("sick")
	for what, run := range map[string]running{
		"0 are there": {publish: func(int64) error { return nil }, count: func() (int64, error) { return 0, nil }},
		"sick":        {publish: func(int64) error { return sick }},
	} {
		run.each, run.stop = 1, func() error { return nil }
		s := system{start: func(string, int) (running, error) { return run, nil }}
		_, err := slice(s, filepath.Join(t.TempDir(), "slice"), 2, time.Millisecond)
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("got %v, want %q", err, what)
		}
	}
}

// TestReport shows that a table has a row for each system and number of publishers.
func TestReport(t *testing.T) {
	r := &report{config: config{rounds: 1, slice: 5 * time.Millisecond}}
	if err := r.measure(t.TempDir(), io.Discard); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := r.write(&b); err != nil {
		t.Fatal(err)
	}
	if rows := strings.Count(b.String(), "\n| "); rows != 1+len(systems)*len(publishers) {
		t.Errorf("%d rows:\n%s", rows, &b)
	}
}
