package broker_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/broker"
	"github.com/heraldbus/herald/policy"
)

type Order struct {
	ID    int
	Total int
}

func (o Order) String() string { return fmt.Sprintf("order %d", o.ID) }

type Parcel struct{ To string }

func (p Parcel) String() string { return "parcel to " + p.To }

// printing returns a handler that prints what it gets.
func printing[V any](name string) herald.Handler[V] {
	return func(_ context.Context, m herald.Message[V]) error {
		fmt.Println(name, "got", m.Payload, "from", m.Topic())
		return nil
	}
}

func Example() {
	ctx := context.Background()
	var b broker.Broker // the zero value works
	orders, err := broker.Topic[Order](&b, "orders.eu")
	if err != nil {
		fmt.Println(err)
		return
	}
	err = broker.Handle(&b, "orders.*", "billing", func(_ context.Context, m herald.Message[Order]) error {
		fmt.Println("charged", m.Payload.Total)
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ended := make(chan error)
	go func() { ended <- b.Run(ctx) }()
	orders.Publish(ctx, Order{ID: 42, Total: 100})
	fmt.Println("drain:", b.Drain(ctx)) // close, and wait until all is handled
	fmt.Println("run:", <-ended)
	// Output:
	// charged 100
	// drain: <nil>
	// run: <nil>
}

// A broker with limits of its own.
func ExampleNew() {
	b, err := broker.New(
		broker.WithTopicLimit(1),
		broker.WithPatternLimit(100),
		broker.WithDeadLetterCapacity(1000),
		broker.WithLogger(slog.New(slog.NewTextHandler(os.Stderr, nil))),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = broker.Topic[Order](b, "orders")
	fmt.Println(err)
	_, err = broker.Topic[Parcel](b, "parcels")
	fmt.Println(err, errors.Is(err, herald.ErrLimit))
	// Output:
	// <nil>
	// topic parcels: herald: limit reached: 1 topics true
}

// A topic is made at the first use of its name, and has one type.
func ExampleTopic() {
	var b broker.Broker
	first, _ := broker.Topic[Order](&b, "orders", herald.WithDefaultTTL(time.Hour))
	again, _ := broker.Topic[Order](&b, "orders")
	fmt.Println(first == again)
	_, err := broker.Topic[Parcel](&b, "orders")
	if wrong, ok := errors.AsType[*broker.TypeError](err); ok {
		fmt.Println(wrong)
	}
	// Output:
	// true
	// values are of type broker_test.Order, not broker_test.Parcel
}

// Lookup makes no topic.
func ExampleLookup() {
	var b broker.Broker
	_, err := broker.Lookup[Order](&b, "orders")
	fmt.Println(err, errors.Is(err, broker.ErrNotFound))
	// Output: lookup orders: herald: not found true
}

// Who doesn't have the topic publishes by its name.
func ExamplePublish() {
	ctx := context.Background()
	var b broker.Broker
	broker.Topic[Order](&b, "orders")
	broker.Handle(&b, "orders", "print", printing[Order]("print"))
	fmt.Println(broker.Publish(ctx, &b, "orders", Order{ID: 1}, herald.WithKey("customer 7")))
	fmt.Println(broker.Publish(ctx, &b, "order", Order{ID: 2}))
	b.RunUntilIdle(ctx)
	// Output:
	// <nil>
	// publish order: herald: not found
	// print got order 1 from orders
}

// Match is a view of all topics that match, those to come included, so it can
// be filtered and keyed like any other. Here the type is an interface, which
// the values of both topics implement.
func ExampleMatch() {
	ctx := context.Background()
	var b broker.Broker
	orders, _ := broker.Topic[Order](&b, "shop.orders")
	everything, err := broker.Match[fmt.Stringer](&b, "shop.>").
		Filter(func(m herald.Message[fmt.Stringer]) bool { return m.Payload.String() != "order 0" }).
		Subscribe("audit")
	if err != nil {
		fmt.Println(err)
		return
	}
	parcels, _ := broker.Topic[Parcel](&b, "shop.parcels.eu")
	orders.Publish(ctx, Order{ID: 0})
	orders.Publish(ctx, Order{ID: 1})
	parcels.Publish(ctx, Parcel{To: "Oslo"})
	b.Close() // so that the loop ends
	for d := range everything.Messages(ctx) {
		fmt.Println(d.Topic(), d.Payload)
		d.Ack()
	}
	// Output:
	// shop.orders order 1
	// shop.parcels.eu parcel to Oslo
}

// Two handlers, of which one listens to a topic and one to a pattern.
func ExampleHandle() {
	ctx := context.Background()
	var b broker.Broker
	broker.Handle(&b, "shop.orders", "billing", printing[Order]("billing"), herald.WithRetry(policy.Never()))
	broker.Handle(&b, "shop.*", "audit", printing[any]("audit"))
	orders, _ := broker.Topic[Order](&b, "shop.orders")
	parcels, _ := broker.Topic[Parcel](&b, "shop.parcels")
	orders.Publish(ctx, Order{ID: 1})
	parcels.Publish(ctx, Parcel{To: "Oslo"})
	fmt.Println(b.RunUntilIdle(ctx))
	// Output:
	// billing got order 1 from shop.orders
	// audit got order 1 from shop.orders
	// audit got parcel to Oslo from shop.parcels
	// 3 <nil>
}

// A view made into a subscription by hand, to be handled by the broker.
func ExampleAttach() {
	ctx := context.Background()
	var b broker.Broker
	orders, _ := broker.Topic[Order](&b, "orders")
	large, err := orders.
		Filter(func(m herald.Message[Order]) bool { return m.Payload.Total > 1000 }).
		Subscribe("fraud")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(broker.Attach(&b, large, printing[Order]("fraud")))
	orders.Publish(ctx, Order{ID: 1, Total: 10})
	orders.Publish(ctx, Order{ID: 2, Total: 5000})
	b.RunUntilIdle(ctx)
	// Output:
	// <nil>
	// fraud got order 2 from orders
}

// A handler that can't go on stops the broker; its message keeps its place.
func ExampleBroker_Run() {
	ctx := context.Background()
	var b broker.Broker
	broken := true
	broker.Handle(&b, "orders", "billing", func(_ context.Context, m herald.Message[Order]) error {
		if broken {
			return policy.Stop(errors.New("no licence"))
		}
		fmt.Println("charged", m.Payload)
		return nil
	})
	orders, _ := broker.Topic[Order](&b, "orders")
	orders.Publish(ctx, Order{ID: 1})
	fmt.Println(b.Run(ctx))
	broken = false
	b.Close()
	fmt.Println(b.Run(ctx))
	// Output:
	// no licence
	// charged order 1
	// <nil>
}

// In a test all is handled on the test's own goroutine, in a fixed order.
// Retries are waited for.
func ExampleBroker_RunUntilIdle() {
	ctx := context.Background()
	var b broker.Broker
	parcels, _ := broker.Topic[Parcel](&b, "parcels")
	broker.Handle(&b, "orders", "ship", func(ctx context.Context, m herald.Message[Order]) error {
		fmt.Println("attempt", m.Attempt)
		if m.Attempt == 1 {
			return errors.New("no driver")
		}
		return parcels.Publish(ctx, Parcel{To: "Oslo"})
	}, herald.WithRetry(policy.Schedule{time.Millisecond}))
	broker.Handle(&b, "parcels", "track", printing[Parcel]("track"))
	orders, _ := broker.Topic[Order](&b, "orders")
	orders.Publish(ctx, Order{ID: 1})
	handled, err := b.RunUntilIdle(ctx)
	fmt.Println(handled, err)
	// Output:
	// attempt 1
	// attempt 2
	// track got parcel to Oslo from parcels
	// 3 <nil>
}

// A Drain that runs out of time says what is left, and where.
func ExampleBroker_Drain() {
	var b broker.Broker
	broker.Match[Order](&b, "orders").Subscribe("nobody reads this")
	orders, _ := broker.Topic[Order](&b, "orders")
	orders.Publish(context.Background(), Order{ID: 1})
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	err := b.Drain(ctx)
	if e, ok := errors.AsType[*herald.DrainError](err); ok {
		for _, s := range e.Left {
			fmt.Println(s.Name, s.Queued)
		}
	}
	// Output: nobody reads this 1
}

// Delete ends a topic, Unsubscribe a subscription; their names are free again.
func ExampleBroker_Delete() {
	ctx := context.Background()
	var b broker.Broker
	broker.Topic[Order](&b, "shop")
	broker.Handle(&b, ">", "old", printing[any]("old"))
	broker.Handle(&b, ">", "audit", printing[any]("audit"))
	fmt.Println(b.Delete("shop"), b.Unsubscribe("old"))
	shop, _ := broker.Topic[Parcel](&b, "shop") // of another type
	shop.Publish(ctx, Parcel{To: "Oslo"})
	b.RunUntilIdle(ctx)
	for s := range b.Subscriptions() {
		fmt.Println(s.Name, "delivered", s.Delivered)
	}
	for t := range b.Topics() {
		fmt.Println(t.Name, "published", t.Published)
	}
	// Output:
	// <nil> <nil>
	// audit got parcel to Oslo from shop
	// audit delivered 1
	// shop published 1
}

// What could not be delivered, of all topics, is looked at in one place and
// sent back once the cause is gone.
func ExampleBroker_DeadLetters() {
	ctx := context.Background()
	var b broker.Broker
	up := false
	handler := func(_ context.Context, m herald.Message[any]) error {
		if !up {
			return policy.Permanent(errors.New("connection refused"))
		}
		fmt.Println("stored", m.Payload)
		return nil
	}
	broker.Handle(&b, "*", "store", handler)
	orders, _ := broker.Topic[Order](&b, "orders")
	parcels, _ := broker.Topic[Parcel](&b, "parcels")
	orders.Publish(ctx, Order{ID: 1})
	parcels.Publish(ctx, Parcel{To: "Oslo"})
	b.RunUntilIdle(ctx)

	dead := b.DeadLetters()
	for l := range dead.All() {
		fmt.Println(l.Topic(), l.Subscription, l.Reason, l.Err, l.Payload)
	}
	up = true
	fmt.Println(dead.Purge(func(l broker.Letter) bool { return l.Topic() == "parcels" }))
	fmt.Println(dead.Replay(ctx, func(l broker.Letter) bool { return l.Reason == herald.Permanent }))
	b.RunUntilIdle(ctx)
	// Output:
	// orders store permanent connection refused order 1
	// parcels store permanent connection refused parcel to Oslo
	// 1
	// 1 <nil>
	// stored order 1
}

// Where the type is known, the letters have it.
func ExampleDeadLettersOf() {
	ctx := context.Background()
	var b broker.Broker
	broker.Handle(&b, "orders", "billing", func(context.Context, herald.Message[Order]) error {
		return policy.Permanent(errors.New("card declined"))
	})
	orders, _ := broker.Topic[Order](&b, "orders")
	orders.Publish(ctx, Order{ID: 1, Total: 100})
	b.RunUntilIdle(ctx)
	for d := range broker.DeadLettersOf[Order](&b) {
		fmt.Println(d.Payload.Total, d.Err)
	}
	// Output: 100 card declined
}
