package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/heraldbus/herald"
)

// A report tells the run, section by section. It keeps the first error of writing, and writes nothing after it.
type report struct {
	out      io.Writer
	err      error
	sections int
}

// line writes one line, without the blanks that padding leaves at its end.
func (r *report) line(format string, args ...any) {
	if r.err == nil {
		_, r.err = fmt.Fprintln(r.out, strings.TrimRight(fmt.Sprintf(format, args...), " "))
	}
}

// section begins a part of the report, with lines that say what to look for.
func (r *report) section(title string, lines ...string) {
	if r.sections > 0 {
		r.line("")
	}
	r.sections++
	r.line("%d. %s", r.sections, title)
	for _, line := range lines {
		r.line("   %s", line)
	}
	r.line("")
}

func (r *report) accepted(p *program) {
	r.section("Accepted",
		fmt.Sprintf("The queue has room for %d. When it's full the input waits.", p.capacity))
	r.line("   %d lines, %d events, %d bad", p.intake.lines, p.intake.events, len(p.intake.bad)+p.intake.badMore)
	for _, b := range p.intake.bad {
		r.line("   line %d: %v", b.number, b.err)
	}
	if n := p.intake.badMore; n > 0 {
		r.line("   and %d more bad lines", n)
	}
}

// delivered shows every attempt, where there's a journal.
func (r *report) delivered(p *program) {
	if p.journal == nil {
		return
	}
	r.section("Delivered",
		"Receivers side by side, each one's events in order. What may help is",
		"tried again, after a delay with jitter or the one that a 429 asks for.")
	r.attempts(p)
}

func (r *report) attempts(p *program) {
	entries, gap := p.journal.take(), false
	for _, s := range p.standins.list {
		es := entries[s.name]
		if len(es) == 0 {
			continue
		}
		if gap {
			r.line("")
		}
		gap = true
		r.line("   %-7s  %s", s.name, s.about)
		for _, e := range es {
			r.line("     %s  %s", e.id, strings.Join(e.outcomes, ", "))
		}
	}
}

func (r *report) died(p *program) {
	if p.dead.Len() == 0 {
		return
	}
	r.section("Dead letters",
		"A refusal is final. The rest is owed: what wasn't delivered, and what",
		"is held behind it so that the order stays.")
	r.letters(p)
}

// letters lists the dead letters by receiver, and each receiver's in order.
func (r *report) letters(p *program) {
	byReceiver := func(a, b herald.DeadLetter[Event]) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), bySequence(a, b))
	}
	for _, l := range slices.SortedFunc(p.dead.All(), byReceiver) {
		r.line("   %-7s  %s  %-17v  %v", l.Key, l.ID(), l.Reason, l.Err)
	}
}

func (r *report) redelivered(p *program) {
	r.section("Replay",
		"What is owed goes back into the queue, once more and in order.")
	if p.journal != nil {
		r.attempts(p)
	}
	if p.dead.Len() > 0 {
		r.line("")
		r.line("   still dead:")
		r.letters(p)
	}
}

// testified lets the stand-ins say what they've seen.
func (r *report) testified(p *program) {
	r.section("What the receivers say",
		"Each has checked signatures and order, and knows a repeat by its ID.")
	for _, s := range p.standins.list {
		t := s.inbox.testify()
		r.line("   %-7s  %2d taken  %s%s", s.name, t.taken, t.verdict(), t.repeats())
		for _, f := range t.faults {
			r.line("            %s", f)
		}
	}
}

func (t testimony) verdict() string {
	if len(t.faults) > 0 {
		return "NOT AS IT SHOULD BE"
	}
	return "in order, signed"
}

// repeats says what came again, and why.
func (t testimony) repeats() string {
	var b strings.Builder
	if len(t.late) > 0 {
		fmt.Fprintf(&b, "  again, as the answer was late: %s", strings.Join(t.late, ", "))
	}
	if len(t.twice) > 0 {
		fmt.Fprintf(&b, "  twice in the input: %s", strings.Join(t.twice, ", "))
	}
	return b.String()
}

// drained shows the accounts of all receivers; left is the error of Drain.
func (r *report) drained(p *program, left error) {
	r.section("Drained", "accepted = delivered + refused + owed + left + lost")
	const row = "   %-7s  %8v  %9v  %7v  %4v  %4v  %4v"
	r.line(row, "", "accepted", "delivered", "refused", "owed", "left", "lost")
	for _, to := range p.receivers {
		r.balance(row, to.Name, p.ledger.of(to.Name))
	}
	sum := p.ledger.sum()
	r.balance(row, "", sum)
	r.line("")
	if left != nil {
		r.line("   %v", errGrace)
	}
	r.line("   %s", sum.verdict())
}

func (r *report) balance(row, name string, b balance) {
	r.line(row, name, b.accepted, b.delivered, b.refused, b.owed, b.left, b.lost)
}

func (b balance) verdict() string {
	if b.settled() {
		return "nothing is owed, nothing is left"
	}
	return fmt.Sprintf("NOT DELIVERED: %d owed, %d left in the queue, %d lost", b.owed, b.left, b.lost)
}
