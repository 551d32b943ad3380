package queue_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/heraldbus/herald/policy"
	"github.com/heraldbus/herald/queue"
)

// An event is 64 bytes, as in the workloads of bench/.
type event [8]int

var priorities = []policy.Priority{policy.Low, policy.Normal, policy.High, policy.Critical}

// What does a queue cost beside a channel, when nobody waits?
func BenchmarkUncontended(b *testing.B) {
	ctx := context.Background()
	b.Run("channel", func(b *testing.B) {
		b.ReportAllocs()
		c := make(chan event, 1024)
		for b.Loop() {
			c <- event{}
			<-c
		}
	})
	b.Run("queue", func(b *testing.B) {
		b.ReportAllocs()
		q := queue.New[event](1024)
		for b.Loop() {
			q.Push(ctx, event{}, policy.Normal)
			q.Pop(ctx)
		}
	})
	b.Run("queue four priorities", func(b *testing.B) {
		b.ReportAllocs()
		q := queue.New[event](1024)
		for i := 0; b.Loop(); i++ {
			q.Push(ctx, event{}, priorities[i%4])
			q.Pop(ctx)
		}
	})
	b.Run("queue evicting", func(b *testing.B) {
		b.ReportAllocs()
		q := queue.New[event](1024)
		for i := 0; b.Loop(); i++ {
			q.PushEvict(event{}, priorities[i%4])
		}
	})
}

// And from end to end, by producers and capacity? At capacity 1 all wait all the time.
func BenchmarkPipe(b *testing.B) {
	for _, producers := range []int{1, 4} {
		for _, capacity := range []int{1024, 1} {
			b.Run(fmt.Sprintf("producers=%d/capacity=%d/channel", producers, capacity), func(b *testing.B) {
				c := make(chan event, capacity)
				pipe(b, producers, func(int) { c <- event{} }, func() { <-c })
			})
			b.Run(fmt.Sprintf("producers=%d/capacity=%d/queue", producers, capacity), func(b *testing.B) {
				q, ctx := queue.New[event](capacity), context.Background()
				pipe(b, producers, func(int) { q.Push(ctx, event{}, policy.Normal) }, func() { q.Pop(ctx) })
			})
			b.Run(fmt.Sprintf("producers=%d/capacity=%d/queue four priorities", producers, capacity), func(b *testing.B) {
				q, ctx := queue.New[event](capacity), context.Background()
				pipe(b, producers, func(i int) { q.Push(ctx, event{}, priorities[i%4]) }, func() { q.Pop(ctx) })
			})
		}
	}
}

// pipe sends b.N elements from producers to one consumer. It isn't b.Loop,
// as the producers must know beforehand how many there will be.
func pipe(b *testing.B, producers int, send func(i int), receive func()) {
	b.ReportAllocs()
	var wg sync.WaitGroup
	for p := range producers {
		wg.Go(func() {
			for i := p; i < b.N; i += producers {
				send(i)
			}
		})
	}
	for range b.N {
		receive()
	}
	wg.Wait()
}
