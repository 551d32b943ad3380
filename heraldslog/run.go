package heraldslog

import (
	"context"
	"errors"
	"sync"

	"github.com/heraldbus/herald"
)

// Run lets the appenders write, each on a goroutine of its own, also those that
// are added meanwhile. It returns nil once the handler is closed and all that was
// logged is written or lost. When ctx ends it returns the cause once the writes
// under way have ended; what waits goes on waiting, for another Run. So to end
// a program use [Handler.Drain], and give Run a context that lives longer than it.
//
// An appender under policy.Disconnect that couldn't keep up ends by itself; Run
// then returns [herald.ErrDisconnected] in the end. When an appender's handler
// returns policy.Stop(err), Run stops all others and returns err. While another
// Run is under way it's [herald.ErrBusy].
func (h *Handler) Run(ctx context.Context) error {
	if err := checkContext("run", ctx); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	c := h.core
	running := make(chan struct{})
	if !c.begin(running) {
		return fail("run", "", herald.ErrBusy)
	}
	defer c.end(running)
	r := &run{core: c}
	r.ctx, r.stop = context.WithCancelCause(ctx)
	defer r.stop(nil)
	r.supervise()
	r.writers.Wait()
	return r.result()
}

func (c *core) begin(running chan struct{}) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running != nil {
		return false
	}
	c.running = running
	return true
}

func (c *core) end(running chan struct{}) {
	c.mu.Lock()
	c.running = nil
	c.mu.Unlock()
	close(running)
}

// A run is a call of Run.
type run struct {
	core    *core
	ctx     context.Context // ends with Run's, or when an appender stops all
	stop    context.CancelCauseFunc
	writers sync.WaitGroup

	mu           sync.Mutex // protects what follows
	disconnected []error
}

// errStopped is the cause of r.ctx when an appender said policy.Stop(err).
type errStopped struct{ err error }

func (e *errStopped) Error() string { return "heraldslog: stopped by an appender" }

// supervise starts a writer for each appender, until there will be no more of
// them or r.ctx ends.
func (r *run) supervise() {
	for started, open := 0, true; open; {
		all, added := r.core.snapshot()
		for _, a := range all[started:] {
			r.writers.Go(func() { r.write(a) })
		}
		started = len(all)
		select {
		case <-r.core.gate.sealed: // no Add is under way
			all, _ = r.core.snapshot()
			open = started < len(all)
		case <-added:
		case <-r.ctx.Done():
			open = false
		}
	}
}

// snapshot returns the appenders there are, and a channel that is closed when
// there's another one.
func (c *core) snapshot() ([]*appender, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return *c.appenders.Load(), c.added
}

// write runs one appender to its end, and draws the conclusion.
func (r *run) write(a *appender) {
	err := a.run(r.ctx)
	switch {
	case errors.Is(err, herald.ErrDisconnected) && isOver(a.sub.Stats()):
		r.mu.Lock()
		r.disconnected = append(r.disconnected, err)
		r.mu.Unlock()
		a.core.report(err)
	case err != nil || !isOver(a.sub.Stats()):
		r.stop(&errStopped{err}) // of no effect where r.ctx has ended
	}
}

// result is what Run returns, when all writers have ended.
func (r *run) result() error {
	if r.ctx.Err() == nil {
		return errors.Join(r.disconnected...)
	}
	cause := context.Cause(r.ctx)
	if stopped, ok := cause.(*errStopped); ok {
		return stopped.err
	}
	return cause
}
