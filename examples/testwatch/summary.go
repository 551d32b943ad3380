package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

const openLimit = 10_000 // packages under way at once; more are no stream of go test

// summary counts, and publishes a [Tally] when it has changed and a [Package] when one has ended.
type summary struct {
	packages *herald.Topic[Package]
	tallies  *herald.Topic[Tally]
	tally    Tally
	open     map[string]*Package
}

func newSummary(packages *herald.Topic[Package], tallies *herald.Topic[Tally]) *summary {
	return &summary{packages: packages, tallies: tallies, open: map[string]*Package{}}
}

// concernsSummary is the filter of its subscription: all but what tests print.
func concernsSummary(m herald.Message[Event]) bool {
	return m.Payload.Test == "" || m.Payload.Action != actionOutput
}

func (s *summary) handle(ctx context.Context, m herald.Message[Event]) error {
	if err := s.add(ctx, m.Payload); err != nil {
		return policy.Stop(err)
	}
	return nil
}

func (s *summary) add(ctx context.Context, e Event) error {
	s.tally.see(e.Time)
	if e.Action == actionBuildFail {
		s.tally.BuildsFailed++
	}
	if e.Package == "" {
		return nil
	}
	p, err := s.openPackage(e.Package)
	if err != nil {
		return err
	}
	switch {
	case e.Action == actionOutput:
		p.Note = cmp.Or(noteIn(e.Output), p.Note)
		return nil
	case e.Action == actionRun:
		p.Active++
		s.tally.Latest = e.Test
	case e.isTestResult():
		s.endTest(p, e)
	case e.isResult():
		if err := s.endPackage(ctx, p, e); err != nil {
			return err
		}
	default:
		return nil
	}
	return s.tallies.Publish(ctx, s.tally)
}

func (s *summary) openPackage(name string) (*Package, error) {
	p := s.open[name]
	if p == nil {
		if len(s.open) == openLimit {
			return nil, fmt.Errorf("more than %d packages under way at once", openLimit)
		}
		p = &Package{Name: name}
		s.open[name] = p
	}
	return p, nil
}

func (s *summary) endTest(p *Package, e Event) {
	p.Active = max(0, p.Active-1)
	switch e.Action {
	case actionPass:
		p.Passed++
		s.tally.Passed++
	case actionFail:
		p.Failed++
		s.tally.Failed++
	default:
		p.Skipped++
		s.tally.Skipped++
	}
}

// endPackage counts a package and publishes its row. What is still active counts only if the package failed, for
// benchmarks begin and never end.
func (s *summary) endPackage(ctx context.Context, p *Package, e Event) error {
	delete(s.open, p.Name)
	p.Result, p.Elapsed = e.Action, e.Elapsed
	switch e.Action {
	case actionPass:
		s.tally.PackagesPassed++
	case actionFail:
		s.tally.PackagesFailed++
		s.tally.Unfinished += p.Active
	default:
		s.tally.PackagesEmpty++
	}
	return s.packages.Publish(ctx, *p)
}

// finish ends what the stream left open: a package without a verdict has failed.
func (s *summary) finish(ctx context.Context) error {
	for _, name := range slices.Sorted(maps.Keys(s.open)) {
		p := s.open[name]
		p.Note = "did not finish"
		if err := s.endPackage(ctx, p, Event{Action: actionFail}); err != nil {
			return err
		}
	}
	return nil
}

// noteIn returns what the verdict of a package says besides its name and time, such as "cached" or "no test files".
func noteIn(output string) string {
	output = strings.TrimSpace(output)
	switch {
	case !isVerdict(output):
		return ""
	case strings.HasSuffix(output, "(cached)"):
		return "cached"
	case strings.HasSuffix(output, "]"):
		return output[strings.LastIndexByte(output, '[')+1 : len(output)-1]
	}
	return ""
}
