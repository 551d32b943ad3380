package main

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// A footprint is what one of many subscriptions owns: on the heap, and as the
// stack of its goroutine.
type footprint struct {
	running  bool
	capacity int
	messages int // handled before
}

func (p footprint) measure(f *fact, _ config) {
	const n = 10_000
	topics := make([]*herald.Topic[payload], n)
	for i := range topics {
		topics[i] = must(herald.NewTopic[payload]("t"+strconv.Itoa(i), herald.WithoutTime()))
	}
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	goroutines, before := runtime.NumGoroutine(), owned()
	for _, t := range topics {
		sub := must(t.Subscribe("s", herald.WithOverflow(policy.Block(0)), herald.WithCapacity(p.capacity)))
		if p.running {
			done.Go(func() {
				_ = sub.Run(ctx, func(context.Context, herald.Message[payload]) error { return nil }) // ends with ctx
			})
		}
		for i := range p.messages {
			check(t.Publish(ctx, tagged(0, i)))
		}
		if p.messages > 0 {
			check(sub.WaitIdle(ctx))
		}
	}
	time.Sleep(50 * time.Millisecond) // those that run go to sleep
	after := owned()
	heap, stack := float64(after.heap-before.heap)/n, float64(after.stack-before.stack)/n
	f.value = heap + stack
	f.note = fmt.Sprintf("heap %.0f, stack %.0f, %.2f goroutines", heap, stack, float64(runtime.NumGoroutine()-goroutines)/n)
	cancel()
	done.Wait()
	runtime.KeepAlive(topics)
}

type memory struct{ heap, stack int64 }

func owned() memory {
	runtime.GC()
	runtime.GC() // what the first one found is swept
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return memory{int64(m.HeapAlloc), int64(m.StackInuse)}
}
