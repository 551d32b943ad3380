package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/heraldbus/herald"
)

const slowestLimit = 10 // tests that are listed

// slowest keeps the tests that took longest, slowest first; of two that took equally long, the first by name.
type slowest struct {
	findings *herald.Topic[Finding]
	tests    []Event // at most slowestLimit
}

func (s *slowest) handle(_ context.Context, m herald.Message[Event]) error {
	e := m.Payload
	i, _ := slices.BinarySearchFunc(s.tests, e, bySlowness)
	if i == slowestLimit || e.Elapsed == 0 {
		return nil
	}
	s.tests = slices.Insert(s.tests, i, e)
	s.tests = s.tests[:min(len(s.tests), slowestLimit)]
	return nil
}

func bySlowness(a, b Event) int {
	return cmp.Or(
		cmp.Compare(b.Elapsed, a.Elapsed),
		strings.Compare(a.Package, b.Package),
		strings.Compare(a.Test, b.Test),
	)
}

// finish publishes the list.
func (s *slowest) finish(ctx context.Context) error {
	if len(s.tests) == 0 {
		return nil
	}
	var text strings.Builder
	for _, e := range s.tests {
		name := fmt.Sprintf("%-*s", nameWidth(s.tests), printable(e.Test))
		fmt.Fprintf(&text, "  %9s  %s  %s\n", seconds(e.Elapsed), name, printable(e.Package))
	}
	list := Finding{Section: "SLOWEST TESTS", Text: text.String()}
	return s.findings.Publish(ctx, list, herald.WithPriority(prioritySlowest))
}

// nameWidth returns the width of the column of names; longer ones stick out.
func nameWidth(tests []Event) int {
	width := 0
	for _, e := range tests {
		width = max(width, utf8.RuneCountInString(e.Test))
	}
	return min(width, 48)
}

// isTestResult is the filter of its subscription.
func isTestResult(m herald.Message[Event]) bool { return m.Payload.isTestResult() }
