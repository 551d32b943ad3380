package herald_test

import (
	"context"
	"hash/maphash"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// BenchmarkKeys asks what order by key costs with eight workers, beside what
// people write themselves: one channel and goroutine per hash of the key, of
// the same capacity together. uniform: 1,000 keys, a handler that works for
// about a microsecond. skewed: the same, and every second message has one key. slow: a
// handler that waits 100 µs, and one key of 16 that takes ten times as long.
func BenchmarkKeys(b *testing.B) {
	for _, load := range []struct {
		name string
		key  func(i int) int
		work func(key int)
	}{
		{"uniform", func(i int) int { return i % 1000 }, func(int) { spin(300) }},
		{"skewed", func(i int) int { return i % 2 * (i % 1000) }, func(int) { spin(300) }},
		{"waiting", func(i int) int { return i % 1000 }, func(int) { time.Sleep(100 * time.Microsecond) }},
		{"waiting-skewed", func(i int) int { return i % 4 / 3 * (i % 1000) }, func(int) { time.Sleep(100 * time.Microsecond) }},
		{"slow-key", func(i int) int { return i % 16 }, func(key int) {
			if key == 0 {
				time.Sleep(time.Millisecond)
				return
			}
			time.Sleep(100 * time.Microsecond)
		}},
	} {
		names := make([]string, 1000)
		for i := range names {
			names[i] = "key-" + strconv.Itoa(i)
		}
		b.Run(load.name+"/herald", func(b *testing.B) { heraldKeys(b, names, load.key, load.work) })
		b.Run(load.name+"/lanes", func(b *testing.B) { laneKeys(b, names, load.key, load.work) })
	}
}

const keyWorkers = 8

func heraldKeys(b *testing.B, names []string, key func(int) int, work func(int)) {
	topic, err := herald.NewTopic[int]("bench", herald.WithoutTime())
	if err != nil {
		b.Fatal(err)
	}
	sub, err := topic.KeyBy(func(m herald.Message[int]) string { return names[m.Payload] }).
		Subscribe("workers", herald.WithConcurrency(keyWorkers), herald.WithOverflow(policy.Block(0)))
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	var done sync.WaitGroup
	done.Go(func() {
		err := sub.Run(ctx, func(_ context.Context, m herald.Message[int]) error {
			work(m.Payload)
			return nil
		})
		if err != nil {
			b.Error(err)
		}
	})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := topic.Publish(ctx, key(i)); err != nil {
			b.Fatal(err)
		}
	}
	if err := topic.Close(); err != nil {
		b.Fatal(err)
	}
	done.Wait()
}

func laneKeys(b *testing.B, names []string, key func(int) int, work func(int)) {
	var lanes [keyWorkers]chan int
	var wg sync.WaitGroup
	for i := range lanes {
		lanes[i] = make(chan int, 1024/keyWorkers)
		wg.Go(func() {
			for k := range lanes[i] {
				work(k)
			}
		})
	}
	seed := maphash.MakeSeed()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		k := key(i)
		lanes[maphash.String(seed, names[k])%keyWorkers] <- k
	}
	for _, l := range lanes {
		close(l)
	}
	wg.Wait()
}

var sink int

// spin works without waiting.
func spin(n int) {
	x := 1
	for range n {
		x = x*31 + n
	}
	if x == 0 {
		sink++
	}
}
