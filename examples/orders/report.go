package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/dlq"
)

// A report tells the day, section by section. It keeps the first error of
// writing, and writes nothing after it.
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

func (r *report) published(orders []Order, s *shop) {
	r.section("One publish, five queues",
		"Each order is published once. Nobody consumes yet, so what a",
		"subscription takes waits in its own queue.")
	for _, o := range orders {
		r.line("   %s  %-9s  %8v%s", who(o), o.Item, o.Total, express(o))
	}
	r.line("")
	for _, st := range s.stats() {
		r.line("   %-9s  %d queued%s", st.Name, st.Queued, missing(st))
	}
}

// missing says which of the orders are not in the queue of st, and why.
func missing(st herald.SubStats) string {
	switch {
	case st.Filtered > 0:
		return fmt.Sprintf("  %d filtered: only totals above %v", st.Filtered, suspicious)
	case st.Dropped > 0:
		return fmt.Sprintf("  %d dropped: room for %d, the oldest makes way", st.Dropped, st.Capacity)
	}
	return ""
}

func (r *report) packed(s *shipping) {
	r.section("Shipping: priority",
		"Express orders overtake; the others stay in order.")
	for _, e := range s.journal.take() {
		r.line("   %s  %-9s%s", who(e.Payload), e.what, express(e.Payload))
	}
}

func (r *report) billed(b *billing) {
	r.section("Billing: retries",
		"The payment provider is down at first. One card has expired,",
		"which no retry can help; one has no funds, which it might.")
	r.charges(b)
}

func (r *report) charges(b *billing) {
	for _, e := range b.journal.take() {
		r.line("   %s  %8v  attempt %d  %s%s", who(e.Payload), e.Payload.Total, e.Attempt, e.what, again(e.Meta))
	}
}

func (r *report) watched(f *fraud, a *audit) {
	r.section("Fraud and audit: a filter, and none",
		fmt.Sprintf("Fraud sees only totals above %v, audit sees everything.", suspicious))
	for _, e := range f.journal.take() {
		r.line("   fraud  %s  %8v  %s", who(e.Payload), e.Payload.Total, e.what)
	}
	r.line("   audit  %d orders, %v in all", a.orders, a.sum)
}

func (r *report) sampled(t *telemetry) {
	r.section("Telemetry: drop the oldest",
		"Its queue is short, and it was late. What made way was the oldest",
		"of the lowest priority, so express orders are still there.")
	for _, e := range t.journal.take() {
		r.line("   %s  %s%s", who(e.Payload), e.what, express(e.Payload))
	}
}

func (r *report) died(dead *dlq.Queue[Order]) {
	r.section("Dead letters",
		"What billing gave up on is kept, with the reason.")
	r.letters(dead)
}

func (r *report) letters(dead *dlq.Queue[Order]) {
	for d := range dead.All() {
		r.line("   %s  %s  %-17v  attempts: %d  %v", who(d.Payload), d.Subscription, d.Reason, d.Attempt, d.Err)
	}
}

func (r *report) replayed(b *billing, dead *dlq.Queue[Order]) {
	r.section("Replay after a fix",
		"Ben has a new card. His letter goes back to billing, and only there:",
		"nothing is shipped twice. Finn's stays, as nothing was done for him.")
	r.charges(b)
	r.line("")
	r.line("   still dead:")
	r.letters(dead)
}

func (r *report) drained(s *shop) {
	r.section("Drain",
		"The topic is closed, and Drain returned nil: nothing is left.",
		"In each line",
		"  offered + replayed = accepted + filtered",
		"  accepted = delivered + dead + dropped")
	const row = "   %-9s  %7v  %8v  %8v  %8v  %9v  %4v  %7v  %s"
	r.line(row, "", "offered", "replayed", "filtered", "accepted", "delivered", "dead", "dropped", "")
	for _, st := range s.stats() {
		r.line(row, st.Name, st.Offered, st.Replayed, st.Filtered, st.Accepted, st.Delivered, st.Dead, st.Dropped, verdict(st))
	}
}

// verdict checks the two equations for real.
func verdict(st herald.SubStats) string {
	if st.Offered+st.Replayed == st.Accepted+st.Filtered && st.Accepted == st.Delivered+st.Dead+st.Dropped {
		return "adds up"
	}
	return "DOES NOT ADD UP"
}

func who(o Order) string { return fmt.Sprintf("#%d %-4s", o.ID, o.Customer) }

// again says that a message has been dead before.
func again(m herald.Meta) string {
	if m.Replays() == 0 {
		return ""
	}
	return fmt.Sprintf("  replay %d", m.Replays())
}

func express(o Order) string {
	if !o.Express {
		return ""
	}
	return "  express"
}
