package herald_test

import (
	"context"
	"sync"
	"testing"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// BenchmarkPublish asks what one message costs from Publish until it's
// handled, beside BenchmarkChannel: a raw channel of the same capacity and size. What is in
// the queue at the end isn't counted, with either.
func BenchmarkPublish(b *testing.B) {
	topic, sub := benchTopic(b)
	ctx := context.Background()
	var done sync.WaitGroup
	done.Go(func() {
		if err := sub.Run(ctx, ignore); err != nil {
			b.Error(err)
		}
	})
	b.ReportAllocs()
	for b.Loop() {
		if err := topic.Publish(ctx, [64]byte{}); err != nil {
			b.Fatal(err)
		}
	}
	if err := topic.Close(); err != nil {
		b.Fatal(err)
	}
	done.Wait()
}

// BenchmarkChannel is the yardstick of BenchmarkPublish.
func BenchmarkChannel(b *testing.B) {
	c := make(chan [64]byte, 1024)
	var done sync.WaitGroup
	done.Go(func() {
		for range c {
		}
	})
	b.ReportAllocs()
	for b.Loop() {
		c <- [64]byte{}
	}
	close(c)
	done.Wait()
}

// BenchmarkDispatch asks what is left of that without another goroutine:
// a publish, and the Step that handles it.
func BenchmarkDispatch(b *testing.B) {
	topic, sub := benchTopic(b)
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if err := topic.Publish(ctx, [64]byte{}); err != nil {
			b.Fatal(err)
		}
		if ok, err := sub.Step(ctx, ignore); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

func benchTopic(b *testing.B) (*herald.Topic[[64]byte], *herald.Subscription[[64]byte]) {
	b.Helper()
	topic, err := herald.NewTopic[[64]byte]("bench", herald.WithoutTime())
	if err != nil {
		b.Fatal(err)
	}
	sub, err := topic.Subscribe("only", herald.WithOverflow(policy.Block(0)))
	if err != nil {
		b.Fatal(err)
	}
	return topic, sub
}

func ignore(context.Context, herald.Message[[64]byte]) error { return nil }
