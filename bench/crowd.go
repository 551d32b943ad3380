package main

import (
	"strconv"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/broker"
)

// A crowd is a broker with many topics, one of which is published to. It's
// measured warm, when nothing is allocated: else what grew with the topics
// would be the garbage collector's work.
type crowd struct {
	*stage[payload]
	broker *broker.Broker // keeps the others alive
}

func newCrowd(topics int) crowd {
	b := must(broker.New(broker.WithTopicLimit(topics)))
	for i := range topics - 1 {
		must(broker.Topic[payload](b, "topic."+strconv.Itoa(i)))
	}
	return crowd{newStage(must(broker.Topic[payload](b, "hot", herald.WithoutTime())), 1), b}
}

// manyTopics compares publishing to one topic of a broker with so many, and
// of one with none else.
func manyTopics(n int) func(*fact, config) {
	return func(f *fact, c config) {
		alone, many := newCrowd(1), newCrowd(n)
		alone.cost(c.count())
		many.cost(c.count())
		var ratios []float64
		for round := range c.rounds {
			a, b := inTurn(round, func() float64 { return alone.cost(c.count()) }, func() float64 { return many.cost(c.count()) })
			ratios = append(ratios, b/a)
		}
		alone.close()
		many.close()
		f.value = median(ratios)
	}
}

func byTopics(c config, n int) float64 {
	w := newCrowd(n)
	w.cost(capacity)
	return w.lastCost(c.count())
}
