package herald_test

import (
	"context"
	"testing"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// BenchmarkPublish asks what one message costs from Publish to the end of
// its handler, beside a raw channel of the same capacity and size.
func BenchmarkPublish(b *testing.B) {
	topic, err := herald.NewTopic[[64]byte]("bench", herald.WithoutTime())
	if err != nil {
		b.Fatal(err)
	}
	sub, err := topic.Subscribe("only", herald.WithOverflow(policy.Block(0)))
	if err != nil {
		b.Fatal(err)
	}
	ctx := b.Context()
	go sub.Run(ctx, func(context.Context, herald.Message[[64]byte]) error { return nil })
	b.ReportAllocs()
	for b.Loop() {
		_ = topic.Publish(ctx, [64]byte{})
	}
	_ = topic.Drain(ctx)
}

// BenchmarkChannel is the yardstick of BenchmarkPublish.
func BenchmarkChannel(b *testing.B) {
	c, done := make(chan [64]byte, 1024), make(chan struct{})
	go func() {
		for range c {
		}
		close(done)
	}()
	b.ReportAllocs()
	for b.Loop() {
		c <- [64]byte{}
	}
	close(c)
	<-done
}
