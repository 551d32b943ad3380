package dlq_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/dlq"
	"github.com/heraldbus/herald/policy"
)

var errDown = errors.New("connection refused")

// A database is down, and up again later: what failed meanwhile is sent back.
func ExampleQueue_Replay() {
	ctx := context.Background()
	dead := dlq.New[string](1000)
	var orders herald.Topic[string]
	store, err := orders.DeadLetterTo(dead.Put).Subscribe("store", herald.WithRetry(policy.Never()))
	if err != nil {
		fmt.Println(err)
		return
	}

	up := false
	handle := func(_ context.Context, m herald.Message[string]) error {
		if !up {
			return errDown
		}
		fmt.Println("stored", m.Payload)
		return nil
	}
	orders.Publish(ctx, "order 1")
	orders.Publish(ctx, "order 2")
	store.Step(ctx, handle) // in a program it's go store.Run(ctx, handle)
	store.Step(ctx, handle)
	for d := range dead.All() {
		fmt.Printf("%s: %v: %v\n", d.Payload, d.Reason, d.Err)
	}

	up = true
	n, err := dead.Replay(ctx, nil)
	fmt.Println("replayed", n, err)
	store.Step(ctx, handle)
	store.Step(ctx, handle)
	// Output:
	// order 1: retries exhausted: connection refused
	// order 2: retries exhausted: connection refused
	// replayed 2 <nil>
	// stored order 1
	// stored order 2
}

// Only what found the queue full goes back; what the handler rejected stays
// for somebody to look at.
func ExampleQueue_Replay_reason() {
	ctx := context.Background()
	dead := dlq.New[string](1000)
	var orders herald.Topic[string]
	check, err := orders.DeadLetterTo(dead.Put).Subscribe("check", herald.WithCapacity(1))
	if err != nil {
		fmt.Println(err)
		return
	}
	orders.Publish(ctx, "no address")
	orders.Publish(ctx, "one too many")
	check.Step(ctx, func(context.Context, herald.Message[string]) error {
		return policy.Permanent(errors.New("rejected"))
	})

	n, err := dead.Replay(ctx, func(d herald.DeadLetter[string]) bool { return d.Reason == herald.Overflow })
	fmt.Println("replayed", n, err)
	for d := range dead.All() {
		fmt.Println("left:", d.Payload)
	}
	// Output:
	// replayed 1 <nil>
	// left: no address
}

// Throw away what nobody will repair.
func ExampleQueue_Purge() {
	ctx := context.Background()
	dead := dlq.New[string](1000)
	var orders herald.Topic[string]
	check, err := orders.DeadLetterTo(dead.Put).Subscribe("check", herald.WithRetry(policy.Never()))
	if err != nil {
		fmt.Println(err)
		return
	}
	orders.Publish(ctx, "garbage")
	orders.Publish(ctx, "order 1")
	for range 2 {
		check.Step(ctx, func(_ context.Context, m herald.Message[string]) error {
			if m.Payload == "garbage" {
				return policy.Permanent(errors.New("can't be parsed"))
			}
			return errDown
		})
	}

	n := dead.Purge(func(d herald.DeadLetter[string]) bool { return !errors.Is(d.Err, errDown) })
	fmt.Println("purged", n, "left", dead.Len())
	// Output:
	// purged 1 left 1
}

// A full queue makes room by letting the oldest letter go, and counts.
func ExampleQueue_Evicted() {
	dead := dlq.New[string](2)
	for _, s := range []string{"first", "second", "third"} {
		dead.Put(herald.DeadLetter[string]{Message: herald.Message[string]{Payload: s}})
	}
	for d := range dead.All() {
		fmt.Println(d.Payload)
	}
	fmt.Println("evicted", dead.Evicted())
	// Output:
	// second
	// third
	// evicted 1
}
