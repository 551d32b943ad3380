package broker

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/heraldbus/herald"
)

// Run lets the handlers of [Handle] and [Attach] handle messages, each
// subscription by [herald.Subscription.Run] on goroutines of its own. What is
// subscribed or unsubscribed meanwhile begins or ends at once.
//
// Run returns nil once the broker is closed and all that it handles is
// quiet. When ctx ends it returns its cause; when a handler returns
// policy.Stop(err) it returns err: either way only after all handlers have
// returned, and all that it started has ended. It may be called again then.
//
// While another Run, or a [Broker.RunUntilIdle], is under way it's
// [herald.ErrBusy], and so it is where one of the subscriptions has another
// consumer. A subscription that policy.Disconnect closes ends by itself; the
// broker logs that.
func (b *Broker) Run(ctx context.Context) error {
	s, err := b.begin(ctx, "run")
	if err != nil {
		return err
	}
	defer s.end()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := &run{shift: s, stop: cancel}
	over := r.supervise(ctx)
	cause := context.Cause(ctx)
	_ = r.group.Wait() // dispatchers say what there is to say by stop
	if over || errors.Is(cause, errStop) {
		return nil
	}
	return cause
}

// A run is a call of Run. Its group has one dispatcher for each subscription.
type run struct {
	*shift
	stop   context.CancelCauseFunc // ends it; the first cause counts
	group  errgroup.Group
	active atomic.Int64 // dispatchers
}

// supervise starts a dispatcher for each handled subscription, until there's
// none left nor will be (true), or ctx ends.
func (r *run) supervise(ctx context.Context) (over bool) {
	for ctx.Err() == nil {
		fresh, done := r.recruit()
		r.active.Add(int64(len(fresh)))
		for _, m := range fresh {
			r.group.Go(func() error {
				r.dispatch(ctx, m)
				return nil
			})
		}
		if done && r.active.Load() == 0 {
			return ctx.Err() == nil
		}
		select {
		case <-r.wake:
		case <-ctx.Done():
		}
	}
	return false
}

// dispatch runs one subscription until it's over, or the broker's Run.
func (r *run) dispatch(ctx context.Context, m *member) {
	err := herald.ErrHandlerExited // unless its Run returns: then a handler's Goexit is ending this goroutine
	defer func() {
		r.conclude(m, err)
		r.active.Add(-1)
		r.poke()
	}()
	err = m.handler.run(ctx)
}

// conclude draws the conclusion from the end of a subscription's Run: either
// the subscription is over, or the broker's Run is.
func (r *run) conclude(m *member, err error) {
	stats := m.sub.Stats()
	switch {
	case isDisconnected(err):
		r.broker.warn("subscription disconnected, too slow",
			slog.String("topic", stats.Topic), slog.String("subscription", stats.Name))
		r.broker.forget(m)
	case isOver(stats) && (err == nil || err == herald.ErrHandlerExited):
		r.broker.forget(m)
	case err == nil:
		r.stop(errStop) // it was policy.Stop(nil)
	case err == herald.ErrHandlerExited:
		r.stop(fail("run", stats.Topic, stats.Name, err)) // if it's for another reason than ctx, we can't know
	default:
		r.stop(err)
	}
}

// isDisconnected reports whether a Run says that policy.Disconnect ended it.
func isDisconnected(err error) bool {
	e, ok := err.(*herald.Error)
	return ok && e.Err == herald.ErrDisconnected
}
