package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/heraldbus/herald"
)

// pingPong is the time from a publish to the answer of an idle subscriber's
// handler, beside two channels.
func pingPong(f *fact, c config) {
	const trips = 2000
	var ratios []float64
	for range c.rounds {
		ping, pong := make(chan payload, capacity), make(chan struct{}, 1)
		go func() {
			for range ping {
				pong <- struct{}{}
			}
		}()
		raw := roundTrips(trips, func() { ping <- payload{} }, pong)
		close(ping)

		topic := must(herald.NewTopic[payload]("bench", herald.WithoutTime()))
		sub := must(topic.Subscribe("s"))
		var done sync.WaitGroup
		done.Go(func() {
			check(sub.Run(context.Background(), func(context.Context, herald.Message[payload]) error {
				pong <- struct{}{}
				return nil
			}))
		})
		own := roundTrips(trips, func() { check(topic.Publish(context.Background(), payload{})) }, pong)
		check(topic.Close())
		done.Wait()
		ratios = append(ratios, own/raw)
	}
	f.value = median(ratios)
}

// roundTrips returns the median time from a publish to its pong.
func roundTrips(n int, publish func(), pong <-chan struct{}) float64 {
	var times []float64
	for range n {
		begun := time.Now()
		publish()
		<-pong
		times = append(times, float64(time.Since(begun)))
	}
	return median(times)
}

// busyPublisher is the time from a publish to the handler's start where the
// publisher goes on working. Channels are in the note.
func busyPublisher(f *fact, c config) {
	start := make(chan time.Time, 1)
	topic := must(herald.NewTopic[payload]("bench", herald.WithoutTime()))
	sub := must(topic.Subscribe("s"))
	var done sync.WaitGroup
	done.Go(func() {
		check(sub.Run(context.Background(), func(context.Context, herald.Message[payload]) error {
			start <- time.Now()
			return nil
		}))
	})
	own := busyTimes(c, func() { check(topic.Publish(context.Background(), payload{})) }, start)
	check(topic.Close())
	done.Wait()

	ping := make(chan payload, capacity)
	go func() {
		for range ping {
			start <- time.Now()
		}
	}()
	raw := busyTimes(c, func() { ping <- payload{} }, start)
	close(ping)
	f.value, f.note = own/1e3, fmt.Sprintf("a channel: %.2f µs", raw/1e3)
}

func busyTimes(c config, publish func(), start <-chan time.Time) float64 {
	var times []float64
	for range 20 * c.rounds {
		time.Sleep(time.Millisecond) // the receiver goes to sleep
		begun := time.Now()
		publish()
		for time.Since(begun) < 300*time.Microsecond {
		}
		times = append(times, float64((<-start).Sub(begun)))
	}
	return median(times)
}
