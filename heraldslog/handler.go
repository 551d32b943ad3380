package heraldslog

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/heraldbus/herald"
)

// topicName is what stands in errors and statistics before the appender's name.
const topicName = "log"

// A Handler is a [slog.Handler] that hands records to its appenders, each on
// a goroutine of its own. Make one with [New]. The handlers that WithAttrs and
// WithGroup return have the same appenders. All methods may be called by any
// goroutine, also from inside appenders, and after Close.
type Handler struct {
	core  *core
	chain *chain // what WithAttrs and WithGroup were called with; nil: nothing
}

// A core is what all handlers that come from one New share.
type core struct {
	topic     *herald.Topic[*entry]
	gate      *gate
	onError   func(error)
	late      atomic.Uint64
	appenders atomic.Pointer[[]*appender] // never nil; the slice is never changed

	mu      sync.Mutex    // protects what follows, and changes of appenders
	added   chan struct{} // closed by the next Add
	running chan struct{} // closed at the end of the Run under way; nil: none
}

// New makes a handler without appenders, which is enabled for no level.
func New(opts ...Option) *Handler {
	topic, err := herald.NewTopic[*entry](topicName,
		herald.WithLogger(slog.New(slog.DiscardHandler)), // it might be us
		herald.WithoutTime())                             // records have their own
	if err != nil {
		panic(err) // name and options are ours
	}
	c := &core{topic: topic, added: make(chan struct{})}
	c.gate = newGate(func() { topic.Close() })
	c.appenders.Store(new([]*appender))
	for _, o := range opts {
		if o.apply != nil {
			o.apply(c)
		}
	}
	return &Handler{core: c}
}

// Enabled reports whether some appender wants records of that level. It costs
// an atomic load, and a comparison for each appender.
func (h *Handler) Enabled(ctx context.Context, level slog.Level) bool {
	if ctx == nil {
		ctx = context.Background()
	}
	for _, a := range *h.core.appenders.Load() {
		if a.wantsOrPanics(ctx, level) {
			return true
		}
	}
	return false
}

// Handle offers a copy of r to every appender that wants its level. It waits
// only for appenders under policy.Block, and then neither beyond Close nor
// because of ctx, whose end means nothing to a log.
//
// Its error, which a [slog.Logger] ignores, is a [*herald.PublishError] that names
// the appenders that refused the record; losses to policy.DropOldest are no
// error. After Close it wraps [herald.ErrClosed].
func (h *Handler) Handle(ctx context.Context, r slog.Record) error {
	c := h.core
	e := c.newEntry(ctx, r, h.chain) // before entering: LogValuers are user code
	if !c.gate.enter() {
		c.late.Add(1)
		return fail("handle", "", herald.ErrClosed)
	}
	defer c.gate.leave()
	err := c.topic.Publish(&e.publish, e)
	if _, offered := err.(*herald.PublishError); err != nil && !offered {
		c.late.Add(1) // closing since we entered
	}
	return err
}

// WithAttrs returns a handler whose records have attrs in front of their own.
// The values of attrs are resolved now.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	if len(attrs) == 0 {
		return h
	}
	return &Handler{h.core, &chain{parent: h.chain, attrs: resolveAttrs(attrs)}}
}

// WithGroup returns a handler that puts all attributes to come into a group.
func (h *Handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	return &Handler{h.core, &chain{parent: h.chain, group: name}}
}

// fail makes an error of this package's; appender may be empty.
func fail(op, appender string, err error) error {
	return &herald.Error{Op: op, Topic: topicName, Subscription: appender, Err: err}
}

// checkContext says in an error which call had no context.
func checkContext(op string, ctx context.Context) error {
	if ctx == nil {
		return fail(op, "", fmt.Errorf("%w: nil context", herald.ErrOption))
	}
	return nil
}
