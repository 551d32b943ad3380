package herald

import (
	"context"
	"fmt"
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

// errZeroSubscription is the error of a Subscription that isn't one.
var errZeroSubscription = fmt.Errorf("%w: a Subscription that Subscribe did not make", ErrOption)

// checkCall says what is wrong with the arguments of a consuming call.
func (c *core) checkCall(op string, ctx context.Context, noHandler bool) error {
	switch {
	case c.owner == nil:
		return c.fail(op, errZeroSubscription)
	case ctx == nil:
		return c.fail(op, fmt.Errorf("%w: nil context", ErrOption))
	case noHandler:
		return c.fail(op, fmt.Errorf("%w: nil handler", ErrOption))
	}
	return nil
}
