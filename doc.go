// Package herald is an in-process event bus with static types. A [Topic]
// distributes values of one type to its subscriptions; each [Subscription]
// owns a bounded priority queue that one consumer drains.
//
//	var orders herald.Topic[Order]               // the zero value works
//	billing, err := orders.Subscribe("billing")
//	go billing.Run(ctx, charge)                  // one dispatcher, in order
//	orders.Publish(ctx, Order{ID: 42})
//	orders.Drain(ctx)                            // close and wait
//
// # What is guaranteed
//
//   - Order: a subscription delivers the highest priority first, and within a
//     priority in order of acceptance. Publishes of which one happens before the other
//     keep that order everywhere. Messages with equal keys stay in order
//     whatever the concurrency, retries included.
//   - Bounds: a queue holds what its capacity says and no more. What happens to
//     a message that meets a full queue is decided by the subscription's
//     policy.Overflow; Publish waits only where that says Block.
//   - Truth: Publish reports who did not accept a message. Every accepted message reaches
//     exactly one end, and [SubStats] accounts for all of them at every moment.
//   - Isolation: no subscription hinders another. User code never runs under
//     a lock. A panic or runtime.Goexit in a handler is a failed attempt.
//   - Closing is graceful (what is queued still arrives), the end of a context is
//     abrupt, and Drain is Close plus waiting. All of them are safe inside handlers.
//
// A topic made [WithRetain] has a log instead of queues: subscriptions begin
// where [WithStart] says, read at their own pace, and can go back ([Subscription.Seek]).
//
// The numbered promises behind these sentences, G1 to G42, are in
// docs/GUARANTEES.md.
//
// # Which method for what
//
// Three ways to consume: [Subscription.Run] pushes to a handler,
// [Subscription.Messages] and [Subscription.Receive] hand out messages on lease, [Subscription.Step]
// handles one on the caller's goroutine and never waits.
//
// What concerns the type T hangs on a [View]: Filter, KeyBy, DeadLetterTo.
// Everything else is an option: [TopicOption], [SubOption], [PublishOption].
//
// A handler's error is judged by the subscription's policy.Retry, unless it is
// a verdict: policy.Permanent, policy.RetryAfter or policy.Stop.
//
// # Memory model
//
// A Publish is synchronized before the handlers of its message. With concurrency
// 1 the end of a handler is synchronized before the start of the next, and with
// any concurrency so for messages of one key. A [Delivery.Ack] is synchronized
// before the next Receive that it makes room for.
//
// # Testing
//
// Nothing starts a goroutine or timer outside of the calls that are under way, and
// all waiting is on channels made by the caller's goroutines, so code that
// uses herald can be tested inside testing/synctest bubbles with exact
// times.
package herald
