package herald_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// What becomes of a message that meets a full queue: each subscription decides for itself.
func ExampleWithOverflow() {
	ctx := context.Background()
	for _, o := range []policy.Overflow{
		policy.Reject(),     // the publisher learns of it
		policy.DropNewest(), // the incoming message is dropped
		policy.DropOldest(), // the one that waits longest is
		policy.Disconnect(), // the subscription is
		policy.Block(time.Millisecond).Else(policy.DropOldest()), // the publisher waits for room, but not for ever
	} {
		var topic herald.Topic[string]
		sub, _ := topic.Subscribe("sub", herald.WithCapacity(1), herald.WithOverflow(o))
		topic.Publish(ctx, "first")
		err := topic.Publish(ctx, "second")
		topic.Close()
		fmt.Printf("%v: error %v, left", o, err != nil)
		sub.Run(ctx, func(_ context.Context, m herald.Message[string]) error {
			fmt.Println("", m.Payload)
			return nil
		})
	}
	// Output:
	// reject: error true, left first
	// drop-newest: error false, left first
	// drop-oldest: error false, left second
	// disconnect: error true, left first
	// block(1ms).else(drop-oldest): error false, left second
}

// A failed attempt is tried again as the policy says. Nothing overtakes the message meanwhile.
func ExampleWithRetry() {
	ctx := context.Background()
	var topic herald.Topic[string]
	sub, _ := topic.Subscribe("sub", herald.WithRetry(policy.Exponential{Attempts: 5, Base: time.Microsecond}))
	topic.PublishBatch(ctx, []string{"flaky", "next"})
	topic.Close()

	sub.Run(ctx, func(_ context.Context, m herald.Message[string]) error {
		fmt.Println(m.Payload, "attempt", m.Attempt)
		if m.Payload == "flaky" && m.Attempt < 3 {
			return errors.New("not yet")
		}
		return nil
	})
	// Output:
	// flaky attempt 1
	// flaky attempt 2
	// flaky attempt 3
	// next attempt 1
}

// A handler that knows better than the retry policy returns a verdict.
func ExampleHandler_verdicts() {
	ctx := context.Background()
	var topic herald.Topic[string]
	sub, _ := topic.
		DeadLetterTo(func(d herald.DeadLetter[string]) error { fmt.Println(d.Payload, "is dead:", d.Reason); return nil }).
		Subscribe("sub")
	topic.PublishBatch(ctx, []string{"malformed", "throttled", "poweroff", "last"})
	topic.Close()

	handle := func(_ context.Context, m herald.Message[string]) error {
		switch {
		case m.Payload == "malformed":
			return policy.Permanent(errors.New("no JSON"))
		case m.Payload == "throttled" && m.Attempt == 1:
			return policy.RetryAfter(time.Millisecond, errors.New("try later"))
		case m.Payload == "poweroff":
			return policy.Stop(errors.New("going down"))
		}
		fmt.Println(m.Payload, "handled at attempt", m.Attempt)
		return nil
	}
	fmt.Println(sub.Run(ctx, handle))
	fmt.Println(sub.Stats().Queued, "left") // poweroff is in its place
	// Output:
	// malformed is dead: permanent
	// throttled handled at attempt 2
	// going down
	// 2 left
}

// A Publish that not all subscriptions accepted says which, and why. All others did.
func ExamplePublishError() {
	ctx := context.Background()
	orders, _ := herald.NewTopic[int]("orders")
	orders.Subscribe("billing")
	orders.Subscribe("audit", herald.WithCapacity(1), herald.WithOverflow(policy.Reject()))
	orders.Publish(ctx, 1)

	err := orders.Publish(ctx, 2)
	fmt.Println(err)
	if refused, ok := errors.AsType[*herald.PublishError](err); ok {
		for _, r := range refused.Refused {
			fmt.Println(r.Subscription, errors.Is(r.Err, herald.ErrFull))
		}
	}
	// Output:
	// publish orders: message 2 refused by audit (herald: queue full)
	// audit true
}

// Drain closes the topic and waits, for as long as its context allows.
func ExampleTopic_Drain() {
	orders, _ := herald.NewTopic[int]("orders")
	sub, _ := orders.Subscribe("billing")
	orders.Publish(context.Background(), 1)

	soon, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	err := orders.Drain(soon) // nobody consumes
	if left, ok := errors.AsType[*herald.DrainError](err); ok {
		fmt.Println(left.Left[0].Name, "has", left.Left[0].Queued, "queued")
	}

	go sub.Run(context.Background(), func(context.Context, herald.Message[int]) error { return nil })
	fmt.Println(orders.Drain(context.Background()))
	// Output:
	// billing has 1 queued
	// <nil>
}

// Stats are a consistent cut: every accepted message is exactly somewhere.
func ExampleSubscription_Stats() {
	ctx := context.Background()
	var topic herald.Topic[int]
	sub, _ := topic.Subscribe("sub", herald.WithCapacity(3), herald.WithOverflow(policy.DropOldest()))
	topic.PublishBatch(ctx, []int{1, 2, 3, 4})
	topic.Publish(ctx, 5, herald.WithDelay(time.Hour))
	sub.Step(ctx, func(context.Context, herald.Message[int]) error { return nil })

	s := sub.Stats()
	fmt.Println("accepted", s.Accepted)
	fmt.Println("delivered", s.Delivered, "dropped", s.DroppedBy.Oldest, "queued", s.Queued, "delayed", s.Delayed)
	// Output:
	// accepted 5
	// delivered 1 dropped 2 queued 1 delayed 1
}

// A paused subscription goes on accepting messages and hands none out.
func ExampleSubscription_Pause() {
	ctx := context.Background()
	var topic herald.Topic[int]
	sub, _ := topic.Subscribe("sub")
	sub.Pause()
	topic.Publish(ctx, 1)

	done := func(context.Context, herald.Message[int]) error { return nil }
	ok, _ := sub.Step(ctx, done)
	fmt.Println("paused:", ok, sub.Stats().Queued)
	sub.Resume()
	ok, _ = sub.Step(ctx, done)
	fmt.Println("resumed:", ok, sub.Stats().Queued)
	// Output:
	// paused: false 1
	// resumed: true 0
}

// Middleware wraps every attempt. It knows everything about a message but its payload, so one serves all topics.
func ExampleWithMiddleware() {
	ctx := context.Background()
	trace := func(name string) herald.Middleware {
		return func(next herald.Next) herald.Next {
			return func(ctx context.Context, m herald.Meta) error {
				fmt.Println(name, "before", m.Topic(), m.Seq)
				err := next(ctx, m)
				fmt.Println(name, "after", err)
				return err
			}
		}
	}
	orders, _ := herald.NewTopic[string]("orders")
	sub, _ := orders.Subscribe("sub", herald.WithMiddleware(trace("outer"), trace("inner")))
	orders.Publish(ctx, "hello")
	sub.Step(ctx, func(_ context.Context, m herald.Message[string]) error {
		fmt.Println(m.Payload)
		return nil
	})
	// Output:
	// outer before orders 1
	// inner before orders 1
	// hello
	// inner after <nil>
	// outer after <nil>
}

// Where only the newest value of a key counts, it replaces the one that waits, in its place.
func ExampleWithLatest() {
	ctx := context.Background()
	var prices herald.Topic[int]
	screen, _ := prices.Subscribe("screen", herald.WithLatest())
	prices.Publish(ctx, 100, herald.WithKey("ACME"))
	prices.Publish(ctx, 7, herald.WithKey("ZORG"))
	prices.Publish(ctx, 101, herald.WithKey("ACME"))
	prices.Close()

	screen.Run(ctx, func(_ context.Context, m herald.Message[int]) error {
		fmt.Println(m.Key, m.Payload)
		return nil
	})
	fmt.Println("superseded", screen.Stats().DroppedBy.Superseded)
	// Output:
	// ACME 101
	// ZORG 7
	// superseded 1
}

// A handler sees the values of the publisher's context, such as a trace, and never its deadline or end.
func ExampleWithPublisherValues() {
	type traceKey struct{}
	orders, _ := herald.NewTopic[int]("orders", herald.WithPublisherValues())
	sub, _ := orders.Subscribe("billing")

	request, end := context.WithCancel(context.WithValue(context.Background(), traceKey{}, "trace-7"))
	orders.Publish(request, 42)
	end() // the request is over before the order is billed

	sub.Step(context.Background(), func(ctx context.Context, m herald.Message[int]) error {
		fmt.Println(m.Payload, ctx.Value(traceKey{}), ctx.Err())
		return nil
	})
	// Output: 42 trace-7 <nil>
}
