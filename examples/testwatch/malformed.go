package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/dlq"
)

const malformedLimit = 20 // malformed lines that are kept; the oldest go first

// malformed keeps the lines that were no events, as dead letters of the subscription that decodes.
type malformed struct {
	findings *herald.Topic[Finding]
	letters  *dlq.Queue[Line]
	torn     bool // the last line of the input is one of them because it was cut short
}

func newMalformed(findings *herald.Topic[Finding]) *malformed {
	return &malformed{findings: findings, letters: dlq.New[Line](malformedLimit)}
}

// put keeps a dead letter, with no more of its line than is shown.
func (m *malformed) put(d herald.DeadLetter[Line]) error {
	m.torn = d.Payload.Torn
	d.Payload = d.Payload.prefix()
	return m.letters.Put(d)
}

// count returns how many lines were malformed.
func (m *malformed) count() int { return m.letters.Len() + int(m.letters.Evicted()) }

// finish publishes the lines with their numbers and what is wrong with them.
func (m *malformed) finish(ctx context.Context) error {
	if m.count() == 0 {
		return nil
	}
	var text strings.Builder
	if n := m.letters.Evicted(); n > 0 {
		fmt.Fprintf(&text, "  %d before these\n", n)
	}
	for d := range m.letters.All() {
		fmt.Fprintf(&text, "  line %d: %v\n    %s\n", d.Payload.Number, reason(d.Err), quote(d.Payload))
	}
	list := Finding{Section: "MALFORMED LINES", Text: text.String()}
	return m.findings.Publish(ctx, list, herald.WithPriority(priorityMalformed))
}

// reason returns what is wrong with a line, without the verdict that wraps it.
func reason(err error) error {
	if m, ok := errors.AsType[*MalformedError](err); ok {
		return m.Reason
	}
	return err
}

// quote returns the beginning of a line in quotes.
func quote(l Line) string {
	quoted := fmt.Sprintf("%#q", l.Text)
	if l.Size > len(l.Text) {
		quoted += " …"
	}
	return quoted
}
