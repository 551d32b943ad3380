package main

import (
	"context"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// A stage is a topic and its subscriptions, which run handlers that do
// nothing.
type stage[T any] struct {
	topic *herald.Topic[T]
	subs  []*herald.Subscription[T]
	done  sync.WaitGroup
}

func newStage[T any](topic *herald.Topic[T], subscriptions int, opts ...herald.SubOption) *stage[T] {
	opts = append([]herald.SubOption{herald.WithCapacity(capacity), herald.WithOverflow(policy.Block(0))}, opts...)
	s := &stage[T]{topic: topic}
	for i := range subscriptions {
		sub := must(topic.Subscribe("s"+strconv.Itoa(i), opts...))
		s.subs = append(s.subs, sub)
		s.done.Go(func() {
			check(sub.Run(context.Background(), func(context.Context, herald.Message[T]) error { return nil }))
		})
	}
	return s
}

// publish publishes n zero values.
func (s *stage[T]) publish(n int) {
	ctx, v := context.Background(), *new(T)
	for range n {
		check(s.topic.Publish(ctx, v))
	}
}

// settle returns when all has been handled.
func (s *stage[T]) settle() {
	for _, sub := range s.subs {
		check(sub.WaitIdle(context.Background()))
	}
}

// close returns when all has been handled and no subscription runs any more.
func (s *stage[T]) close() {
	check(s.topic.Close())
	s.done.Wait()
}

// cost is that of a delivery, from the first publish of n messages until all
// has been handled.
func (s *stage[T]) cost(n int) float64 {
	return timed(n*len(s.subs), func() {
		s.publish(n)
		s.settle()
	})
}

// lastCost is cost, and the end of the stage, which isn't measured.
func (s *stage[T]) lastCost(n int) float64 {
	defer s.close()
	return s.cost(n)
}

// channels is the same with raw channels.
type channels[T any] struct {
	cs   []chan T
	done sync.WaitGroup
}

func newChannels[T any](n, capacity int) *channels[T] {
	s := &channels[T]{}
	for range n {
		c := make(chan T, capacity)
		s.cs = append(s.cs, c)
		s.done.Go(func() {
			for range c {
			}
		})
	}
	return s
}

func (s *channels[T]) publish(n int) {
	var v T
	for range n {
		for _, c := range s.cs {
			c <- v
		}
	}
}

func (s *channels[T]) settle() {
	for _, c := range s.cs {
		for len(c) > 0 {
			runtime.Gosched()
		}
	}
}

func (s *channels[T]) lastCost(n int) float64 {
	defer s.close()
	return timed(n*len(s.cs), func() {
		s.publish(n)
		s.settle()
	})
}

func (s *channels[T]) close() {
	for _, c := range s.cs {
		close(c)
	}
	s.done.Wait()
}

// timed returns the time of f, an nth of it in ns.
func timed(n int, f func()) float64 {
	runtime.GC() // of what went before
	begun := time.Now()
	f()
	return float64(time.Since(begun)) / float64(n)
}

// inTurn measures two things; which one comes first depends on the round.
func inTurn(round int, a, b func() float64) (float64, float64) {
	if round%2 == 0 {
		x := a()
		return x, b()
	}
	y := b()
	return a(), y
}
