package herald

import (
	"fmt"
	"time"
)

// A Start is a place in the log of a topic: where a subscription begins to
// read ([WithStart]), or goes on to ([Subscription.Seek]).
type Start struct {
	kind startKind
	seq  uint64
	time time.Time
}

type startKind uint8

const (
	startUnset startKind = iota
	startOldest
	startNewest
	startSeq
	startTime
	startCommitted
)

// Oldest is the first message that is retained.
func Oldest() Start { return Start{kind: startOldest} }

// Newest is behind the last message: only what is published from now on.
func Newest() Start { return Start{kind: startNewest} }

// AtSeq is the message with that Seq. Where it's no longer retained the
// consumer hears of it by [ErrTrimmed]. 0, and what is beyond the next
// message to be published, is an error.
func AtSeq(seq uint64) Start { return Start{kind: startSeq, seq: seq} }

// AtTime is the first retained message published at t or later.
func AtTime(t time.Time) Start { return Start{kind: startTime, time: t} }

// Committed is the first message above [SubStats].Committed. As a start it
// needs a store that keeps what is committed, which memory isn't: there it's
// for Seek alone.
func Committed() Start { return Start{kind: startCommitted} }

// WithStart sets where the subscription of a topic with a log begins to read.
// The default is [Newest]. Without a log it's an error.
func WithStart(at Start) SubOption {
	return SubOption{func(c *subConfig) error {
		if at.kind == startUnset {
			return fmt.Errorf("%w: zero Start", ErrOption)
		}
		c.start = at
		return nil
	}}
}

// checkSource says which options don't suit a subscription with a log, or
// without one.
func (c *subConfig) checkSource(log bool) error {
	switch {
	case !log && c.start.kind != startUnset:
		return fmt.Errorf("%w: WithStart without a log", ErrOption)
	case !log:
		return nil
	case c.sized:
		return fmt.Errorf("%w: WithCapacity, but a log has none", ErrOption)
	case c.overflow != nil:
		return fmt.Errorf("%w: WithOverflow, but a log doesn't overflow", ErrOption)
	case c.latest:
		return fmt.Errorf("%w: WithLatest on a log", ErrOption)
	case c.start.kind == startCommitted:
		return fmt.Errorf("%w: WithStart(Committed()) on a log in memory, which keeps no cursors", ErrOption)
	}
	return nil
}
