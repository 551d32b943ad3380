package herald

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/heraldbus/herald/internal/lane"
	"github.com/heraldbus/herald/policy"
)

// settle ends the attempt on it, which is running, with the handler's error.
// mu is not held. stop reports that the handler wants its consumer to end,
// with cause. ctx is the consumer's: where it's done, a failed attempt does
// not count.
func (c *core) settle(ctx context.Context, it *item, err error) (stop bool, cause error) {
	if err == nil {
		c.mu.Lock()
		c.delivered(it)
		c.unlock()
		return false, nil
	}
	if ctx.Err() != nil {
		c.giveBack(it)
		return false, nil
	}
	d, failed := c.decide(it, err)
	if failed == nil && d.Stop {
		c.giveBack(it)
		return true, d.Err
	}
	it.err = err
	switch {
	case failed != nil:
		c.bury(it, PolicyFailed, errors.Join(err, failed))
	case d.Permanent:
		c.bury(it, Permanent, err)
	case d.Again:
		c.retry(it, d)
	default:
		c.bury(it, RetriesExhausted, err)
	}
	return false, nil
}

// delivered counts it as delivered. mu is held.
func (c *core) delivered(it *item) {
	c.removeRunning(it)
	c.lane.Done(&it.pos)
	c.counts.delivered++
	c.passed(it)
	c.spare.give(it)
}

// giveBack returns it to its place; the attempt doesn't count.
func (c *core) giveBack(it *item) {
	c.mu.Lock()
	it.Attempt--
	it.lease = 0
	c.removeRunning(it)
	c.lane.Return(&it.pos)
	c.unlock()
}

// decide asks the error for a verdict and then the retry policy.
func (c *core) decide(it *item, err error) (d policy.Decision, failed error) {
	exited := true
	defer func() {
		if exited {
			c.bury(it, PolicyFailed, errors.Join(err, ErrHandlerExited))
		}
	}()
	failed = guard(func() error {
		d = policy.Decide(c.cfg.retry, int(it.Attempt), err)
		return nil
	})
	exited = false
	return d, failed
}

// retry makes it wait for its next attempt.
func (c *core) retry(it *item, d policy.Decision) {
	m, err := it.Meta, it.err
	c.mu.Lock()
	now := clock()
	ended := now
	if it.over != 0 {
		ended, it.over = it.over, 0
	}
	c.counts.retried++
	it.lease = 0
	c.removeRunning(it)
	c.lane.Retry(&it.pos, later(ended, d.Delay), now)
	c.unlock()
	c.logFailure(m, err, d.Delay)
}

// bury ends it, which is running or has just left the lane, as dead: it
// stays in flight until the dead-letter store has it, so that who waits for
// quiet finds it there.
func (c *core) bury(it *item, r Reason, cause error) {
	end := lost // unless Put returns
	defer func() {
		c.mu.Lock()
		if it.pos.State() == lane.Free {
			c.leaving--
		} else {
			c.removeRunning(it)
			c.lane.Done(&it.pos)
		}
		c.counts.dead[r]++
		c.countPut(end)
		c.passed(it)
		c.spare.give(it)
		c.unlock()
	}()
	end, _ = c.put(it, r, cause)
}

// A burial is what became of a dead letter.
type burial uint8

const (
	kept    burial = iota
	noStore        // there's no DeadLetterTo
	lost           // its function failed or panicked
)

// put hands it to the dead-letter store, and logs where nobody keeps it.
func (c *core) put(it *item, r Reason, cause error) (burial, error) {
	if !c.hasStore {
		if r != Overflow {
			c.logDead(it.Meta, r, cause)
		}
		return noStore, nil
	}
	if err := guard(func() error { return c.owner.put(it, r, cause) }); err != nil {
		c.logPutFailure(it.Meta, r, err)
		return lost, err
	}
	return kept, nil
}

// countPut counts a dead letter that the store did not take. mu is held.
func (c *core) countPut(b burial) {
	if b == lost {
		c.counts.putFailed++
	}
}

// guard calls f and turns a panic into a *PanicError. No call into user code
// outside of handlers goes without it. A Goexit in f can't be stopped here;
// it ends the caller's goroutine.
func guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = newPanicError(v)
		}
	}()
	return f()
}

// maxErrorText is how much herald keeps of a stack or logs of an error.
const maxErrorText = 4 << 10

func newPanicError(v any) *PanicError {
	return &PanicError{Value: v, Stack: clip(debug.Stack())}
}

func clip(b []byte) []byte { return b[:min(len(b), maxErrorText):min(len(b), maxErrorText)] }

// errorText is what is logged of an error: at most 4 KiB, even where Error
// panics.
func errorText(err error) (text string) {
	defer func() {
		if v := recover(); v != nil {
			text = fmt.Sprintf("%T, whose Error method panicked", err)
		}
	}()
	if err == nil {
		return ""
	}
	return string(clip([]byte(err.Error())))
}
