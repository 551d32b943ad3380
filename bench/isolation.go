package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// slowBesideFast is when a fast subscription has seen 300 messages, beside
// one that takes a millisecond for each and drops the oldest.
func slowBesideFast(f *fact, c config) {
	var times []float64
	for range c.rounds {
		topic := must(herald.NewTopic[payload]("bench", herald.WithoutTime()))
		slow := must(topic.Subscribe("slow", herald.WithOverflow(policy.DropOldest()), herald.WithCapacity(16)))
		fast := must(topic.Subscribe("fast", herald.WithOverflow(policy.Block(0))))
		ctx, cancel := context.WithCancel(context.Background())
		var done sync.WaitGroup
		done.Go(func() {
			_ = slow.Run(ctx, func(context.Context, herald.Message[payload]) error { // ends with ctx
				time.Sleep(time.Millisecond)
				return nil
			})
		})
		seen, all := 0, make(chan struct{})
		done.Go(func() {
			_ = fast.Run(ctx, func(context.Context, herald.Message[payload]) error { // ends with ctx
				if seen++; seen == 300 {
					close(all)
				}
				return nil
			})
		})
		time.Sleep(time.Millisecond) // both sleep
		begun := time.Now()
		for i := range 300 {
			check(topic.Publish(ctx, tagged(0, i)))
		}
		<-all
		times = append(times, float64(time.Since(begun))/1e6)
		cancel()
		done.Wait()
		if s := slow.Stats(); s.Accepted != s.Delivered+s.Dropped+s.Queued || s.Offered != 300 {
			f.note = fmt.Sprintf("accounts wrong: %+v", s)
		}
	}
	f.value = median(times)
}
