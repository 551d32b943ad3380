package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// A family is a curve: what a delivery costs against one size.
type family struct {
	name  string
	sizes []int
	cost  func(c config, size int) float64 // ns a delivery

	values []float64 // by size
}

var families = []family{
	{name: "subscriptions", sizes: []int{1, 10, 100, 1000, 10_000}, cost: bySubscriptions},
	{name: "topics", sizes: []int{1, 10, 100, 1000, 10_000, 100_000}, cost: func(c config, n int) float64 { return hotTopic(n).time(c.slice) }},
	{name: "capacity", sizes: []int{1, 10, 100, 1000, 10_000, 100_000, 1_000_000}, cost: byCapacity},
	{name: "payload bytes", sizes: []int{8, 64, 512, 4096}, cost: byPayload},
	{name: "priorities", sizes: []int{1, 2, 3, 4}, cost: byPriorities},
	{name: "keys", sizes: []int{1, 10, 100, 1000, 10_000, 100_000, 1_000_000}, cost: byKeys},
	{name: "delayed messages", sizes: []int{1, 10, 100, 1000, 10_000, 100_000}, cost: byDelayed},
}

func (f *family) measure(c config) {
	f.values = make([]float64, len(f.sizes))
	costs := make([][]float64, len(f.sizes))
	for range max(1, c.rounds/3) {
		for i, n := range f.sizes {
			costs[i] = append(costs[i], f.cost(c, n))
		}
	}
	for i := range costs {
		f.values[i] = median(costs[i])
	}
}

func (f family) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-18s", f.name)
	for i, n := range f.sizes {
		fmt.Fprintf(&b, "  %d: %.1f ns", n, f.values[i])
	}
	return b.String()
}

// timed returns the time of f, an nth of it in ns.
func timed(n int, f func()) float64 {
	begun := time.Now()
	f()
	return float64(time.Since(begun)) / float64(n)
}

// count is about how many messages of 100 ns fit into a slice.
func (c config) count() int { return max(1000, int(c.slice/(100*time.Nanosecond))) }

func bySubscriptions(c config, n int) float64 {
	w := workload{publishers: 1, subscriptions: n}
	return system{start: heraldBus}.run(w, max(20, c.count()/n)).perMessage()
}

func byPriorities(c config, n int) float64 {
	w := workload{publishers: 1, subscriptions: 1, priorities: n}
	return system{start: heraldBus}.run(w, c.count()).perMessage()
}

func byCapacity(c config, n int) float64 {
	count := c.count()
	if n < 100 {
		count /= 20 // every message, or nearly, waits for room
	}
	return one[payload](count, []herald.SubOption{herald.WithCapacity(n)}, func(t *herald.Topic[payload], i int) error {
		return t.Publish(context.Background(), tagged(0, i))
	})
}

func byKeys(c config, n int) float64 {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = "key-" + strconv.Itoa(i)
	}
	opts := []herald.SubOption{herald.WithConcurrency(2), herald.WithCapacity(max(capacity, min(n, 100_000)))}
	return one[payload](max(c.count(), n), opts, func(t *herald.Topic[payload], i int) error {
		return t.Publish(context.Background(), tagged(0, i), herald.WithKey(keys[i%n]))
	})
}

func byPayload(c config, n int) float64 {
	switch n {
	case 8:
		return ofSize[[8]byte](c)
	case 64:
		return ofSize[[64]byte](c)
	case 512:
		return ofSize[[512]byte](c)
	}
	return ofSize[[4096]byte](c)
}

func ofSize[T any](c config) float64 {
	var v T
	return one[T](c.count()/2, nil, func(t *herald.Topic[T], _ int) error { return t.Publish(context.Background(), v) })
}

// one is the cost of a message, published one by one to one subscription.
func one[T any](n int, opts []herald.SubOption, publish func(t *herald.Topic[T], i int) error) float64 {
	topic := must(herald.NewTopic[T]("bench", herald.WithoutTime()))
	sub := must(topic.Subscribe("s", append([]herald.SubOption{herald.WithOverflow(policy.Block(0))}, opts...)...))
	var done sync.WaitGroup
	done.Go(func() {
		check(sub.Run(context.Background(), func(context.Context, herald.Message[T]) error { return nil }))
	})
	return timed(n, func() {
		for i := range n {
			check(publish(topic, i))
		}
		check(topic.Close())
		done.Wait()
	})
}

// byDelayed is what a delayed message costs, accepted and handled, where so
// many wait.
func byDelayed(c config, n int) float64 {
	topic := must(herald.NewTopic[payload]("bench"))
	sub := must(topic.Subscribe("s", herald.WithCapacity(n+1)))
	ctx := context.Background()
	for i := range n - 1 {
		check(topic.Publish(ctx, tagged(0, i), herald.WithDelay(time.Hour)))
	}
	count := c.count() / 4
	return timed(count, func() {
		for i := range count {
			check(topic.Publish(ctx, tagged(0, i), herald.WithDelay(1)))
			for ok := false; !ok; { // until a nanosecond has passed
				ok = must(sub.Step(ctx, func(context.Context, herald.Message[payload]) error { return nil }))
			}
		}
	})
}
