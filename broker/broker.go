package broker

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/heraldbus/herald/internal/pattern"
)

// A Broker holds topics by name and subscriptions by name. Its zero value is
// ready to use and has the default limits. All functions and methods may be
// called by any goroutine, also from inside handlers, filters and policies. A
// Broker must not be copied after first use.
type Broker struct {
	cfg    config // never written after New
	dead   DeadLetters
	byName sync.Map    // name → *topic; so that Publish takes no lock. Changed under mu
	closed atomic.Bool // set under mu

	mu       sync.Mutex // protects all below; for the order of locks see the package's comment
	made     uint64     // topics and members so far
	topics   pattern.Trie[*topic]
	patterns pattern.Trie[*member] // those that were made by Match and Handle, and are open
	members  map[subscription]*member
	names    map[string]*member // open ones
	listed   []*member          // all members in order of their making, never written; nil: to be made
	tidyAt   int                // number of members at which to tidy
	shift    *shift             // the Run or RunUntilIdle under way; nil: none
}

// New makes a broker. A bad option is an error that wraps
// [herald.ErrOption].
func New(opts ...Option) (*Broker, error) {
	b := new(Broker)
	for _, o := range opts {
		if o.apply == nil {
			return nil, fail("new broker", "", "", errZeroOption)
		}
		if err := o.apply(&b.cfg); err != nil {
			return nil, fail("new broker", "", "", err)
		}
	}
	b.dead.capacity = b.cfg.deadLetters
	return b, nil
}

func (b *Broker) log() *slog.Logger {
	if b.cfg.log != nil {
		return b.cfg.log
	}
	return slog.Default()
}

// warn logs. A panic of the user's slog.Handler goes no further.
func (b *Broker) warn(msg string, attrs ...slog.Attr) {
	defer func() { _ = recover() }()
	b.log().LogAttrs(context.Background(), slog.LevelWarn, "herald: "+msg, attrs...)
}

// nextNumberLocked numbers topics and members in order of their making.
func (b *Broker) nextNumberLocked() uint64 {
	b.made++
	return b.made
}
