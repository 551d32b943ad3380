package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/heraldbus/herald"
)

// A family is a curve: what a delivery costs against one size.
type family struct {
	name  string
	sizes []int
	cost  func(c config, size int) float64 // ns a delivery
	raw   func(c config, size int) float64 // the same of channels; nil: they have no such thing

	values, rawValues []float64 // by size
}

var families = []family{
	{name: "subscriptions", sizes: []int{1, 10, 100, 1000, 10_000}, cost: bySubscriptions, raw: channelsBySubscriptions},
	{name: "topics", sizes: []int{1, 10, 100, 1000, 10_000, 100_000}, cost: byTopics},
	{name: "capacity", sizes: []int{1, 10, 100, 1000, 10_000, 100_000, 1_000_000}, cost: byCapacity, raw: channelsByCapacity},
	{name: "payload bytes", sizes: []int{8, 64, 512, 4096}, cost: byPayload, raw: channelsByPayload},
	{name: "priorities", sizes: []int{1, 2, 3, 4}, cost: byPriorities},
	{name: "keys", sizes: []int{1, 10, 100, 1000, 10_000, 100_000, 1_000_000}, cost: byKeys},
	{name: "delayed messages", sizes: []int{1, 10, 100, 1000, 10_000, 100_000}, cost: byDelayed},
}

func (f *family) measure(c config) {
	own, raw := make([][]float64, len(f.sizes)), make([][]float64, len(f.sizes))
	for range (c.rounds + 1) / 2 { // a curve has neighbours to be compared with
		for i, n := range f.sizes {
			own[i] = append(own[i], f.cost(c, n))
			if f.raw != nil {
				raw[i] = append(raw[i], f.raw(c, n))
			}
		}
	}
	for i := range f.sizes {
		f.values = append(f.values, median(own[i]))
		if f.raw != nil {
			f.rawValues = append(f.rawValues, median(raw[i]))
		}
	}
}

func (f family) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-18s", f.name)
	for i, n := range f.sizes {
		fmt.Fprintf(&b, "  %d: %.0f ns", n, f.values[i])
		if f.raw != nil {
			fmt.Fprintf(&b, " (%.0f)", f.rawValues[i])
		}
	}
	return b.String()
}

// count is about how many messages of 100 ns fit into a slice.
func (c config) count() int { return max(1000, int(c.slice/(100*time.Nanosecond))) }

// each is how many messages that leaves to each of n subscriptions.
func (c config) each(n int) int { return max(20, c.count()/n) }

// untimedTopic is what most families publish to.
func untimedTopic[T any]() *herald.Topic[T] {
	return must(herald.NewTopic[T]("bench", herald.WithoutTime()))
}

// bySubscriptions lets all of them work once before, so that what is measured
// isn't the growing of stacks and queues.
func bySubscriptions(c config, n int) float64 {
	s := newStage(untimedTopic[payload](), n)
	s.publish(c.each(n))
	s.settle()
	return s.lastCost(c.each(n))
}

func channelsBySubscriptions(c config, n int) float64 {
	s := newChannels[payload](n, capacity)
	s.publish(c.each(n))
	s.settle()
	return s.lastCost(c.each(n))
}

func byCapacity(c config, n int) float64 {
	return newStage(untimedTopic[payload](), 1, herald.WithCapacity(n)).lastCost(c.tight(n))
}

func channelsByCapacity(c config, n int) float64 {
	return newChannels[payload](1, n).lastCost(c.tight(n))
}

// tight is fewer messages where nearly every one waits for room.
func (c config) tight(capacity int) int {
	if capacity < 100 {
		return c.count() / 20
	}
	return c.count()
}

func byPayload(c config, n int) float64 {
	switch n {
	case 8:
		return newStage(untimedTopic[[8]byte](), 1).lastCost(c.count() / 2)
	case 64:
		return newStage(untimedTopic[[64]byte](), 1).lastCost(c.count() / 2)
	case 512:
		return newStage(untimedTopic[[512]byte](), 1).lastCost(c.count() / 2)
	}
	return newStage(untimedTopic[[4096]byte](), 1).lastCost(c.count() / 2)
}

func channelsByPayload(c config, n int) float64 {
	switch n {
	case 8:
		return newChannels[[8]byte](1, capacity).lastCost(c.count() / 2)
	case 64:
		return newChannels[[64]byte](1, capacity).lastCost(c.count() / 2)
	case 512:
		return newChannels[[512]byte](1, capacity).lastCost(c.count() / 2)
	}
	return newChannels[[4096]byte](1, capacity).lastCost(c.count() / 2)
}

func byPriorities(c config, n int) float64 {
	w := workload{publishers: 1, subscriptions: 1, priorities: n}
	return system{start: heraldBus}.run(w, c.count()).perMessage()
}

// byKeys has capacity for a message of each key, or nearly.
func byKeys(c config, n int) float64 {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = "key-" + strconv.Itoa(i)
	}
	count, ctx := max(c.count(), n), context.Background()
	s := newStage(untimedTopic[payload](), 1, herald.WithConcurrency(2), herald.WithCapacity(max(capacity, min(n, 100_000))))
	defer s.close()
	return timed(count, func() {
		for i := range count {
			check(s.topic.Publish(ctx, tagged(0, i), herald.WithKey(keys[i%n])))
		}
		s.settle()
	})
}

// byDelayed is what a delayed message costs, accepted and handled by Step,
// where so many wait.
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
