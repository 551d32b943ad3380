// Package sim runs a few goroutines under a scheduler of its own, so that a
// test can try the orders in which they may get ahead of each other, all of
// them or many, and repeat the one that failed.
//
// The code under test is herald as it is. Its sources contain no hook: package
// instrument makes copies in which Mutex and the atomic types are those of this
// package, and in which a look is taken before channels are used; the copies
// replace the sources by go build -overlay for these tests alone. Command
// explore does it:
//
//	go run ./internal/sim/cmd/explore
//
// # What is tried
//
// A thread comes to a yield point before it locks a mutex, before an atomic
// operation outside of all locks, before it sends on or closes a channel, and
// before a select that waits. There the scheduler decides who goes on, and how a
// select that finds several cases ready chooses. Between two yield points one
// thread runs alone; whom it wakes runs up to a yield point of its own. So a
// critical section is one step, and data races are the race detector's business.
// In a deep scenario atomic operations are yield points inside locks too, for
// what goes on beside a critical section without its lock.
//
// Everything happens in a testing/synctest bubble: synctest.Wait says when all
// have come to a stop, and time passes only where a scenario has ticks left.
package sim
