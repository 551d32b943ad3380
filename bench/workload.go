package main

import (
	"github.com/heraldbus/herald"
)

// A payload has 64 bytes, of which the first 16 say who published it, and
// after how many others.
type payload [8]uint64

const capacity = 1024

// A workload is what a slice does: so many publishers, each of which
// publishes its share, to so many subscriptions.
type workload struct {
	name                      string
	publishers, subscriptions int
	priorities, batch         int // 0: none
	workers, keys             int // 0: one worker, no keys
	timed                     bool
	sub                       []herald.SubOption // what else herald's subscriptions have
	must, aim                 [2]float64         // ratio to the raw channel at GOMAXPROCS 1 and 2; 0: no target
	peers                     bool               // also run by the other buses
}

// workloads are W1 to W3 and the side lane.
var workloads = []workload{
	{name: "W1 one to one", publishers: 1, subscriptions: 1, must: [2]float64{1, 0}, aim: [2]float64{.75, .8}, peers: true},
	{name: "W1 with time", publishers: 1, subscriptions: 1, timed: true, must: [2]float64{1.6, 0}, aim: [2]float64{1.25, 1.35}},
	{name: "W1 four priorities", publishers: 1, subscriptions: 1, priorities: 4, must: [2]float64{1.05, 0}, aim: [2]float64{.8, .85}},
	{name: "W1 batches of 16", publishers: 1, subscriptions: 1, batch: 16, must: [2]float64{.5, 0}, aim: [2]float64{.3, .35}},
	{name: "W2 one to 8", publishers: 1, subscriptions: 8, must: [2]float64{.9, 0}, aim: [2]float64{.75, .9}, peers: true},
	{name: "W2 one to 64", publishers: 1, subscriptions: 64, must: [2]float64{1, 0}, aim: [2]float64{.8, .9}, peers: true},
	{name: "W3 four to one", publishers: 4, subscriptions: 1, must: [2]float64{.95, 0}, aim: [2]float64{.75, 1}, peers: true},
	{name: "W3 four to 8", publishers: 4, subscriptions: 8, must: [2]float64{.95, 0}, aim: [2]float64{.8, 1}, peers: true},
	{name: "side lane, 8 workers", publishers: 1, subscriptions: 1, workers: 8, must: [2]float64{2, 0}, aim: [2]float64{1.5, 0}},
	{name: "side lane, 16 keys", publishers: 1, subscriptions: 1, workers: 8, keys: 16, must: [2]float64{2.5, 0}, aim: [2]float64{1.8, 0}},
	{name: "side lane, 1,000 keys", publishers: 1, subscriptions: 1, workers: 8, keys: 1000, must: [2]float64{4.5, 0}, aim: [2]float64{3, 0}},
}

// A system is something that can run a workload.
type system struct {
	name  string
	slow  int // so many times fewer messages in a slice
	least int // but at least so many deliveries
	start func(w workload, checks []checker) bus
}

// messages is how many each of w's publishers has in a slice, where the raw
// channel's have n.
func (s system) messages(w workload, n int) int {
	return max(n/max(1, s.slow), s.least/(w.publishers*w.subscriptions), 100)
}

// A bus is a system set up for one slice.
type bus struct {
	publish func(publisher int, n int) // n payloads, made by [tagged]
	finish  func()                     // returns when all has been handled
}

// tagged is the payload number i of a publisher.
func tagged(publisher, i int) payload { return payload{uint64(publisher), uint64(i)} }
