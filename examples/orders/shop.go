package main

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/dlq"
	"github.com/heraldbus/herald/policy"
)

// A shop is one topic of orders, the departments that subscribe to it, and
// the dead letters of those whose work can fail.
type shop struct {
	orders *herald.Topic[Order]
	dead   *dlq.Queue[Order]

	billing   billing
	shipping  shipping
	audit     audit
	fraud     fraud
	telemetry telemetry
}

const (
	suspicious  = 1000 * Unit // fraud looks at totals above it
	screenLines = 3           // what telemetry has room for
)

func openShop() (*shop, error) {
	orders, err := herald.NewTopic[Order]("orders")
	if err != nil {
		return nil, err
	}
	s := &shop{
		orders:  orders,
		dead:    dlq.New[Order](100),
		billing: billing{provider: newProvider()},
	}
	return s, s.subscribe()
}

// subscribe is all the wiring there is. No subscription knows of another, and
// what one of them does never holds up the others.
func (s *shop) subscribe() error {
	var errs [5]error

	// A payment provider fails now and then, so a charge is tried three times;
	// what fails for good is kept for a person to look at.
	s.billing.sub, errs[0] = s.orders.DeadLetterTo(s.dead.Put).Subscribe("billing",
		herald.WithRetry(policy.Exponential{Attempts: 3, Base: time.Millisecond}))

	// The defaults: a queue of 1024, one order after the other, express first.
	s.shipping.sub, errs[1] = s.orders.Subscribe("shipping")
	s.audit.sub, errs[2] = s.orders.Subscribe("audit")

	// The filter runs before the queue: what it keeps out takes no room.
	s.fraud.sub, errs[3] = s.orders.
		Filter(func(m herald.Message[Order]) bool { return m.Payload.Total > suspicious }).
		Subscribe("fraud")

	// A dashboard wants what's new. It must never slow down the shop, and may miss things.
	s.telemetry.sub, errs[4] = s.orders.Subscribe("telemetry",
		herald.WithCapacity(screenLines),
		herald.WithOverflow(policy.DropOldest()))

	return errors.Join(errs[:]...)
}

// publish announces orders, express ones with a priority that lets them
// overtake in every queue.
func (s *shop) publish(ctx context.Context, orders []Order) error {
	for _, o := range orders {
		priority := herald.Normal
		if o.Express {
			priority = herald.High
		}
		if err := s.orders.Publish(ctx, o, herald.WithPriority(priority)); err != nil {
			return err
		}
	}
	return nil
}

// start puts the departments to work: a goroutine each, which ends when the
// topic is closed and its queue is empty, or when ctx ends. Telemetry isn't
// among them; see [telemetry.redraw].
func (s *shop) start(ctx context.Context, g *errgroup.Group) {
	g.Go(func() error { return s.billing.sub.Run(ctx, s.billing.charge) })
	g.Go(func() error { return s.shipping.sub.Run(ctx, s.shipping.pack) })
	g.Go(func() error { return s.audit.sub.Run(ctx, s.audit.record) })
	g.Go(func() error { return s.fraud.sub.Run(ctx, s.fraud.inspect) })
}

// waitIdle waits until the departments have nothing left to do. What their
// handlers wrote may be read then.
func (s *shop) waitIdle(ctx context.Context) error {
	for _, sub := range []*herald.Subscription[Order]{
		s.billing.sub, s.shipping.sub, s.audit.sub, s.fraud.sub,
	} {
		if err := sub.WaitIdle(ctx); err != nil {
			return err
		}
	}
	return nil
}

// fixAndReplay mends what made one order fail, and sends back the dead
// letters that died of it. The others stay where they are.
func (s *shop) fixAndReplay(ctx context.Context) error {
	s.billing.provider.renew(oldCard)
	mended := func(d herald.DeadLetter[Order]) bool { return errors.Is(d.Err, errCardExpired) }
	if _, err := s.dead.Replay(ctx, mended); err != nil {
		return err
	}
	return s.billing.sub.WaitIdle(ctx)
}

// stats returns the accounts of all subscriptions, in the order of the report.
func (s *shop) stats() []herald.SubStats {
	return []herald.SubStats{
		s.billing.sub.Stats(), s.shipping.sub.Stats(), s.audit.sub.Stats(), s.fraud.sub.Stats(), s.telemetry.sub.Stats(),
	}
}
