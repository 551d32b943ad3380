package queue_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/heraldbus/herald/policy"
	"github.com/heraldbus/herald/queue"
)

func Example() {
	ctx := context.Background()
	q := queue.New[string](8)
	q.Push(ctx, "tidy up", policy.Low)
	q.Push(ctx, "answer mail", policy.Normal)
	q.Push(ctx, "put out the fire", policy.Critical)
	q.Push(ctx, "answer more mail", policy.Normal)

	for range 4 {
		task, err := q.Pop(ctx)
		if err != nil {
			return
		}
		fmt.Println(task)
	}
	// Output:
	// put out the fire
	// answer mail
	// answer more mail
	// tidy up
}

// A push to a full queue waits no longer than its context, and nothing of it
// stays behind.
func ExampleQueue_Push() {
	q := queue.New[string](1)
	q.Push(context.Background(), "first", policy.Normal)

	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	err := q.Push(ctx, "second", policy.Critical)
	fmt.Println(err, "with", q.Len(), "queued")
	// Output:
	// context deadline exceeded with 1 queued
}

func ExampleQueue_TryPush() {
	q := queue.New[string](1)
	fmt.Println(q.TryPush("first", policy.Normal))
	fmt.Println(q.TryPush("second", policy.Critical))
	// Output:
	// <nil>
	// queue: full
}

// Shed the least important load, and say which.
func ExampleQueue_PushEvict() {
	q := queue.New[string](2)
	for _, job := range []struct {
		name     string
		priority policy.Priority
	}{
		{"thumbnail", policy.Low},
		{"invoice", policy.Normal},
		{"payment", policy.High},
		{"preview", policy.Low},
	} {
		victim, evicted, err := q.PushEvict(job.name, job.priority)
		if err != nil {
			return
		}
		if evicted {
			fmt.Printf("%s came, %s had to go\n", job.name, victim)
		}
	}
	// Output:
	// payment came, thumbnail had to go
	// preview came, preview had to go
}

// What is queued when the queue is closed still comes out.
func ExampleQueue_Close() {
	ctx := context.Background()
	q := queue.New[int](4)
	q.Push(ctx, 1, policy.Normal)
	q.Push(ctx, 2, policy.Normal)
	q.Close()

	fmt.Println(q.Push(ctx, 3, policy.Normal))
	for {
		n, err := q.Pop(ctx)
		if errors.Is(err, queue.ErrClosed) {
			break
		}
		fmt.Println(n)
	}
	// Output:
	// queue: closed
	// 1
	// 2
}

func ExampleQueue_All() {
	ctx := context.Background()
	q := queue.New[int](1) // so the producer waits again and again
	var wg sync.WaitGroup
	wg.Go(func() {
		defer q.Close()
		for n := range 5 {
			if q.Push(ctx, n, policy.Normal) != nil {
				return
			}
		}
	})

	sum := 0
	for n := range q.All(ctx) {
		sum += n
	}
	wg.Wait()
	fmt.Println(sum, context.Cause(ctx))
	// Output:
	// 10 <nil>
}
