// Package queue is a bounded, blocking priority queue: what a channel would be
// if its elements had priorities, its senders could give up, and it could be
// closed while they wait.
//
//	q := queue.New[Job](64)
//	go func() {
//		for job := range q.All(ctx) {
//			job.Do()
//		}
//	}()
//	err := q.Push(ctx, job, policy.High)
//
// # What it guarantees
//
//   - Order. A pop returns, of the elements queued at that moment, the one with
//     the highest priority, and of those the one that was accepted first.
//     Pushes ordered by happens-before keep their order at equal priority. A
//     high priority starves a lower one for as long as it keeps coming.
//   - Capacity. The queue holds at most [Queue.Cap] elements, over all
//     priorities together, and turns none away while it holds fewer.
//   - Turns. Goroutines that wait, for room in [Queue.Push] or for an element
//     in [Queue.Pop], are served first come, first served, whatever the
//     priority. Nobody overtakes them: while someone waits for room,
//     [Queue.TryPush] reports [ErrFull]. [Queue.PushEvict] takes no room from
//     them either; it puts one element in the place of another.
//   - No lost wake-up. It never happens that a push waits while there is room,
//     or a pop while there is an element.
//   - Truth. A push that returns nil was accepted, and exactly one pop or
//     eviction gets the element; a push that returns an error left nothing
//     behind. A pop that returns an error took nothing out. Both hold at the
//     instant when a context ends too.
//   - Closing is graceful. What is queued at [Queue.Close] still comes out,
//     then pops report [ErrClosed]; pushes do at once, waiting ones included.
//   - Memory follows what is queued, not the capacity. An empty queue owns at
//     most four chunks of about 512 bytes, or of one E where that is larger,
//     and does not keep an element that has left it from being collected.
//   - Nothing runs behind your back: no goroutine, no timer, no clock. Waiting
//     is on a channel made for that wait, so testing/synctest sees it as
//     durable blocking, also on a queue made outside the bubble, as long as
//     all who use it meanwhile are inside.
//
// In the terms of the Go memory model, the call that pushes an element
// synchronizes before the return of the call that pops or evicts it. Pushes and
// pops allocate only when they wait, or when the queue grows by a chunk.
//
// How many goroutines may wait is the caller's to limit, as with a channel.
//
// # When to use a channel instead
//
// When all elements have the same priority, and it is never closed under a
// waiting sender: a channel is part of the language, takes part in select, and
// costs about half as much, or a third where every element is waited for. This
// queue has no select. A goroutine that waits for an element or something else
// gives Pop a context that the other thing cancels.
//
// # What it is not
//
// It is not the engine under herald's Subscription. That one also keeps the
// order within a key, leases, retries, delays, expiry and exact counters, and
// has to be faster than a channel; it lives in internal/lane and the root
// package, and nothing is shared but the promises. Each of these features
// touches every path through a queue, and whoever only wants priorities and a
// bound should neither pay for them nor have to read past them. This package
// stays small.
package queue
