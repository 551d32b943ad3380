package herald

import "context"

// step is Step without its type. stopped tells policy.Stop(nil) from success.
func (c *core) step(ctx context.Context, call calls) (ok, stopped bool, err error) {
	if ctx.Err() != nil {
		return false, false, context.Cause(ctx)
	}
	w := newWorker(ctx, c, call)
	if err := c.attach(steps, w); err != nil {
		return false, false, c.fail("step", err)
	}
	defer c.part()
	it, err := w.glance()
	if err != nil {
		return false, false, c.fail("step", err)
	}
	if it == nil {
		return false, false, nil
	}
	err = w.attempt(ctx, it)
	return true, w.stopped, err
}

// glance returns the next message to handle, or nil: it doesn't wait.
// What it returns an error for is a gap in the log.
func (w *worker) glance() (*item, error) {
	c := w.core
	c.mu.Lock()
	for {
		if k := c.poll(); !k.none() {
			c.unlock()
			c.tend(k)
		} else if !c.hungry() {
			break
		} else if gap := c.feed(); gap != nil {
			return nil, gap
		}
		c.mu.Lock()
	}
	it := c.pick()
	if it == nil {
		c.trim()
	}
	c.unlock()
	return it, nil
}

// attempt handles one message on the caller's goroutine and returns what
// Step does.
func (w *worker) attempt(ctx context.Context, it *item) (err error) {
	defer func() {
		if w.cur == nil {
			return
		}
		if w.core.cfg.crash && !goexiting() {
			w.abandon()
			return
		}
		failed := attemptError(recover())
		err = w.verdict(ctx, w.broken(), failed)
	}()
	w.cur = it
	err = w.call.item(w.contextFor(&it.Meta), w)
	w.cur = nil
	return w.verdict(ctx, it, err)
}

func (w *worker) verdict(ctx context.Context, it *item, failed error) error {
	stop, cause := w.core.settle(ctx, it, failed)
	switch {
	case stop:
		w.stopped = true
		return cause
	case failed != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return nil
}
