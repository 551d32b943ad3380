// Package linear records what goroutines do to a queue or a subscription at
// the same time, and lets porcupine find an order in which one goroutine could
// have done it with the same results. It's a module of its own, so that herald
// doesn't depend on porcupine.
package linear
