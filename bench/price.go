package main

import (
	"context"
	"fmt"

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
	batch   int // 0: one by one

	off, on, ratio float64 // ns, ns, and the median of the rounds' on/off
}

func (p price) String() string {
	return fmt.Sprintf("%-28s%8.1f ns off %8.1f ns on   ×%.2f", p.name, p.off, p.on, p.ratio)
}

func pass(next herald.Next) herald.Next { return next }

// untimed is what all but the time is measured with.
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
	{name: "batches of 16", topic: untimed, batch: 16},
	{name: "one key of 1,000", topic: untimed, keyed: true},
	{name: "1,000 keys, latest value", topic: untimed, keyed: true, sub: []herald.SubOption{herald.WithLatest()}},
}

func (p *price) measure(c config) {
	plain := price{topic: untimed}
	n := 20_000
	n = max(n, int(float64(n)*float64(c.slice)/(float64(n)*plain.run(n))))
	var off, on, ratio []float64
	for round := range c.rounds {
		a, b := inTurn(round, func() float64 { return plain.run(n) }, func() float64 { return p.run(n) })
		off, on, ratio = append(off, a), append(on, b), append(ratio, b/a)
	}
	p.off, p.on, p.ratio = median(off), median(on), median(ratio)
}

// run returns ns a message.
func (p *price) run(n int) float64 {
	s := newStage(must(herald.NewTopic[payload]("bench", p.topic...)), 1, p.sub...)
	defer s.close()
	publish := p.publisher(s.topic)
	return timed(n, func() {
		publish(n)
		s.settle()
	})
}

// publisher is the loop that the feature asks for.
func (p *price) publisher(topic *herald.Topic[payload]) func(n int) {
	switch {
	case p.keyed:
		return func(n int) { publisher(topic, workload{keys: 1000})(0, n) }
	case p.batch > 0:
		return func(n int) { publisher(topic, workload{batch: p.batch})(0, n) }
	case p.publish == nil:
		return func(n int) { publisher(topic, workload{})(0, n) }
	}
	return func(n int) {
		ctx := context.Background()
		for i := range n {
			check(topic.Publish(ctx, tagged(0, i), p.publish...))
		}
	}
}
