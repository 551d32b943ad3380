package heraldslog

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync/atomic"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// An appender is a subscription that writes records by a slog.Handler.
type appender struct {
	core    *core
	name    string
	level   slog.Leveler // nil: the handler's Enabled decides
	handler slog.Handler
	sub     *herald.Subscription[*entry]
	flushes flushes

	// previous is the Seq of the record that was written last. Where the next
	// one's isn't its successor there may be a loss in between, or a record that
	// wasn't wanted. Atomic only for those who raise the concurrency.
	previous atomic.Uint64
	reported atomic.Uint64 // losses written down so far, or about to be
}

// unsure stands for the previous Seq where the accounts have to be looked at
// in any case. It has no successor.
const unsure = math.MaxUint64

// Add makes h an appender under a name, unique in this handler, that stands in
// errors and [Stats]. It gets the records of that level and above that are
// logged after Add has returned, whatever h.Enabled says; a nil level leaves the
// decision to h.Enabled, which is then asked by those who log, about h as it is,
// not about what its WithAttrs or WithGroup return. Records wait for a [Handler.Run].
//
// opts are those of the appender's subscription. What differs from herald's
// defaults: a full queue drops its oldest (policy.DropOldest), and a record whose
// write failed isn't tried again (policy.Never), since a writer that failed may
// have written half of it. Useful are
//
//	herald.WithCapacity(n)                              // the default is 1024 records
//	herald.WithOverflow(policy.Block(time.Second))      // who logs waits: for an audit log
//	herald.WithRetry(policy.Exponential{})              // where writing twice does no harm
//	herald.WithMaxAge(time.Minute)                      // better nothing than old news
//
// WithConcurrency above 1, and WithRetryAside, give up the order.
//
// The error is that of Subscribe: it wraps ErrName, ErrOption, ErrDuplicate or
// ErrClosed.
func (h *Handler) Add(name string, level slog.Leveler, handler slog.Handler, opts ...herald.SubOption) error {
	c := h.core
	if handler == nil {
		return fail("add", name, fmt.Errorf("%w: nil handler", herald.ErrOption))
	}
	if !c.gate.enter() {
		return fail("add", name, herald.ErrClosed)
	}
	defer c.gate.leave()
	a := &appender{core: c, name: name, level: level, handler: handler}
	sub, err := c.topic.Filter(a.keep).DeadLetterTo(a.bury).Subscribe(name, append([]herald.SubOption{
		herald.WithOverflow(policy.DropOldest()),
		herald.WithRetry(policy.Never()),
	}, opts...)...)
	if err != nil {
		return err
	}
	a.sub = sub
	c.add(a)
	return nil
}

// add makes a known to those who log, and to the Run under way.
func (c *core) add(a *appender) {
	c.mu.Lock()
	added := c.added
	c.added = make(chan struct{})
	all := append(slices.Clone(*c.appenders.Load()), a)
	c.appenders.Store(&all)
	c.mu.Unlock()
	close(added)
}

// keep is the filter of a's subscription.
func (a *appender) keep(m herald.Message[*entry]) bool {
	e := m.Payload
	return a.wants(e.publish.caller, e.record.Level) && !e.cameThrough(a)
}

func (a *appender) wants(ctx context.Context, level slog.Level) bool {
	if a.level != nil {
		return level >= a.level.Level()
	}
	return a.handler.Enabled(ctx, level)
}

// wantsOrPanics is wants for those who can't stand a panic: it's true then, so
// that keep meets it again and herald counts it.
func (a *appender) wantsOrPanics(ctx context.Context, level slog.Level) (yes bool) {
	defer func() {
		if recover() != nil {
			yes = true
		}
	}()
	return a.wants(ctx, level)
}

// run writes records until the appender is closed and quiet, or ctx ends.
func (a *appender) run(ctx context.Context) error {
	defer a.finish(ctx) // also when the handler called runtime.Goexit
	return a.sub.Run(ctx, a.handle)
}

// finish writes down what was lost after the last record.
func (a *appender) finish(ctx context.Context) {
	if ctx.Err() == nil && isOver(a.sub.Stats()) {
		a.reportLost(ctx)
	}
}

// handle writes one record.
func (a *appender) handle(ctx context.Context, m herald.Message[*entry]) error {
	a.flushes.pass(m.Seq)
	sure := true
	if a.previous.Swap(unsure)+1 != m.Seq { // stays unsure unless the record is written
		sure = a.reportLost(ctx)
	}
	e := m.Payload
	h := e.chain.derive(a)
	if err := h.Handle(&appenderContext{ctx, e, a}, e.record.Clone()); err != nil {
		return err
	}
	if sure {
		a.previous.Store(m.Seq)
	}
	return nil
}

// bury is where the records go that could not be written.
func (a *appender) bury(d herald.DeadLetter[*entry]) error {
	err := d.Err
	if err == nil {
		err = fmt.Errorf("record %d", d.Seq)
	}
	a.core.report(fail(d.Reason.String(), a.name, err))
	return nil
}
