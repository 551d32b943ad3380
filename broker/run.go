package broker

import (
	"context"
	"log/slog"
	"maps"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/internal/seam"
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
	r := &run{shift: s, stopped: make(chan struct{}), active: map[*member]context.CancelCauseFunc{}}
	err = r.supervise(ctx)
	_ = r.group.Wait() // dispatchers say what there is to say by stop
	if err == errStop {
		return nil
	}
	return err
}

// A run is a call of Run. Its group has one dispatcher for each subscription.
type run struct {
	*shift
	group   errgroup.Group
	stopped chan struct{} // closed when cause is set

	mu     sync.Mutex                          // protects all below; nothing else is locked while it's held
	active map[*member]context.CancelCauseFunc // dispatchers, and how to cancel them
	cause  error                               // why Run ends early; nil: it doesn't
}

// supervise starts a dispatcher for each handled subscription. It returns
// what Run does, once there's none left nor will be, or all have been told to
// end.
func (r *run) supervise(ctx context.Context) error {
	for {
		fresh, done := r.recruit()
		for _, m := range fresh {
			r.start(ctx, m)
		}
		if n, cause := r.status(); done && n == 0 {
			return cause
		}
		select {
		case <-r.wake:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-r.stopped:
			return r.endAll()
		}
	}
}

func (r *run) start(ctx context.Context, m *member) {
	ctx, cancel := context.WithCancelCause(ctx)
	r.mu.Lock()
	r.active[m] = cancel
	r.mu.Unlock()
	r.group.Go(func() error {
		defer cancel(nil)
		r.dispatch(ctx, m)
		return nil
	})
}

func (r *run) status() (active int, cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.active), r.cause
}

// stop ends the broker's Run. The first cause counts.
func (r *run) stop(cause error) {
	r.mu.Lock()
	first := r.cause == nil
	if first {
		r.cause = cause
	}
	r.mu.Unlock()
	if first {
		close(r.stopped)
	}
}

// endAll tells the dispatchers to end, and returns the cause. Handlers under
// way finish undisturbed; only a dispatcher that hasn't come as far as handling
// anything is cancelled.
func (r *run) endAll() error {
	r.mu.Lock()
	active, cause := maps.Clone(r.active), r.cause
	r.mu.Unlock()
	for m, cancel := range active {
		if !seam.EndRun(m.sub, cause) {
			cancel(cause)
		}
	}
	return cause
}

// dispatch runs one subscription until it's over, or the broker's Run.
func (r *run) dispatch(ctx context.Context, m *member) {
	err := herald.ErrHandlerExited // unless its Run returns: then a handler's Goexit is ending this goroutine
	defer func() {
		r.conclude(ctx, m, err)
		r.mu.Lock()
		delete(r.active, m)
		r.mu.Unlock()
		r.poke()
	}()
	err = m.handler.run(ctx)
}

// conclude draws the conclusion from the end of a subscription's Run: either
// the subscription is over, or the broker's Run is.
func (r *run) conclude(ctx context.Context, m *member, err error) {
	stats := m.sub.Stats()
	over := isOver(stats)
	if over {
		r.broker.forget(m)
	}
	switch exited := err == herald.ErrHandlerExited; {
	case isDisconnected(err):
		r.broker.warn("subscription disconnected, too slow",
			slog.String("topic", stats.Topic), slog.String("subscription", stats.Name))
	case over && (exited || err == nil):
	case exited && ctx.Err() != nil:
		r.stop(context.Cause(ctx))
	case exited:
		r.stop(fail("run", stats.Topic, stats.Name, err)) // it was policy.Stop, of which we don't know the error
	case err == nil:
		r.stop(errStop) // it was policy.Stop(nil)
	default:
		r.stop(err)
	}
}

// isDisconnected reports whether a Run says that policy.Disconnect ended it.
func isDisconnected(err error) bool {
	e, ok := err.(*herald.Error)
	return ok && e.Err == herald.ErrDisconnected
}
