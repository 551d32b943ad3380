package herald

import (
	"context"
	"runtime"
	"time"
)

// A worker is one goroutine's turn at handling messages: one of a Run, or
// one Step. It's known to the context of its handlers, so that a publish or
// a Drain can tell from whose handler it comes.
type worker struct {
	sleeper
	core   *core
	parent *worker // whose handler called Run or Step; nil: none
	ctx    context.Context
	call   calls

	cur      *item         // its handler is being called
	owed     *item         // its handler has returned nil; await settles it, to lock once
	now      int64         // a reading of the clock
	readings int           // how often it may serve once more
	stopped  bool          // of a Step: its handler returned policy.Stop
	fatal    bool          // a panic goes on
	batch    []*item       // the messages handed to RunBatch's handler, less those settled
	settled  int           // of the batch
	walking  bool          // the handler of the plain message in hand is being called, or was
	word     uint64        // of the plain lane, as the walk begins
	handler  any           // for the middleware: what it wraps,
	payload  any           // and a pointer to the payload
	stands   chan struct{} // where not nil, this goroutine stands in for one that waits for its closing
	blocked  []*publishing // its waiting publishes; protected by stalls.mu

	// Of a RunBatch:
	max   int           // messages in a batch; 0: no RunBatch
	wait  time.Duration // for a batch to fill
	since int64         // clock when the batch that fills had its first message; 0: none yet
}

// calls are the ways from a worker to the typed handler, or the middleware
// around it.
type calls struct {
	item  func(ctx context.Context, w *worker) error // on w.cur
	begin func(w *worker, level int)                 // takes the first message of a walk
	walk  func(w *worker) error                      // on the plain lane, from there
	batch func(w *worker) error                      // on w.batch
}

func newWorker(ctx context.Context, c *core, call calls) *worker {
	w := &worker{core: c, parent: workerOf(ctx), call: call}
	w.ctx = &workerContext{Context: ctx, worker: w}
	return w
}

// A workerContext is the consumer's context plus the worker's identity: what
// handlers get. It's made once a worker, not once a message.
type workerContext struct {
	context.Context
	worker *worker
}

type workerKey struct{}

func (c *workerContext) Value(key any) any {
	if key == (workerKey{}) {
		return c.worker
	}
	return c.Context.Value(key)
}

// workerOf returns the worker whose handler ctx comes from, or nil.
func workerOf(ctx context.Context) *worker {
	w, _ := ctx.Value(workerKey{}).(*worker)
	return w
}

// within reports whether ctx comes from a handler of c, however deep.
func (c *core) within(ctx context.Context) bool {
	for w := workerOf(ctx); w != nil; w = w.parent {
		if w.core == c {
			return true
		}
	}
	return false
}

// A valuesContext lets a handler's context answer Value with the publisher's
// values, after the consumer's own. Deadline, Done and Err are the consumer's,
// and so is the cause: publisher is made by context.WithoutCancel.
type valuesContext struct {
	context.Context
	publisher context.Context
}

func (c *valuesContext) Value(key any) any {
	if v := c.Context.Value(key); v != nil {
		return v
	}
	return c.publisher.Value(key)
}

// A worker that works off a backlog of side messages looks at the clock, which
// is dearer than all else about a pick, for one of maxReadings.
const (
	backlog     = 64
	maxReadings = 32
)

// clock is the time at which w picks a side message, or picked one of the last
// few if it has a backlog. mu is held.
func (w *worker) clock() int64 {
	if c := w.core; w.readings > 0 && c.lane.Queued() >= backlog {
		w.readings--
		return w.now
	}
	w.now, w.readings = clock(), maxReadings
	return w.now
}

// broken returns the message whose handler ended without returning nil, as a
// running item; nil: it was no handler that did.
func (w *worker) broken() *item {
	it := w.cur
	w.cur = nil
	if w.walking {
		c := w.core
		c.mu.Lock()
		it = c.owner.adopt()
		c.settleWalk()
		w.walking = false
		c.unlock()
	}
	return it
}

// busy reports whether a handler of w is being called.
func (w *worker) busy() bool { return w.cur != nil || w.walking || len(w.batch) > 0 }

// fail settles what w has in hand with err, the error of a handler that
// ended without returning.
func (w *worker) fail(err error) {
	if len(w.batch) > 0 {
		w.settleBatch(err)
		return
	}
	w.settle(w.broken(), err)
}

// abandon gives back what w has in hand, as a panic ends its goroutine.
func (w *worker) abandon() {
	for _, it := range w.batch {
		w.core.giveBack(it)
	}
	w.batch = nil
	if it := w.broken(); it != nil {
		w.core.giveBack(it)
	}
}

// attemptError is the error of an attempt whose handler ended without
// returning; recovered is what recover said.
func attemptError(recovered any) error {
	if recovered == nil {
		return ErrHandlerExited
	}
	return newPanicError(recovered)
}

// goexiting reports whether the deferred function that calls it runs because
// of runtime.Goexit rather than a panic, without recovering from either.
func goexiting() bool {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		switch {
		case f.Function == "runtime.Goexit":
			return true
		case f.Function == "runtime.gopanic", !more:
			return false
		}
	}
}
