package broker

import (
	"fmt"
	"log/slog"

	"github.com/heraldbus/herald"
)

// Defaults, see the table in the package's comment.
const (
	defaultTopics      = 1 << 16
	defaultPatterns    = 1 << 16
	defaultDeadLetters = 10_000
)

// An Option changes what [New] makes.
type Option struct{ apply func(*config) error }

// A config is what options say. In the zero one all is as by default.
type config struct {
	topics, patterns, deadLetters int // 0: the default
	log                           *slog.Logger
}

// WithTopicLimit sets how many topics there may be at a time; one more is
// [herald.ErrLimit]. The default is 65,536.
func WithTopicLimit(n int) Option {
	return Option{func(c *config) error {
		c.topics = n
		return atLeastOne("topic limit", n)
	}}
}

// WithPatternLimit sets how many subscriptions made by [Match] and [Handle]
// there may be at a time, whether or not their pattern has a wildcard; one more
// is [herald.ErrLimit]. The default is 65,536.
func WithPatternLimit(n int) Option {
	return Option{func(c *config) error {
		c.patterns = n
		return atLeastOne("pattern limit", n)
	}}
}

// WithDeadLetterCapacity sets how many dead letters the broker keeps; one
// more lets go of the oldest. The default is 10,000.
func WithDeadLetterCapacity(n int) Option {
	return Option{func(c *config) error {
		c.deadLetters = n
		return atLeastOne("dead-letter capacity", n)
	}}
}

// WithLogger sets where the broker, its topics and its subscriptions log;
// the default is slog.Default at the time that each is made.
func WithLogger(log *slog.Logger) Option {
	return Option{func(c *config) error {
		if log == nil {
			return fmt.Errorf("%w: nil logger", herald.ErrOption)
		}
		c.log = log
		return nil
	}}
}

func atLeastOne(what string, n int) error {
	if n < 1 {
		return fmt.Errorf("%w: %s %d is below 1", herald.ErrOption, what, n)
	}
	return nil
}

// limit returns n, or what holds where nothing was said.
func limit(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}
