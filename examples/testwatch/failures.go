package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// failures publishes a finding for each build, test and package that failed, with its output. Like each handler here it
// belongs to one subscription with one worker, so it needs no lock.
type failures struct {
	findings *herald.Topic[Finding]
	outputs  outputs
	found    map[herald.Priority]int // those over findingLimit too
}

func newFailures(findings *herald.Topic[Finding]) *failures {
	return &failures{findings: findings, found: map[herald.Priority]int{}}
}

func (f *failures) handle(ctx context.Context, m herald.Message[Event]) error {
	if err := f.add(ctx, m.Payload); err != nil {
		return policy.Stop(err)
	}
	return nil
}

func (f *failures) add(ctx context.Context, e Event) error {
	switch {
	case e.Action == actionBuildFail:
		return f.endBuild(ctx, e)
	case e.isTestResult():
		return f.endTest(ctx, e)
	case e.isResult():
		return f.endPackage(ctx, e)
	}
	f.outputs.add(e)
	return nil
}

func (f *failures) endBuild(ctx context.Context, e Event) error {
	output := f.outputs.takeBuild(e.ImportPath)
	return f.publish(ctx, priorityBuild, output.text(), e.ImportPath)
}

func (f *failures) endTest(ctx context.Context, e Event) error {
	t := f.outputs.takeTest(e)
	if e.Action != actionFail || t.childFailed && t.size == 0 {
		return nil // passed, or failed only because a subtest did, which has said it
	}
	return f.publish(ctx, priorityFailure, t.text(), e.Test, fmt.Sprintf("%.2fs", e.Elapsed), e.Package)
}

// endPackage publishes, if the package failed, which of its tests did not end and what it printed itself. One that was
// not built says no more than its build did.
func (f *failures) endPackage(ctx context.Context, e Event) error {
	p := f.outputs.takePackage(e.Package)
	if e.Action != actionFail || e.FailedBuild != "" {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(p.tests)) {
		if err := f.publish(ctx, priorityFailure, p.tests[name].text(), name, "did not finish", e.Package); err != nil {
			return err
		}
	}
	own := p.ownOutput()
	if own == "" && p.failed+len(p.tests) > 0 {
		return nil
	}
	return f.publish(ctx, priorityFailure, cmp.Or(own, p.text()), e.Package)
}

// finish publishes what the stream left unfinished, and how many findings were too many.
func (f *failures) finish(ctx context.Context) error {
	for _, name := range slices.Sorted(maps.Keys(f.outputs.packages)) {
		if err := f.endPackage(ctx, Event{Action: actionFail, Package: name}); err != nil {
			return err
		}
	}
	for p, n := range f.found {
		if n > findingLimit {
			more := Finding{Section: sectionOf(p), Text: fmt.Sprintf("  and %d more\n", n-findingLimit)}
			if err := f.findings.Publish(ctx, more, herald.WithPriority(p)); err != nil {
				return err
			}
		}
	}
	return nil
}

// publish publishes a finding, or counts it if there are too many: a row of cells and the output below it.
func (f *failures) publish(ctx context.Context, p herald.Priority, output string, cells ...string) error {
	f.found[p]++
	if f.found[p] > findingLimit {
		return nil
	}
	text := row(cells...) + indent(output, "    ")
	return f.findings.Publish(ctx, Finding{Section: sectionOf(p), Text: text}, herald.WithPriority(p))
}

func sectionOf(p herald.Priority) string {
	if p == priorityBuild {
		return "FAILED BUILDS"
	}
	return "FAILED TESTS"
}
