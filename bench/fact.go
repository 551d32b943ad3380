package main

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/broker"
	"github.com/heraldbus/herald/policy"
)

// A fact is one figure that is no ratio of throughputs.
type fact struct {
	name      string
	unit      string
	must, aim float64
	procs     int
	value     float64
	note      string
	measure   func(*fact, config)
}

func (f fact) String() string {
	return fmt.Sprintf("%-48s%12.2f %-6s must %s, aim %s  %s", f.name, f.value, f.unit, target(f.must), target(f.aim), f.note)
}

// facts are W4 to W7.
var facts = []fact{
	{name: "W4 ping-pong, ratio of medians", unit: "×", must: 1.2, aim: 1, measure: pingPong},
	{name: "W4 wake-up by a publisher that stays busy", unit: "µs", measure: busyPublisher},
	{name: "W5 subscription running and idle", unit: "B", must: 4096, aim: 3072, measure: memory(true, 0)},
	{name: "W5 the same after 1,000 messages", unit: "B", must: 4096, aim: 3072, measure: memory(true, 1000)},
	{name: "W5 subscription not running", unit: "B", must: 1024, aim: 512, measure: memory(false, 0)},
	{name: "W6 cost at 1,000 topics to cost at 1", unit: "×", must: 1.1, aim: 1, measure: manyTopics(1000)},
	{name: "W6 cost at 100,000 topics to cost at 1", unit: "×", must: 1.1, aim: 1, measure: manyTopics(100_000)},
	{name: "W7 fast one has 300 beside a slow one", unit: "ms", must: 1, aim: .1, measure: slowBesideFast},
}

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

// memory is what one of 10,000 subscriptions owns, stack of its goroutine
// included.
func memory(running bool, messages int) func(*fact, config) {
	return func(f *fact, _ config) {
		const n = 10_000
		topics := make([]*herald.Topic[payload], n)
		for i := range topics {
			topics[i] = must(herald.NewTopic[payload]("t"+strconv.Itoa(i), herald.WithoutTime()))
		}
		ctx, cancel := context.WithCancel(context.Background())
		var done sync.WaitGroup
		goroutines, before := runtime.NumGoroutine(), owned()
		for _, t := range topics {
			sub := must(t.Subscribe("s", herald.WithOverflow(policy.Block(0))))
			if running {
				done.Go(func() {
					_ = sub.Run(ctx, func(context.Context, herald.Message[payload]) error { return nil }) // ends with ctx
				})
			}
			for i := range messages {
				check(t.Publish(ctx, tagged(0, i)))
			}
		}
		if running {
			for _, t := range topics {
				for st := range t.Subscriptions() {
					for st.Delivered < uint64(messages) {
						runtime.Gosched()
						for st = range t.Subscriptions() {
						}
					}
				}
			}
			time.Sleep(50 * time.Millisecond) // all go to sleep
		}
		f.value = float64(owned()-before) / n
		f.note = fmt.Sprintf("%.2f goroutines each", float64(runtime.NumGoroutine()-goroutines)/n)
		cancel()
		done.Wait()
		runtime.KeepAlive(topics)
	}
}

func owned() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// manyTopics compares publishing to one topic of a broker with so many, and
// of one with none else.
func manyTopics(n int) func(*fact, config) {
	return func(f *fact, c config) {
		alone, crowd := hotTopic(1), hotTopic(n)
		var ratios []float64
		for range c.rounds {
			ratios = append(ratios, crowd.time(c.slice)/alone.time(c.slice))
		}
		f.value = median(ratios)
	}
}

// A hot topic is the one of a broker that is published to.
type hot struct {
	broker *broker.Broker
	topic  *herald.Topic[payload]
	sub    *herald.Subscription[payload]
}

func hotTopic(topics int) hot {
	b := must(broker.New(broker.WithTopicLimit(topics + 1)))
	for i := range topics - 1 {
		must(broker.Topic[payload](b, "topic."+strconv.Itoa(i)))
	}
	t := must(broker.Topic[payload](b, "hot", herald.WithoutTime()))
	return hot{b, t, must(t.Subscribe("s", herald.WithOverflow(policy.DropNewest())))}
}

// time is what a publish takes, without a handler.
func (h hot) time(d time.Duration) float64 {
	ctx, n := context.Background(), 0
	begun := time.Now()
	for time.Since(begun) < d {
		for i := range 512 {
			check(h.topic.Publish(ctx, tagged(0, i)))
		}
		n += 512
		h.sub.Discard()
	}
	return float64(time.Since(begun)) / float64(n)
}

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
