package herald

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"
)

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
		if err != nil {
			w.settle(it, err)
			return
		}
		w.owed = it
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
		w.settleOwed()
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
		if c.hungry() {
			if gap := c.feed(); gap != nil {
				c.logGap(gap)
			}
			continue
		}
		found, alarm := c.next(w)
		if found {
			c.unlock()
			return true
		}
		if yields < maxYields {
			c.unlock()
			yields++
			w.readings = 0
			runtime.Gosched()
			continue
		}
		c.rest(&w.sleeper, alarm)
		c.unlock()
		stalls.check()
		w.sleep(w.ctx)
		yields, w.readings = 0, 0
	}
}

// settleOwed counts what work has handled without an error. mu is held.
func (w *worker) settleOwed() {
	if w.walking {
		w.walking = false
		w.core.settleWalk()
	}
	if it := w.owed; it != nil {
		w.owed = nil
		w.core.delivered(it)
	}
}

// next gives w the next message to handle, or batch of them, if there's one;
// else alarm says when to look again (0: when woken).
func (c *core) next(w *worker) (found bool, alarm int64) {
	if w.max > 0 {
		return c.fill(w)
	}
	if c.halted() {
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
	w.cur = c.take(p, w.clock())
	return true, 0
}

// rest puts s to sleep once mu is free, until alarm at the latest (0: as
// long as nothing happens), and lets spare memory go.
func (c *core) rest(s *sleeper, alarm int64) {
	if c.sleepers.n+1 >= len(c.consumer.workers) { // the last one awake
		c.trim()
	}
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
