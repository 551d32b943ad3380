package herald

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// maxBatch is the most messages that a batch may hold.
const maxBatch = 1 << 16

// A BatchError is how the handler of [Subscription.RunBatch] gives each
// message of the batch an outcome of its own.
type BatchError struct {
	// Errs holds the error of each message by its index in the batch: what a
	// Handler would return for it, verdicts included. nil, as whatever is
	// missing at the end, means handled.
	Errs []error
}

func (e *BatchError) Error() string {
	n := 0
	for _, err := range e.Errs {
		if err != nil {
			n++
		}
	}
	return fmt.Sprintf("%d of the batch failed: %v", n, errors.Join(e.Errs...))
}

func (e *BatchError) Unwrap() []error { return e.Errs }

// RunBatch is Run for handlers that take several messages at a time, such as
// writers to a database. A batch holds at least one message and at most max of
// them (1 to 65,536), in the order in which Run would handle them. It's handed to h when it's
// full, or wait after its first message was there, or when the subscription is closed; a wait of 0 takes what is
// there. There's one batch at a time, on the goroutine that called RunBatch,
// whatever the concurrency.
//
// h's error is the outcome of every message in the batch; with a [*BatchError]
// each has its own. Retries, expiry and dead letters are as always: what failed
// heads the next batch, which waits for it; only with a concurrency above 1
// and a key it steps aside. Messages of one key never share a batch, since each waits for the outcome of the one before it. A panic is
// the outcome of all, as is Goexit. The slice is h's only until h returns.
//
// A subscription with middleware can't RunBatch ([ErrOption]): middleware
// wraps single attempts.
func (s *Subscription[T]) RunBatch(ctx context.Context, max int, wait time.Duration, h func(context.Context, []Message[T]) error) error {
	c := &s.core
	if err := c.checkCall("run batch", ctx, h == nil); err != nil {
		return err
	}
	switch {
	case max < 1 || max > maxBatch:
		return c.fail("run batch", fmt.Errorf("%w: batch of %d, allowed are 1 to %d", ErrOption, max, maxBatch))
	case wait < 0:
		return c.fail("run batch", fmt.Errorf("%w: wait %v is negative", ErrOption, wait))
	case s.next != nil:
		return c.fail("run batch", fmt.Errorf("%w: RunBatch with middleware", ErrOption))
	}
	var ms []Message[T]
	call := func(w *worker) error {
		for _, it := range w.batch {
			ms = append(ms, nodeOf[T](it).message())
		}
		defer func() {
			clear(ms)
			ms = ms[:0]
		}()
		return h(w.ctx, ms)
	}
	return c.runBatch(ctx, max, wait, call)
}

func (c *core) runBatch(ctx context.Context, max int, wait time.Duration, call func(*worker) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	w := newWorker(ctx, c, calls{batch: call})
	w.max, w.wait = max, wait
	if err := c.attach(runs, w); err != nil {
		return c.fail("run batch", err)
	}
	defer c.part()
	w.serve()
	return c.ended(ctx)
}

// fill takes the messages of the next batch, if it's time for it. mu is held.
// While it isn't, the alarm says when to look again; 0: when woken.
func (c *core) fill(w *worker) (full bool, alarm int64) {
	c.consumer.want = 1
	n := c.available()
	if n == 0 {
		w.since = 0
		return false, 0
	}
	if n < w.max && w.wait > 0 && !c.closed {
		now := clock()
		if w.since == 0 {
			w.since = now
		}
		if end := later(w.since, w.wait); now < end {
			c.consumer.want = w.max
			return false, end
		}
	}
	w.since, w.batch, w.settled = 0, nil, 0
	for len(w.batch) < w.max {
		it := c.pick()
		if it == nil {
			break
		}
		w.batch = append(w.batch, it)
	}
	return true, 0
}

// available returns how many messages a batch could hold, about: those
// behind others of their key count too. 0 is exact.
func (c *core) available() int {
	if c.halted() || c.lane.Parked() > c.lane.Resumable() {
		return 0 // what failed is waited for: nothing overtakes it
	}
	if !c.ready() {
		return 0
	}
	n := c.lane.Queued() + c.lane.Resumable()
	if c.plain.on {
		n += int(c.plain.queued())
	}
	return n
}

// settleBatch ends the attempt on all of a batch.
func (w *worker) settleBatch(err error) {
	var each *BatchError
	if failed := guard(func() error { each, _ = errors.AsType[*BatchError](err); return nil }); failed != nil {
		err = failed // the error's own methods panicked
	}
	w.settleEach(err, each)
}

// settleEach ends the attempt on each message of a batch with err, or with
// its own error where the handler gave them apart.
func (w *worker) settleEach(err error, each *BatchError) {
	defer func() {
		if len(w.batch) > 0 { // a policy called Goexit: the rest must not be lost
			w.settleEach(err, each)
		}
	}()
	for len(w.batch) > 0 {
		it, i := w.batch[0], w.settled
		w.batch, w.settled = w.batch[1:], w.settled+1
		switch {
		case each == nil:
			w.settle(it, err)
		case i < len(each.Errs):
			w.settle(it, each.Errs[i])
		default:
			w.settle(it, nil)
		}
	}
}
