package herald

import (
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// A consumer is who takes messages out of a core: nobody, a Run, a Step, or
// calls of Receive and the deliveries they handed out (G13). It's protected
// by the core's mutex.
type consumer struct {
	kind    consumerKind
	ending  bool  // the Run shall end
	cause   error // and this is what it returns
	workers []*worker
	want    int // messages that a RunBatch waits for; 0: no RunBatch
	pulls   int // calls of Receive under way, and deliveries not settled
}

type consumerKind uint8

const (
	nobody consumerKind = iota
	runs
	steps
)

// attach makes ws the consumer, if there's none.
func (c *core) attach(kind consumerKind, ws ...*worker) error {
	c.mu.Lock()
	c.sweep() // a lease that has ended is no consumer
	defer c.unlock()
	if c.consumer.kind != nobody || c.consumer.pulls > 0 {
		return ErrBusy
	}
	c.consumer = consumer{kind: kind, workers: ws}
	if ws[0].max > 0 {
		c.lane.SetWorkers(ws[0].max)
		c.consumer.want = 1
	}
	c.lane.Reattach()
	return nil
}

// part ends what attach began. After a Run, what waits for a retry goes back
// to its place; Steps are many, so there it goes on waiting in flight.
func (c *core) part() {
	c.mu.Lock()
	defer c.unlock()
	if c.consumer.kind == runs {
		c.lane.Suspend()
		c.lane.SetWorkers(c.cfg.concurrency)
	}
	c.consumer = consumer{}
}

// run is Run without its type.
func (c *core) run(ctx context.Context, call calls) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ws := make([]*worker, c.cfg.concurrency)
	for i := range ws {
		ws[i] = newWorker(ctx, c, call)
	}
	if err := c.attach(runs, ws...); err != nil {
		return c.fail("run", err)
	}
	defer c.part() // also when a handler's Goexit ends this goroutine
	if len(ws) == 1 {
		ws[0].serve()
	} else {
		serveAll(ws)
	}
	return c.ended(ctx)
}

func serveAll(ws []*worker) {
	var g errgroup.Group
	for _, w := range ws {
		g.Go(func() error {
			w.serve()
			return nil
		})
	}
	_ = g.Wait() // workers report through the core
}

// ended is what Run returns.
func (c *core) ended(ctx context.Context) error {
	c.mu.Lock()
	defer c.unlock()
	switch {
	case c.consumer.ending:
		return c.consumer.cause
	case !(c.closed && c.isQuiet()):
		return context.Cause(ctx)
	case c.disconnected:
		return c.fail("run", ErrDisconnected)
	}
	return nil
}

// end makes the Run that is the consumer return cause once its handlers have
// returned. The first cause counts.
func (c *core) end(cause error) {
	c.mu.Lock()
	defer c.unlock()
	c.endLocked(cause)
}

func (c *core) endLocked(cause error) {
	if !c.consumer.ending {
		c.consumer.ending, c.consumer.cause = true, cause
	}
}

// serve handles messages until the Run ends. Where a handler's Goexit ends
// this goroutine, it's the one place that sees it for certain: control doesn't
// come back from loop, and no panic is under way.
func (w *worker) serve() {
	back := false
	defer func() {
		if !back && !w.fatal {
			w.relay()
		}
	}()
	for !w.loop() {
	}
	back = true
}

// loop handles messages until the Run ends (true) or a handler panics: there
// is one deferred recover for all messages, not one for each.
func (w *worker) loop() (over bool) {
	defer func() {
		if over {
			return
		}
		if w.core.cfg.crash && !goexiting() {
			w.fatal = true // without recover: the panic goes on
			w.abandon()
			return
		}
		v := recover()
		switch {
		case w.busy():
			w.fail(attemptError(v))
		case v != nil:
			w.fatal = true
			panic(v) // not the handler's: ours
		}
	}()
	for w.await() {
		w.work()
	}
	return true
}

// work handles what await found.
func (w *worker) work() {
	if w.max > 0 {
		w.settleBatch(w.call.batch(w))
		return
	}
	if it := w.cur; it != nil {
		err := w.call.item(w.contextFor(&it.Meta), w)
		w.cur = nil
		w.settle(it, err)
		return
	}
	if err := w.call.walk(w); err != nil {
		w.settle(w.broken(), err)
	}
}

// settle ends the attempt on it, and the Run if the handler says so.
func (w *worker) settle(it *item, err error) {
	if stop, cause := w.core.settle(w.ctx, it, err); stop {
		w.core.end(cause)
	}
}

// relay goes on with the work on another goroutine, as Goexit is ending this
// one. The first to be replaced belongs to the caller of Run, and ends when
// all is done; those that stand in for it end at once, so however many
// handlers exit there are never more than two goroutines.
func (w *worker) relay() {
	first := w.stands == nil
	if first {
		w.stands = make(chan struct{})
	}
	done := w.stands
	go func() {
		w.serve()
		close(done)
	}()
	if first {
		<-done
	}
}

// maxYields is how often a worker with nothing to do lets others run before
// it sleeps.
const maxYields = 4

// await waits until there's a message to handle, which is then w.cur, or for
// w to walk the plain lane. False: the Run is over.
func (w *worker) await() bool {
	c := w.core
	for yields := 0; ; {
		cancelled := w.ctx.Err() != nil
		c.mu.Lock()
		c.sleepers.take(&w.sleeper)
		if w.walking {
			w.walking = false
			c.settleWalk()
		}
		k := c.poll()
		switch {
		case !k.none():
			c.unlock()
			c.tend(k)
			continue
		case c.consumer.ending, cancelled, c.closed && c.isQuiet():
			c.unlock()
			return false
		}
		found, alarm := c.next(w)
		if found {
			c.unlock()
			return true
		}
		if yields < maxYields {
			c.unlock()
			yields++
			runtime.Gosched()
			continue
		}
		c.rest(&w.sleeper, alarm)
		c.unlock()
		stalls.check()
		w.sleep(w.ctx)
		yields = 0
	}
}

// next gives w the next message to handle, or batch of them, if there's one;
// else alarm says when to look again (0: when woken).
func (c *core) next(w *worker) (found bool, alarm int64) {
	if w.max > 0 {
		return c.fill(w)
	}
	if c.paused {
		return false, 0
	}
	p := c.lane.Next()
	if level, ok := c.plainTurn(p); ok {
		w.walking = true
		w.call.begin(w, level)
		return true, 0
	}
	if p == nil {
		return false, 0
	}
	w.cur = c.take(p)
	return true, 0
}

// rest puts s to sleep once mu is free, until alarm at the latest (0: as
// long as nothing happens), and lets spare memory go.
func (c *core) rest(s *sleeper, alarm int64) {
	c.trim()
	if next := c.lane.NextEvent(); alarm == 0 || next != 0 && next < alarm {
		alarm = next
	}
	c.sleepers.add(s, alarm)
}

// trim lets spare memory go, as the consumer has nothing to do.
func (c *core) trim() {
	c.lane.Trim()
	c.spare.trim()
	c.owner.trimPlain()
}

// step is Step without its type.
func (c *core) step(ctx context.Context, call calls) (ok bool, err error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	w := newWorker(ctx, c, call)
	if err := c.attach(steps, w); err != nil {
		return false, c.fail("step", err)
	}
	defer c.part()
	it := w.glance()
	if it == nil {
		return false, nil
	}
	return true, w.attempt(ctx, it)
}

// glance returns the next message to handle, or nil: it doesn't wait.
func (w *worker) glance() *item {
	c := w.core
	c.mu.Lock()
	for k := c.poll(); !k.none(); k = c.poll() {
		c.unlock()
		c.tend(k)
		c.mu.Lock()
	}
	it := c.pick()
	if it == nil {
		c.trim()
	}
	c.unlock()
	return it
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
		return cause
	case failed != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return nil
}

// checkCall says what is wrong with the arguments of a consuming call.
func (c *core) checkCall(op string, ctx context.Context, noHandler bool) error {
	switch {
	case ctx == nil:
		return c.fail(op, fmt.Errorf("%w: nil context", ErrOption))
	case noHandler:
		return c.fail(op, fmt.Errorf("%w: nil handler", ErrOption))
	}
	return nil
}
