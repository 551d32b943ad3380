package heraldslog

import "github.com/heraldbus/herald"

// Stats is what a [Handler] has done. It's no cut across the appenders, nor
// between them and the records that are being logged.
type Stats struct {
	Logged    uint64 // records handed to Handle, those of Late included
	Late      uint64 // of these, after Close: lost
	Appenders []AppenderStats
}

// AppenderStats is what has become of the records for one appender: a
// consistent cut. At every moment
//
//	Wanted == Written + Lost + Waiting
//
// and all but Waiting never go down.
type AppenderStats struct {
	Name    string
	Wanted  uint64 // records of its level, handed to Handle since it was added
	Written uint64 // its handler returned nil
	Lost    uint64 // dropped, refused or failed; Sub says which
	Waiting uint64 // in its queue, or being written
	Sub     herald.SubStats
}

// Stats returns what has been logged, and what has become of it in each
// appender, in the order in which they were added.
func (h *Handler) Stats() Stats {
	c := h.core
	var s Stats
	for _, a := range *c.appenders.Load() {
		s.Appenders = append(s.Appenders, a.stats())
	}
	s.Late = c.late.Load()
	s.Logged = s.Late + c.topic.Stats().Published
	return s
}

func (a *appender) stats() AppenderStats {
	s := a.sub.Stats()
	return AppenderStats{
		Name:    a.name,
		Wanted:  s.Offered - s.Filtered,
		Written: s.Delivered,
		Lost:    lostOf(s),
		Waiting: waiting(s),
		Sub:     s,
	}
}

func lostOf(s herald.SubStats) uint64 { return s.Dropped + s.Refused + s.Dead + s.Discarded }

func waiting(s herald.SubStats) uint64 { return s.Queued + s.Delayed + s.InFlight }

// isOver reports whether a subscription has come to its end.
func isOver(s herald.SubStats) bool { return s.Closed && waiting(s) == 0 }
