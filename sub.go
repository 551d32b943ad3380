package herald

import (
	"context"
	"fmt"

	"github.com/heraldbus/herald/policy"
)

// A Handler handles one message. Its error, if any, is a failed attempt: the
// retry policy says whether there will be another. policy.Permanent,
// policy.RetryAfter and policy.Stop are verdicts that say so themselves. A
// panic, and a call of runtime.Goexit, are failed attempts as well.
//
// ctx is the context of the consumer that called the handler. It must be
// used for what the handler publishes: it's by ctx that a deadlock is found.
type Handler[T any] func(ctx context.Context, m Message[T]) error

// A Subscription holds the messages of one consumer in a bounded priority
// queue. There are three ways to consume it, of which one can be in use at a
// time, else it's [ErrBusy]: [Subscription.Run] pushes messages to a handler, [Subscription.Step]
// handles one on the caller's goroutine, and [Subscription.Receive] and
// [Subscription.Messages] hand them out on lease.
//
// A message is handled when it's the one with the highest priority of those
// ready, and of these the first accepted. With concurrency 1, the default,
// handlers never overlap and the end of one is synchronized before the start
// of the next.
//
// All methods may be called by any goroutine, also from inside handlers,
// filters and policies.
type Subscription[T any] struct {
	core core
	lane plainLane[T]
	view View[T]
	home *home[T]
	next Next // the middleware around the handler; nil: none
}

// Name returns the subscription's name.
func (s *Subscription[T]) Name() string { return s.core.name }

// Run hands messages to h until the subscription is closed and quiet: it
// then returns nil, or [ErrDisconnected] if it was policy.Disconnect that
// closed it. When ctx ends, Run returns its cause once running handlers have
// returned; an attempt that fails after that does not count, and its message
// is back in its place. When a handler returns policy.Stop(err), Run returns err.
// It may be called again in each case.
//
// Run itself is the dispatcher: with concurrency 1 handlers run on the
// goroutine that calls it, else on as many goroutines of an errgroup, which
// have ended when Run returns. A nil ctx or h is an error.
func (s *Subscription[T]) Run(ctx context.Context, h Handler[T]) error {
	if err := s.core.checkCall("run", ctx, h == nil); err != nil {
		return err
	}
	return s.core.run(ctx, s.caller(h))
}

// Step handles the next message on the caller's goroutine, if one is ready:
// ok reports whether. It never waits. Its error is the cause of ctx, [ErrBusy], or
// that of policy.Stop; the handler's own is the retry policy's business. A
// message that failed stays in flight until its next attempt is due. After
// policy.Stop(nil) it's (true, nil) with the message back in its place. Step is
// for tests and for programs that schedule themselves.
func (s *Subscription[T]) Step(ctx context.Context, h Handler[T]) (ok bool, err error) {
	if err := s.core.checkCall("step", ctx, h == nil); err != nil {
		return false, err
	}
	ok, _, err = s.core.step(ctx, s.caller(h))
	return ok, err
}

// Pause stops messages from being handed out, until Resume. Handlers under
// way finish; time goes on, so messages expire and delays pass; publishes are
// accepted as ever. Close does not lift it.
func (s *Subscription[T]) Pause() {
	s.core.mu.Lock()
	defer s.core.unlock()
	s.core.paused = true
}

// Resume ends Pause.
func (s *Subscription[T]) Resume() {
	s.core.mu.Lock()
	s.core.paused = false
	s.core.unlock()
	stalls.check()
}

// WaitIdle waits until the subscription is quiet: nothing queued, delayed or
// in flight. It returns nil at a moment at which it was, or the cause of ctx.
// With the context of a handler of this subscription it's [ErrDeadlock].
func (s *Subscription[T]) WaitIdle(ctx context.Context) error {
	if err := s.core.checkCall("wait idle", ctx, false); err != nil {
		return err
	}
	if err := s.core.checkOwn(ctx); err != nil {
		return s.core.fail("wait idle", err)
	}
	return s.core.waitQuiet(ctx)
}

// Stats returns a consistent cut of the subscription's accounts. Messages
// whose time is up have met their end in it.
func (s *Subscription[T]) Stats() SubStats { return s.core.stats() }

// Close detaches the subscription from its topic: no publish that begins
// after Close has returned is offered to it, and publishers that wait for
// room in it are released. What is queued is still delivered, if somebody
// consumes it; Discard drops it. Close doesn't wait for handlers, and returns nil
// however often it's called.
func (s *Subscription[T]) Close() error {
	if s.core.owner == nil {
		return s.core.fail("close", errZeroSubscription)
	}
	s.detach()
	s.close()
	return nil
}

// Drain is Close, then WaitIdle: when ctx ends before all is delivered, it
// returns a [*DrainError] that says what is left, and may be called again.
func (s *Subscription[T]) Drain(ctx context.Context) error {
	if err := s.core.checkCall("drain", ctx, false); err != nil {
		return err
	}
	s.Close()
	if err := s.core.checkOwn(ctx); err != nil {
		return s.core.fail("drain", err)
	}
	return drainAll(ctx, []*core{&s.core})
}

// Discard drops what is queued or delayed, counted as Discarded, and returns
// how many that were. What is in flight stays.
func (s *Subscription[T]) Discard() int {
	if s.core.owner == nil {
		return 0
	}
	return s.core.discard()
}

// close is Close for a subscription that its topic has forgotten already.
func (s *Subscription[T]) close() {
	s.home.sub.Store(nil)
	s.core.mu.Lock()
	a := s.core.close()
	s.core.unlock()
	a.answered()
}

// The owner's part, see there.

func (s *Subscription[T]) detach() {
	s.home.sub.Store(nil)
	s.view.source.Remove(s)
}

func (s *Subscription[T]) forget() {
	if h, ok := s.view.source.(*hub[T]); ok {
		h.forget(&s.core)
	}
}

// A node is the typed form of an item.
type node[T any] struct {
	item
	payload T
}

func (n *node[T]) clear() { n.payload = *new(T) }

func (n *node[T]) take(from payload) { n.payload = from.(*node[T]).payload }

func (n *node[T]) message() Message[T] { return Message[T]{n.Meta, n.payload} }

func (s *Subscription[T]) newItem() *item {
	n := new(node[T])
	n.node = n
	n.pos.Owner = &n.item
	return &n.item
}

func nodeOf[T any](it *item) *node[T] { return it.node.(*node[T]) }

func (s *Subscription[T]) put(it *item, r Reason, err error) error {
	d := DeadLetter[T]{
		Message:      nodeOf[T](it).message(),
		Subscription: s.core.name,
		Reason:       r,
		Err:          err,
		At:           it.rare.origin.start.at(clock()),
		ticket:       &ticket[T]{home: s.home},
	}
	switch {
	case r == Expired:
		d.At = it.Meta.Expires()
	case it.over != 0:
		d.At = it.rare.origin.start.at(it.over)
	}
	return s.view.put(d)
}

// checkPlan says what is wrong with the overflow policy.
func (c *core) checkPlan() error {
	for a := c.plan; ; {
		if a.Kind() == policy.KindDeadLetter && !c.hasStore {
			return fmt.Errorf("%w: policy.DeadLetter without DeadLetterTo", ErrOption)
		}
		then, ok := a.Then()
		if !ok {
			return nil
		}
		a = then
	}
}
