// Package broker keeps topics and subscriptions under their names, joins them
// by patterns, and runs their handlers.
//
//	var b broker.Broker // the zero value works
//	orders, err := broker.Topic[Order](&b, "orders.eu")
//	…
//	err = broker.Handle(&b, "orders.*", "billing", charge) // func(context.Context, herald.Message[Order]) error
//	…
//	go b.Run(ctx)
//	err = orders.Publish(ctx, Order{ID: 42})
//	…
//	err = b.Drain(ctx) // close, and wait until all is handled
//
// What mentions a type is a function, such as [Topic] and [Handle]; the rest
// are methods of [Broker].
//
// # Names and patterns
//
// A topic has one type, asked for at each use: another one is a [*TypeError].
// A subscription's name is unique in the broker, whether it's made by [Match] or
// [Handle], attached by [Attach], or made of one of the broker's topics
// directly; it's free again when its Close has returned.
//
// In a pattern "*" stands for one word and a final ">" for one or more, as in
// NATS. A wildcard character next to others is a literal: the pattern "a*"
// matches the topic "a*" alone.
//
// A pattern takes the topics whose values are of its type T, or implement it
// where T is an interface; so a pattern of type any takes every topic. That
// is decided when topic and pattern meet. A publish knows nothing of patterns:
// its cost depends on the subscriptions that get the message, not on how many
// topics and patterns there are.
//
// # What it guarantees
//
// Beyond what package herald does:
//
//   - A topic that is made has all subscriptions whose pattern matches before
//     anybody can publish to it, and a subscription that is made has all topics
//     that match before Subscribe or Handle returns.
//   - A subscription gets a message once.
//   - Topic, Match's Subscribe, Handle and Attach do all they say, or nothing
//     and return an error.
//   - [Broker.Delete] and [Broker.Unsubscribe] free the name before they return.
//     What was accepted before is still handled where the broker handles the
//     subscription; it is forgotten once it's quiet. The broker forgets other
//     ones at once, and lets their user finish them.
//   - A handler runs by one code path under both modes, [Broker.Run] and
//     [Broker.RunUntilIdle]; the two exclude each other. Nothing but Run starts a
//     goroutine.
//   - No call waits, except Run, RunUntilIdle, [Broker.WaitIdle], [Broker.Drain],
//     and a publish as far as package herald says so. So all others may be made
//     from inside a handler, filter, key function, policy, middleware,
//     dead-letter function or match function; WaitIdle and Drain are
//     [herald.ErrDeadlock] with a handler's context, Run and RunUntilIdle
//     [herald.ErrBusy].
//   - After [Broker.Close], Topic, Publish, Handle, Attach and Subscribe are
//     [herald.ErrClosed]; what was accepted is still handled. Lookup,
//     Unsubscribe, Delete, the statistics and the dead letters go on working.
//
// # Limits
//
//	what                                     default    option
//	topics                                    65,536    [WithTopicLimit]
//	subscriptions by Match and Handle         65,536    [WithPatternLimit]
//	subscriptions of one topic, by pattern
//	  or directly                             65,536    [herald.WithSubscriptionLimit]
//	dead letters                              10,000    [WithDeadLetterCapacity]
//	bytes of a pattern                           255    none
//
// # Locks
//
// The broker has one mutex. Under it only names and patterns change, and
// topics are joined with subscriptions, for which their own mutexes are taken:
// the order is broker, topic, subscription. No user code, log, channel or wait
// happens under it. The mutexes of a Run and of the dead letters are leaves.
package broker
