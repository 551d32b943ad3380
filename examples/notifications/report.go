package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/broker"
)

// report says what became of every notification.
func (s *service) report(out io.Writer, n intake, replayed int) {
	fmt.Fprintf(out, "%d notifications, %d lines skipped\n\n", n.accepted, n.bad)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\toffered\tnot wanted\tsent\tretried\treplayed\tdead\t")
	for _, st := range s.stats() {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t\n",
			st.Name, st.Offered, st.Filtered, st.Delivered, st.Retried, st.Replayed, st.Dead)
	}
	w.Flush()
	fmt.Fprintf(out, "\n%d news in %d digests\n", s.ledger.news(), len(s.ledger.digests))
	fmt.Fprintf(out, "%d dead letters replayed after push came back\n", replayed)
	for l := range s.broker.DeadLetters().All() {
		fmt.Fprintf(out, "dead: %s\n", describe(l))
	}
}

// stats are the accounts of the channels, in order of their names. Those of
// closed subscriptions are known to who made them alone, so the report is made
// of what the service kept.
func (s *service) stats() []herald.SubStats {
	var all []herald.SubStats
	for _, sub := range s.channels {
		all = append(all, sub.Stats())
	}
	slices.SortFunc(all, func(a, b herald.SubStats) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func (l *ledger) news() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, d := range l.digests {
		n += d.news
	}
	return n
}

// describe is a dead letter for a person to read.
func describe(l broker.Letter) string {
	n, _ := l.Payload.(Notification)
	return fmt.Sprintf("%s of %s: %s after %d attempts: %v", n.ID, l.Subscription, l.Reason, l.Attempt, l.Err)
}
