package herald_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/heraldbus/herald"
)

// BenchmarkRetained asks what a publish to a topic with a log costs, and whether that depends on how many cursors there are.
func BenchmarkRetained(b *testing.B) {
	for _, n := range []int{1, 100, 10_000} {
		b.Run("cursors="+strconv.Itoa(n), func(b *testing.B) {
			topic := newLog[[64]byte](b, herald.Retention{Count: 1 << 16})
			for i := range n {
				subscribe(b, topic, strconv.Itoa(i))
			}
			ctx := context.Background()
			b.ReportAllocs()
			for b.Loop() {
				if err := topic.Publish(ctx, [64]byte{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCursor asks what it costs to read a message from a log and handle it.
func BenchmarkCursor(b *testing.B) {
	topic := newLog[[64]byte](b, herald.Retention{Count: 1 << 16})
	s := subscribe(b, topic, "s")
	ctx := context.Background()
	vs := make([][64]byte, 1024)
	b.ReportAllocs()
	left := 0
	for b.Loop() {
		if left == 0 {
			if _, err := topic.PublishBatch(ctx, vs); err != nil {
				b.Fatal(err)
			}
			left = len(vs)
		}
		if ok, err := s.Step(ctx, ignore); !ok || err != nil {
			b.Fatal(ok, err)
		}
		left--
	}
}
