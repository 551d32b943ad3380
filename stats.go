package herald

import "time"

// SubStats is what a subscription has done and has to do: a consistent cut,
// taken at one moment. At every moment
//
//	Accepted == Delivered + Dead + Dropped + Discarded + Queued + Delayed + InFlight
//	Offered + Replayed == Accepted + Filtered + Refused
//
// and the counters never go down; Queued, Delayed and InFlight are levels.
type SubStats struct {
	Topic string // empty for a zero topic
	Name  string

	Offered  uint64 // publishes that considered this subscription
	Filtered uint64 // kept out by the filter
	Refused  uint64 // an error for the publisher
	Accepted uint64
	Replayed uint64 // came back from a dead-letter queue, or were read again after a Seek

	Delivered uint64 // handled with success
	Dead      uint64 // see DeadBy
	Dropped   uint64 // see DroppedBy
	Discarded uint64 // by Discard
	Queued    uint64
	Delayed   uint64
	InFlight  uint64

	DeadBy    DeadCounts
	DroppedBy DropCounts
	Retried   uint64 // attempts that failed and were followed, or will be, by another
	PutFailed uint64 // dead letters that DeadLetterTo's function did not take

	// Of a topic with a log: what was published and not committed, the Seq at and
	// below which every message has reached an end, and how many messages were
	// removed before they were read. Offered is what was read.
	Lag       uint64
	Committed uint64
	Trimmed   uint64

	Running  []Running // handlers under way and deliveries on lease, in no order
	Waiting  int       // publishers that wait for room
	Capacity int       // 0: unlimited, as with a log
	Paused   bool
	Closed   bool
}

// DeadCounts splits SubStats.Dead by reason.
type DeadCounts struct{ RetriesExhausted, Overflow, Expired, Permanent, FilterFailed, PolicyFailed uint64 }

// DropCounts splits SubStats.Dropped by reason.
type DropCounts struct {
	Oldest     uint64 // by policy.DropOldest
	Newest     uint64 // by policy.DropNewest
	Superseded uint64 // WithLatest
}

// Running is an attempt under way.
type Running struct {
	Seq     uint64
	Attempt int32
	// Since is when the attempt began. Where a Run works off a long queue it may
	// be when one of the messages began that the same worker handled before, some
	// dozens at the most: the clock isn't read for each of those.
	Since time.Time
}

// TopicStats is what a topic has done. Unlike [SubStats] it's no cut across
// the topic's subscriptions.
type TopicStats struct {
	Name          string // empty for a zero topic
	Published     uint64 // the last Seq given
	Subscriptions int    // open ones
	Closed        bool
}

// counts are the counters of a core. The core's mutex protects them.
type counts struct {
	accepted, refused, replayed   uint64
	filtered                      uint64
	delivered, discarded, retried uint64
	putFailed                     uint64
	dead                          [reasons]uint64
	droppedOldest                 uint64
	droppedNewest                 uint64
	droppedSuperseded             uint64
}

// stats takes the cut, after what has expired by now has met its end.
func (c *core) stats() SubStats {
	c.mu.Lock()
	c.sweep()
	defer c.unlock()
	n, plain := &c.counts, c.plain.cut()
	s := SubStats{
		Topic: c.topic, Name: c.name,
		Filtered: n.filtered, Refused: n.refused, Accepted: n.accepted + c.plain.in, Replayed: n.replayed,
		Delivered: n.delivered + plain.delivered, Discarded: n.discarded,
		Queued:   uint64(c.lane.Queued()) + plain.queued,
		Delayed:  uint64(c.lane.Delayed()),
		InFlight: uint64(c.lane.Running()+c.lane.Parked()) + c.leaving + plain.busy,
		Retried:  n.retried, PutFailed: n.putFailed,
		DeadBy: DeadCounts{
			RetriesExhausted: n.dead[RetriesExhausted],
			Overflow:         n.dead[Overflow],
			Expired:          n.dead[Expired],
			Permanent:        n.dead[Permanent],
			FilterFailed:     n.dead[FilterFailed],
			PolicyFailed:     n.dead[PolicyFailed],
		},
		DroppedBy: DropCounts{Oldest: n.droppedOldest, Newest: n.droppedNewest, Superseded: n.droppedSuperseded},
		Waiting:   c.waiting.n, Capacity: c.cfg.capacity, Paused: c.paused, Closed: c.closed,
	}
	s.Offered = s.Accepted + s.Filtered + s.Refused - s.Replayed
	for _, dead := range n.dead {
		s.Dead += dead
	}
	s.Dropped = n.droppedOldest + n.droppedNewest + n.droppedSuperseded
	s.Running = c.listRunning()
	if c.src != nil {
		s.Capacity = 0
		s.Lag, s.Committed, s.Trimmed = c.src.lag(), c.src.committed, c.src.lost
	}
	return s
}

func (c *core) listRunning() (rs []Running) {
	if c.plain.busy() > 0 {
		rs = append(rs, c.owner.inHand())
	}
	for it := c.running; it != nil; it = it.next {
		rs = append(rs, Running{it.Seq, it.Attempt, c.began.at(it.started)})
	}
	return rs
}

// oldestRunning returns the attempt that has been under way the longest.
func (c *core) oldestRunning() (oldest Running, ok bool) {
	for _, r := range c.listRunning() {
		if !ok || r.Since.Before(oldest.Since) {
			oldest, ok = r, true
		}
	}
	return oldest, ok
}
