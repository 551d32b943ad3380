// Package policy holds the decisions that a subscription leaves to its user: what a publish does about a full queue
// ([Overflow]), whether and when a failed message is tried again ([Retry]), how a handler overrides that for one
// message ([Permanent], [RetryAfter], [Stop]), and which message goes first ([Priority]).
//
// Everything here is a value or a pure function. Nothing starts a goroutine, reads a clock, waits, or remembers an
// earlier call, so one policy may be shared by any number of subscriptions and asked by any number of goroutines at
// once. What a decision depends on is in its arguments: a [Retry] is told how many attempts have failed, an [Overflow]
// how long this publish has waited. The only thing that is not a function of its arguments is the jitter of an
// [Exponential], which draws from the top-level functions of math/rand/v2.
//
// Policies of one's own are asked without any lock held, and must keep to the same rules. Package
// [github.com/heraldbus/herald/policy/policytest] checks that they do.
//
// Mistakes are errors, never panics: [Action], [Exponential] and [Schedule] have a Validate method, which is called when
// they are handed over as an option, and all of them answer sensibly even where nobody called it.
package policy
