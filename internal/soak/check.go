package main

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/heraldbus/herald"
)

func topicOptions(rng *rand.Rand) []herald.TopicOption {
	opts := []herald.TopicOption{herald.WithLogger(slog.New(slog.DiscardHandler))}
	if rng.IntN(2) == 0 {
		opts = append(opts, herald.WithoutTime())
	}
	return opts
}

// publishOptions are mostly none.
func publishOptions(rng *rand.Rand) []herald.PublishOption {
	switch rng.IntN(24) {
	case 0:
		return []herald.PublishOption{herald.WithPriority(herald.Priority(rng.IntN(4) - 1))}
	case 1:
		return []herald.PublishOption{herald.WithTTL(time.Duration(1 + rng.IntN(1_000_000)))}
	case 2:
		return []herald.PublishOption{herald.WithHeader("round", "soak")}
	}
	return nil
}

// audit checks what is true of accounts at every moment (G4).
func (w *world) audit(s herald.SubStats) {
	if over := s.Queued + s.Delayed; over > uint64(s.Capacity+maxWorkers) {
		w.errs.add("%s: %d wait, of a capacity of %d (G6)", s.Name, over, s.Capacity)
	}
	if s.Accepted != s.Delivered+s.Dead+s.Dropped+s.Discarded+s.Queued+s.Delayed+s.InFlight {
		w.errs.add("%s: accepted is not the sum of its ends: %+v", s.Name, s)
	}
	if s.Offered+s.Replayed != s.Accepted+s.Filtered+s.Refused {
		w.errs.add("%s: offered is not what became of it: %+v", s.Name, s)
	}
}

// settle checks the accounts at the end.
func (w *world) settle() error {
	published := w.topic.Stats().Published
	for _, m := range w.members {
		s := m.sub.Stats()
		w.audit(s)
		switch {
		case s.Queued+s.Delayed+s.InFlight != 0:
			return fmt.Errorf("%s is drained but has %+v", m.name, s)
		case s.Delivered != uint64(m.handled.Load()):
			return fmt.Errorf("%s counts %d deliveries, its handlers %d (%s)", m.name, s.Delivered, m.handled.Load(), m.options)
		case s.Offered > published:
			return fmt.Errorf("%s was offered %d of %d", m.name, s.Offered, published)
		case s.Dead-s.Replayed > uint64(m.dead.Len())+m.dead.Evicted()+s.PutFailed:
			return fmt.Errorf("%s has %d dead, %d replayed, but its store %d and %d evicted (%s)",
				m.name, s.Dead, s.Replayed, m.dead.Len(), m.dead.Evicted(), m.options)
		}
	}
	return nil
}
