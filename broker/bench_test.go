package broker_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/broker"
	"github.com/heraldbus/herald/policy"
)

// crowdedBroker makes a broker with so many topics, among them one with a
// subscription by pattern, and so many other patterns. None of the others
// matches that topic. The subscription filters all out, so that what is
// measured is the way to it.
func crowdedBroker(b *testing.B, topicCount, patternCount int) (*broker.Broker, *herald.Topic[int]) {
	b.Helper()
	br := newBroker(b, broker.WithTopicLimit(topicCount+1), broker.WithPatternLimit(patternCount+2))
	for i := range patternCount {
		pattern := fmt.Sprintf("region%d.*.>", i%1000)
		match[int](b, br, pattern, fmt.Sprint(i))
	}
	for i := range topicCount - 1 {
		topic[int](b, br, fmt.Sprintf("region.%d.orders", i))
	}
	none := func(herald.Message[int]) bool { return false }
	if _, err := broker.Match[int](br, "hot.*").Filter(none).Subscribe("hot"); err != nil {
		b.Fatal(err)
	}
	return br, topic[int](b, br, "hot.topic")
}

// BenchmarkPublish asks what a publish to one topic costs, on the topic and
// by name, beside so many other topics and patterns.
func BenchmarkPublish(b *testing.B) {
	for _, size := range []struct{ topics, patterns int }{{1, 0}, {1_000, 10_000}, {100_000, 10_000}} {
		br, hot := crowdedBroker(b, size.topics, size.patterns)
		ctx := context.Background()
		b.Run(fmt.Sprintf("topics=%d/patterns=%d/topic", size.topics, size.patterns), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := hot.Publish(ctx, 1); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("topics=%d/patterns=%d/name", size.topics, size.patterns), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := broker.Publish(ctx, br, "hot.topic", 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkMake asks what it costs to make and delete a topic that one
// pattern matches, and a subscription by pattern that matches one topic, beside
// so many others.
func BenchmarkMake(b *testing.B) {
	for _, size := range []struct{ topics, patterns int }{{1, 0}, {1_000, 10_000}, {100_000, 10_000}} {
		br, _ := crowdedBroker(b, size.topics, size.patterns)
		b.Run(fmt.Sprintf("topics=%d/patterns=%d/topic", size.topics, size.patterns), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				topic[int](b, br, "hot.other")
				br.Delete("hot.other")
			}
		})
		b.Run(fmt.Sprintf("topics=%d/patterns=%d/pattern", size.topics, size.patterns), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				match[int](b, br, "hot.*", "other").Close()
			}
		})
	}
}

// BenchmarkMatchMany asks what it costs to make a topic that so many patterns
// match: it should grow with their number, not its square.
func BenchmarkMatchMany(b *testing.B) {
	for _, patterns := range []int{100, 1_000, 10_000} {
		br, err := broker.New()
		if err != nil {
			b.Fatal(err)
		}
		for i := range patterns {
			match[int](b, br, "many.*", fmt.Sprint("s", i))
		}
		b.Run(fmt.Sprintf("patterns=%d", patterns), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := broker.Topic[int](br, "many.one", herald.WithSubscriptionLimit(patterns)); err != nil {
					b.Fatal(err)
				}
				br.Delete("many.one")
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*patterns), "ns/pattern")
		})
	}
}

// BenchmarkRun asks what the broker's Run adds to a message, beside a
// subscription's own Run.
func BenchmarkRun(b *testing.B) {
	block := herald.WithOverflow(policy.Block(0))
	b.Run("broker", func(b *testing.B) {
		br := newBroker(b)
		handle(b, br, "x", "s", ignore[int], block)
		x := topic[int](b, br, "x")
		ended := make(chan error)
		go func() { ended <- br.Run(context.Background()) }()
		b.ReportAllocs()
		for b.Loop() {
			if err := x.Publish(context.Background(), 1); err != nil {
				b.Fatal(err)
			}
		}
		_ = br.Drain(context.Background())
		<-ended
	})
	b.Run("subscription", func(b *testing.B) {
		x, err := herald.NewTopic[int]("x")
		if err != nil {
			b.Fatal(err)
		}
		s, err := x.Subscribe("s", block)
		if err != nil {
			b.Fatal(err)
		}
		ended := make(chan error)
		go func() { ended <- s.Run(context.Background(), ignore) }()
		b.ReportAllocs()
		for b.Loop() {
			if err := x.Publish(context.Background(), 1); err != nil {
				b.Fatal(err)
			}
		}
		_ = x.Drain(context.Background())
		<-ended
	})
}
