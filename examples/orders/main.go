// Command orders is a shop's day on an event bus: every order is published
// once, and billing, shipping, audit, fraud detection and a telemetry
// dashboard each get it in their own way.
//
//	go run ./examples/orders
//
// shop.go makes the topic and its subscriptions, and is the file to read
// first; each department's handler is in the file of its name.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"

	"golang.org/x/sync/errgroup"
)

func main() {
	log.SetFlags(0)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		log.Fatal("orders: ", err)
	}
}

// run opens the shop for a day and writes what happened to out. The day is
// one more member of the group that consumes: whatever fails first cancels
// all the others, and when run returns, all that it started has ended.
func run(ctx context.Context, out io.Writer) error {
	s, err := openShop()
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return day(ctx, g, s, &report{out: out}) })
	return g.Wait()
}

// day is the plot. What the departments do meanwhile they do concurrently,
// so they only note it down; the report prints their notes once they're idle,
// and always in the same order.
func day(ctx context.Context, g *errgroup.Group, s *shop, r *report) error {
	orders := todaysOrders()
	if err := s.publish(ctx, orders); err != nil {
		return err
	}
	r.published(orders, s)

	s.start(ctx, g)
	if err := s.waitIdle(ctx); err != nil {
		return err
	}
	r.packed(&s.shipping)
	r.billed(&s.billing)
	r.watched(&s.fraud, &s.audit)

	if err := s.telemetry.redraw(ctx); err != nil {
		return err
	}
	r.sampled(&s.telemetry)
	r.died(s.dead)

	if err := s.fixAndReplay(ctx); err != nil {
		return err
	}
	r.replayed(&s.billing, s.dead)

	if err := s.orders.Drain(ctx); err != nil {
		return err
	}
	r.drained(s)
	return r.err
}
