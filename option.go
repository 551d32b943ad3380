package herald

import (
	"fmt"
	"log/slog"
	"time"
)

// defaultSubscriptionLimit is how many subscriptions a topic takes unless
// [WithSubscriptionLimit] says otherwise.
const defaultSubscriptionLimit = 1 << 16

// A TopicOption changes what [NewTopic] makes.
type TopicOption struct{ apply func(*topicConfig) error }

type topicConfig struct {
	subscriptions int
	ttl           time.Duration
	untimed       bool
	values        bool
	retain        *Retention // nil: no log
	log           *slog.Logger
}

func newTopicConfig(opts []TopicOption) (topicConfig, error) {
	cfg := topicConfig{subscriptions: defaultSubscriptionLimit, log: slog.Default()}
	for _, o := range opts {
		if o.apply == nil {
			return cfg, fmt.Errorf("%w: zero TopicOption", ErrOption)
		}
		if err := o.apply(&cfg); err != nil {
			return cfg, err
		}
	}
	return cfg, nil
}

// WithSubscriptionLimit sets how many subscriptions the topic takes at a
// time; one more is [ErrLimit]. The default is 65,536.
func WithSubscriptionLimit(n int) TopicOption {
	return TopicOption{func(c *topicConfig) error {
		c.subscriptions = n
		return atLeastOne("subscription limit", n)
	}}
}

// WithDefaultTTL gives every message that long to live, unless [WithTTL]
// says otherwise.
func WithDefaultTTL(d time.Duration) TopicOption {
	return TopicOption{func(c *topicConfig) error {
		c.ttl = d
		return positive("default TTL", d)
	}}
}

// WithoutTime spares the reading of the clock at each Publish, where nothing
// else needs it: [Meta.Time] is zero. Expiry, delay and age still work.
func WithoutTime() TopicOption {
	return TopicOption{func(c *topicConfig) error {
		c.untimed = true
		return nil
	}}
}

// WithPublisherValues lets the context of a handler answer Value with the
// publisher's values where Run's context has none, as tracing needs it. The
// publisher's deadline and cancellation never reach the handler. It costs
// two small objects a message, and the publisher's context lives as long as the
// message.
func WithPublisherValues() TopicOption {
	return TopicOption{func(c *topicConfig) error {
		c.values = true
		return nil
	}}
}

// WithLogger sets where the topic and its subscriptions log; the default is
// slog.Default at the time of the topic's creation. What is lost or stuck is
// a warning or an error; a failed attempt that will be retried is at level
// debug. Payloads are never logged.
func WithLogger(log *slog.Logger) TopicOption {
	return TopicOption{func(c *topicConfig) error {
		if log == nil || log.Handler() == nil {
			return fmt.Errorf("%w: nil logger, or a zero one", ErrOption)
		}
		c.log = log
		return nil
	}}
}

func atLeastOne(what string, n int) error {
	if n < 1 {
		return fmt.Errorf("%w: %s %d is below 1", ErrOption, what, n)
	}
	return nil
}

func atMost(what string, n, limit int) error {
	if n > limit {
		return fmt.Errorf("%w: %s %d is above %d", ErrOption, what, n, limit)
	}
	return nil
}

func positive(what string, d time.Duration) error {
	if d <= 0 {
		return fmt.Errorf("%w: %s %v is not positive", ErrOption, what, d)
	}
	return nil
}
