package main

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/middleware"
	"github.com/heraldbus/herald/policy"
)

// A price is what a feature adds to a message when it's on, beside the same
// without it: one publisher, one subscription.
type price struct {
	name    string
	topic   []herald.TopicOption
	sub     []herald.SubOption
	publish []herald.PublishOption
	keyed   bool

	off, on, ratio float64 // ns, ns, and the median of the rounds' on/off
}

func (p price) String() string {
	return fmt.Sprintf("%-28s%8.1f ns off %8.1f ns on   ×%.2f", p.name, p.off, p.on, p.ratio)
}

func pass(next herald.Next) herald.Next { return next }

var untimed = []herald.TopicOption{herald.WithoutTime()}

var prices = []price{
	{name: "nothing (noise)", topic: untimed},
	{name: "time"},
	{name: "publisher's values", topic: []herald.TopicOption{herald.WithoutTime(), herald.WithPublisherValues()}},
	{name: "priority", topic: untimed, publish: []herald.PublishOption{herald.WithPriority(herald.High)}},
	{name: "TTL", topic: untimed, publish: []herald.PublishOption{herald.WithTTL(1 << 40)}},
	{name: "header", topic: untimed, publish: []herald.PublishOption{herald.WithHeader("trace", "1")}},
	{name: "middleware", topic: untimed, sub: []herald.SubOption{herald.WithMiddleware(pass)}},
	{name: "dedupe of 1,024", topic: untimed, sub: []herald.SubOption{herald.WithMiddleware(middleware.Dedupe(1024))}},
	{name: "DropOldest", topic: untimed, sub: []herald.SubOption{herald.WithOverflow(policy.Block(1 << 40).Else(policy.DropOldest()))}},
	{name: "one key of 1,000", topic: untimed, keyed: true},
	{name: "1,000 keys, latest value", topic: untimed, keyed: true, sub: []herald.SubOption{herald.WithLatest()}},
}

func (p *price) measure(c config) {
	plain := price{topic: untimed}
	n := 20_000
	n = max(n, int(float64(n)*float64(c.slice)/(float64(n)*plain.run(n))))
	var off, on, ratio []float64
	for range c.rounds {
		a, b := plain.run(n), p.run(n)
		off, on, ratio = append(off, a), append(on, b), append(ratio, b/a)
	}
	p.off, p.on, p.ratio = median(off), median(on), median(ratio)
}

// run returns ns a message.
func (p *price) run(n int) float64 {
	topic := must(herald.NewTopic[payload]("bench", p.topic...))
	opts := append([]herald.SubOption{herald.WithCapacity(capacity), herald.WithOverflow(policy.Block(0))}, p.sub...)
	sub := must(topic.Subscribe("s", opts...))
	ctx := context.Background()
	var done sync.WaitGroup
	done.Go(func() {
		check(sub.Run(ctx, func(context.Context, herald.Message[payload]) error { return nil }))
	})
	var keys []string
	if p.keyed {
		for i := range 1000 {
			keys = append(keys, "key-"+strconv.Itoa(i))
		}
	}
	return timed(n, func() {
		for i := range n {
			switch {
			case keys != nil:
				check(topic.Publish(ctx, tagged(0, i), herald.WithKey(keys[i%len(keys)])))
			case p.publish == nil:
				check(topic.Publish(ctx, tagged(0, i)))
			default:
				check(topic.Publish(ctx, tagged(0, i), p.publish...))
			}
		}
		check(topic.Close())
		done.Wait()
	})
}
