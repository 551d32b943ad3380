package herald_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// A topic, a subscription with its dispatcher, a message, and a clean end.
func Example() {
	ctx := context.Background()
	var orders herald.Topic[int] // the zero value works
	billing, err := orders.Subscribe("billing")
	if err != nil {
		log.Fatal(err)
	}
	go billing.Run(ctx, func(_ context.Context, m herald.Message[int]) error {
		fmt.Println("charged order", m.Payload)
		return nil
	})
	if err := orders.Publish(ctx, 42); err != nil {
		log.Fatal(err)
	}
	if err := orders.Drain(ctx); err != nil { // close, and wait until all is delivered
		log.Fatal(err)
	}
	// Output: charged order 42
}

// Run hands messages to a handler, in order, until the subscription is closed and quiet.
func ExampleSubscription_Run() {
	ctx := context.Background()
	var topic herald.Topic[string]
	sub, _ := topic.Subscribe("printer")
	topic.PublishBatch(ctx, []string{"one", "two"})
	topic.Close() // what is queued is still delivered

	total := 0 // handlers don't overlap: no lock needed
	err := sub.Run(ctx, func(_ context.Context, m herald.Message[string]) error {
		total++
		fmt.Println(m.Seq, m.Payload)
		return nil
	})
	fmt.Println("handled", total, "error", err)
	// Output:
	// 1 one
	// 2 two
	// handled 2 error <nil>
}

// Step handles one message on the caller's goroutine and never waits: made for tests.
func ExampleSubscription_Step() {
	ctx := context.Background()
	var topic herald.Topic[string]
	sub, _ := topic.Subscribe("printer")
	topic.Publish(ctx, "hello")

	print := func(_ context.Context, m herald.Message[string]) error {
		fmt.Println(m.Payload)
		return nil
	}
	for range 2 {
		ok, err := sub.Step(ctx, print)
		fmt.Println(ok, err)
	}
	// Output:
	// hello
	// true <nil>
	// false <nil>
}

// Messages lets a plain loop consume. A body that fails says so with Nack; leaving the loop gives the message back.
func ExampleSubscription_Messages() {
	ctx := context.Background()
	var topic herald.Topic[string]
	sub, _ := topic.Subscribe("loop", herald.WithRetry(policy.Schedule{0}))
	topic.PublishBatch(ctx, []string{"good", "flaky"})
	topic.Close()

	for d := range sub.Messages(ctx) {
		if d.Payload == "flaky" && d.Attempt == 1 {
			d.Nack(errors.New("not today"))
			continue
		}
		fmt.Println(d.Payload, "at attempt", d.Attempt)
		d.Ack()
	}
	fmt.Println(errors.Is(sub.Err(), herald.ErrClosed))
	// Output:
	// good at attempt 1
	// flaky at attempt 2
	// true
}

// Receive hands out one message on lease. Who can't handle it after all releases it, at no cost.
func ExampleSubscription_Receive() {
	ctx := context.Background()
	var topic herald.Topic[string]
	sub, _ := topic.Subscribe("worker", herald.WithLease(time.Minute))
	topic.Publish(ctx, "job")

	d, _ := sub.Receive(ctx)
	d.Release()
	d, _ = sub.Receive(ctx)
	d.Extend(time.Hour) // it will take longer
	fmt.Println(d.Payload, "at attempt", d.Attempt)
	fmt.Println(d.Ack())
	fmt.Println(d.Ack())
	// Output:
	// job at attempt 1
	// <nil>
	// ack worker: herald: already settled
}

// A filtered view of a topic. Views are values: each can have any number of subscriptions.
func ExampleTopic_Filter() {
	ctx := context.Background()
	var totals herald.Topic[int]
	large := totals.Filter(func(m herald.Message[int]) bool { return m.Payload > 1000 })
	fraud, _ := large.Subscribe("fraud")
	totals.PublishBatch(ctx, []int{10, 2000, 20, 3000})
	totals.Close()

	fraud.Run(ctx, func(_ context.Context, m herald.Message[int]) error {
		fmt.Println("checked", m.Payload)
		return nil
	})
	fmt.Println("filtered", fraud.Stats().Filtered)
	// Output:
	// checked 2000
	// checked 3000
	// filtered 2
}

// Keys keep order where it matters and let the rest go in parallel.
func ExampleTopic_KeyBy() {
	ctx := context.Background()
	type order struct {
		customer string
		n        int
	}
	var orders herald.Topic[order]
	sub, _ := orders.
		KeyBy(func(m herald.Message[order]) string { return m.Payload.customer }).
		Subscribe("billing", herald.WithConcurrency(8))
	for n := range 3 {
		orders.PublishBatch(ctx, []order{{"ann", n}, {"bob", n}})
	}
	orders.Close()

	bills := map[string]*[]int{"ann": {}, "bob": {}}
	sub.Run(ctx, func(_ context.Context, m herald.Message[order]) error {
		bill := bills[m.Payload.customer] // one handler a customer at a time: no lock needed
		*bill = append(*bill, m.Payload.n)
		return nil
	})
	fmt.Println("ann", *bills["ann"], "bob", *bills["bob"])
	// Output: ann [0 1 2] bob [0 1 2]
}

// What can't be delivered goes to a function of one's own, and can be sent back from there.
func ExampleTopic_DeadLetterTo() {
	ctx := context.Background()
	var topic herald.Topic[string]
	var letters []herald.DeadLetter[string]
	sub, _ := topic.
		DeadLetterTo(func(d herald.DeadLetter[string]) error { letters = append(letters, d); return nil }).
		Subscribe("mailer", herald.WithRetry(policy.Never()))

	up := false
	send := func(_ context.Context, m herald.Message[string]) error {
		if !up {
			return errors.New("server is down")
		}
		fmt.Println("sent", m.Payload, "after", m.Replays(), "replay")
		return nil
	}
	topic.Publish(ctx, "hello")
	sub.Step(ctx, send)
	fmt.Println(letters[0].Payload, "is dead:", letters[0].Reason, "-", letters[0].Err)

	up = true
	fmt.Println(letters[0].Replay(ctx))
	sub.Step(ctx, send)
	// Output:
	// hello is dead: retries exhausted - server is down
	// <nil>
	// sent hello after 1 replay
}

// A message of higher priority overtakes those that wait.
func ExampleWithPriority() {
	ctx := context.Background()
	var topic herald.Topic[string]
	sub, _ := topic.Subscribe("sub")
	topic.Publish(ctx, "report", herald.WithPriority(herald.Low))
	topic.Publish(ctx, "order")
	topic.Publish(ctx, "alarm", herald.WithPriority(herald.Critical))
	topic.Close()

	sub.Run(ctx, func(_ context.Context, m herald.Message[string]) error {
		fmt.Println(m.Priority, m.Payload)
		return nil
	})
	// Output:
	// critical alarm
	// normal order
	// low report
}

// A message isn't handled once its time is up.
func ExampleWithTTL() {
	ctx := context.Background()
	var topic herald.Topic[string]
	sub, _ := topic.
		DeadLetterTo(func(d herald.DeadLetter[string]) error { fmt.Println(d.Payload, d.Reason); return nil }).
		Subscribe("sub")
	topic.Publish(ctx, "stale quote", herald.WithTTL(time.Nanosecond))
	topic.Publish(ctx, "fresh quote", herald.WithTTL(time.Hour))
	topic.Close()

	sub.Run(ctx, func(_ context.Context, m herald.Message[string]) error {
		fmt.Println(m.Payload, "handled")
		return nil
	})
	// Output:
	// stale quote expired
	// fresh quote handled
}

// A delayed message takes its place in line when it's due. Close changes no delay.
func ExampleWithDelay() {
	ctx := context.Background()
	var topic herald.Topic[string]
	sub, _ := topic.Subscribe("sub")
	topic.Publish(ctx, "reminder", herald.WithDelay(10*time.Millisecond))
	topic.Publish(ctx, "order")
	topic.Close()

	sub.Run(ctx, func(_ context.Context, m herald.Message[string]) error {
		fmt.Println(m.Payload)
		return nil
	})
	// Output:
	// order
	// reminder
}
