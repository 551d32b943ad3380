package herald

import (
	"fmt"
	"time"
)

// Retention says how much a topic's log keeps. What is over any of the limits
// is removed from the front, when something is published or read, or a
// subscription made or moved: there's no goroutine or timer for it. A zero field is no limit, but
// for Count.
type Retention struct {
	Count int           // messages; 0: 1,048,576
	Age   time.Duration // since Publish
	Bytes int64         // see [WithRetain]; the newest message stays whatever its size
}

const (
	defaultRetained = 1 << 20
	maxRetained     = 1 << 30
)

// WithRetain gives the topic a log in memory, which keeps messages also
// when they've been delivered. Its subscriptions are cursors: each reads
// at its own pace from where [WithStart] says, all see one order, and
// publishing costs the same however many there are. A cursor has no capacity
// and no overflow: one that is slower than retention hears of it by [ErrTrimmed].
// Priorities are carried and reorder nothing; [WithDelay] is an error.
//
// Retention.Bytes counts the size of the Message struct, its key and ID, and for
// payloads that are strings or byte slices their contents. What other
// payloads point to isn't counted.
func WithRetain(r Retention) TopicOption {
	return TopicOption{func(c *topicConfig) error {
		if err := r.check(); err != nil {
			return err
		}
		if r.Count == 0 {
			r.Count = defaultRetained
		}
		c.retain = &r
		return nil
	}}
}

func (r Retention) check() error {
	switch {
	case r.Count < 0:
		return fmt.Errorf("%w: retained count %d is negative", ErrOption, r.Count)
	case r.Age < 0:
		return fmt.Errorf("%w: retained age %v is negative", ErrOption, r.Age)
	case r.Bytes < 0:
		return fmt.Errorf("%w: retained bytes %d are negative", ErrOption, r.Bytes)
	}
	return atMost("retained count", r.Count, maxRetained)
}
