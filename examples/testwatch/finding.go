package main

import (
	"context"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// The priorities of the parts of the report: whoever finds something publishes it at once, and the queue of the report
// puts it where it belongs. At equal priority the order is that of publishing.
const (
	priorityBuild     = policy.Critical
	priorityFailure   = policy.High
	priorityMalformed = policy.Normal
	prioritySlowest   = policy.Low
)

const (
	findingLimit = 50                     // findings of one priority; what comes after them is counted
	reportLimit  = 4 * (findingLimit + 1) // the capacity of the report; more than that can't be found
)

// A Finding is one entry of the report.
type Finding struct {
	Section string
	Text    string // lines
}

// A reporter prints findings under the headings of their sections, with a blank line between them.
type reporter struct {
	screen  *screen
	section string // of the finding that was printed last
}

func (r *reporter) handle(_ context.Context, m herald.Message[Finding]) error {
	text := "\n" + m.Payload.Text
	if m.Payload.Section != r.section {
		r.section = m.Payload.Section
		text = "\n" + r.section + "\n" + text
	}
	r.screen.print(text)
	return nil
}
