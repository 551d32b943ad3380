package lane

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// A churn keeps a lane at a steady depth, with the items and keys of a running program.
type churn struct {
	*Lane
	items []Item
	free  []*Item
	keys  []string
	n     int

	flight []*Item // a ring of those in flight
	taken  int     // so far
}

func newChurn(workers, depth, keys int) *churn {
	c := &churn{Lane: newLane(workers, false), items: make([]Item, depth+workers+1)}
	for i := range c.items {
		c.free = append(c.free, &c.items[i])
	}
	names := make([]string, max(keys, 1))
	for i := range keys {
		names[i] = "customer-" + strconv.Itoa(i)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 1 << 12 {
		c.keys = append(c.keys, names[r.IntN(len(names))])
	}
	for range depth {
		c.add()
	}
	return c
}

func (c *churn) add() {
	it := c.free[len(c.free)-1]
	c.free = c.free[:len(c.free)-1]
	it.Key = c.keys[c.n&(len(c.keys)-1)]
	c.n++
	c.Add(it, 0)
}

// step accepts one message and handles one.
func (c *churn) step() {
	c.add()
	it := c.Next()
	c.Take(it)
	c.Done(it)
	c.free = append(c.free, it)
}

// overlap is step with as many in flight as there are workers: it ends the one that was taken first.
func (c *churn) overlap() {
	c.add()
	if c.taken++; c.taken > len(c.flight) {
		it := c.flight[c.taken%len(c.flight)]
		c.Done(it)
		c.free = append(c.free, it)
	}
	it := c.Next()
	c.Take(it)
	c.flight[c.taken%len(c.flight)] = it
}

// evict accepts one message in the place of the oldest.
func (c *churn) evict() {
	it := c.Victim()
	c.Remove(it)
	c.free = append(c.free, it)
	c.add()
}

// BenchmarkStep: what do accept, pick and end cost together, at a steady depth?
func BenchmarkStep(b *testing.B) {
	for _, bm := range []struct {
		name        string
		depth, keys int
	}{
		{"unkeyed/depth=1", 1, 0},
		{"unkeyed/depth=1024", 1024, 0},
		{"keys=16/depth=1024", 1024, 16},
		{"keys=1000/depth=1", 1, 1000},
		{"keys=1000/depth=1024", 1024, 1000},
		{"keys=100000/depth=1024", 1024, 100_000},
	} {
		b.Run(bm.name, func(b *testing.B) {
			c := newChurn(4, bm.depth, bm.keys)
			b.ReportAllocs()
			for b.Loop() {
				c.step()
			}
		})
	}
}

// BenchmarkOverlap: the same with four in flight, whose keys are held.
func BenchmarkOverlap(b *testing.B) {
	for _, keys := range []int{0, 16, 1000} {
		b.Run("keys="+strconv.Itoa(keys), func(b *testing.B) {
			c := newChurn(4, 1024, keys)
			c.flight = make([]*Item, 4)
			b.ReportAllocs()
			for b.Loop() {
				c.overlap()
			}
		})
	}
}

// BenchmarkDropOldest: what does a publish to a full queue cost?
func BenchmarkDropOldest(b *testing.B) {
	for _, keys := range []int{0, 1000} {
		b.Run("keys="+strconv.Itoa(keys), func(b *testing.B) {
			c := newChurn(4, 1024, keys)
			b.ReportAllocs()
			for b.Loop() {
				c.evict()
			}
		})
	}
}
