// Package middleware has wrappers for the attempts of a subscription: a limit
// on their time, a log, a memory of what was handled already, and a limit on
// their rate.
//
//	orders.Subscribe("fraud", herald.WithMiddleware(
//		middleware.Log(nil),
//		middleware.Dedupe(4096),
//		middleware.RateLimit(limiter),
//		middleware.Timeout(time.Second),
//	))
//
// # Order
//
// The first is outermost: it begins first and has the last word.
//
//	+- Log -----------------------------------------------+
//	|  +- Dedupe --------------------------------------+  |
//	|  |  +- RateLimit -----------------------------+  |  |
//	|  |  |  +- Timeout -------------------------+  |  |  |
//	|  |  |  |                                   |  |  |  |
//	-->-->-->--->           handler             >-->-->-->--> error: retry, dead letter
//	|  |  |  |                                   |  |  |  |
//	|  |  |  +-----------------------------------+  |  |  |
//	|  |  +-----------------------------------------+  |  |
//	|  +-----------------------------------------------+  |
//	+-----------------------------------------------------+
//
// This order is mostly the right one: the log sees everything; duplicates
// cost no turn of the limiter; and the time to wait for a turn isn't taken from
// the handler's, as it is with Timeout outside of RateLimit. A middleware of
// one's own that makes an error out of a success belongs inside of Dedupe, which
// would take the next attempt for a duplicate otherwise.
//
// All of it is inside of retries, expiry and leases: what is wrapped is one
// attempt, so a message that is tried three times goes through three times.
// Consumers that pull, by Receive or Messages, make their attempts themselves,
// and nothing of this happens there. RunBatch and middleware exclude each other.
//
// # Sharing
//
// A Middleware is a value; it may be given to any number of subscriptions. Of
// those here, Dedupe keeps a state, and makes it anew for each subscription. The
// limiter of RateLimit is the caller's, so subscriptions that are given the same
// one share its rate.
//
// A bad argument is an error of Subscribe, which wraps [herald.ErrOption] and
// says which: the Middleware panics when it's applied, and Subscribe reports
// that.
//
// # What isn't here
//
// There's no circuit breaker, tracing or metrics, for which there are well-kept
// libraries: a middleware is a function, so what calls a function and looks at
// its error is easily made into one. See the example of a circuit breaker.
package middleware
