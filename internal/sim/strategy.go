package sim

import (
	"hash/fnv"
	"math/rand/v2"
)

// A choice is what a strategy decides: whose turn it is, or how a select goes
// on.
type choice struct {
	kind   choiceKind
	goesOn bool  // the first alternative is who ran last: any other is a preemption
	ids    []int // numbers of threads, -1 for time; or of cases
	points []uintptr
}

type choiceKind uint8

const (
	who choiceKind = iota
	which
)

func (c *choice) add(id int, point uintptr) {
	c.ids = append(c.ids, id)
	c.points = append(c.points, point)
}

// sign is a number that differs where choices do.
func (c *choice) sign() uint64 {
	h := fnv.New64a()
	buf := []byte{byte(c.kind)}
	for i, id := range c.ids {
		buf = append(buf, byte(id))
		for p := c.points[i]; p != 0; p >>= 8 {
			buf = append(buf, byte(p))
		}
	}
	h.Write(buf)
	return h.Sum64()
}

// A strategy makes the choices of a run. It's asked also where there's only
// one alternative.
type strategy interface{ choose(c *choice) int }

// uniform chooses any with the same chance.
type uniform struct{ *rand.Rand }

func (u uniform) choose(c *choice) int { return u.IntN(len(c.ids)) }

// pct is probabilistic concurrency testing: each thread has a priority drawn
// at its first step, the highest goes on, and at a few steps, drawn before, it
// becomes the lowest.
type pct struct {
	rand       *rand.Rand
	priorities map[int]float64
	changes    map[int]bool // steps at which the one that runs falls behind
	step       int
	low        float64
}

// pctLength is about how many steps a run takes; pctChanges how often
// priorities change in one.
const (
	pctLength  = 150
	pctChanges = 4
)

func newPCT(r *rand.Rand) *pct {
	p := &pct{rand: r, priorities: map[int]float64{}, changes: map[int]bool{}}
	for range pctChanges {
		p.changes[r.IntN(pctLength)] = true
	}
	return p
}

func (p *pct) choose(c *choice) int {
	if c.kind == which {
		return p.rand.IntN(len(c.ids))
	}
	p.step++
	i := p.highest(c)
	if p.changes[p.step] {
		p.low--
		p.priorities[c.ids[i]] = p.low
		i = p.highest(c)
	}
	return i
}

func (p *pct) highest(c *choice) (best int) {
	for i, id := range c.ids {
		if _, ok := p.priorities[id]; !ok {
			p.priorities[id] = p.rand.Float64()
		}
		if p.priorities[id] > p.priorities[c.ids[best]] {
			best = i
		}
	}
	return best
}

// listed makes the choices of a list, then the first alternative always.
type listed struct {
	list []int
	next int
	bad  bool // the list didn't fit
}

func (l *listed) choose(c *choice) int {
	if l.next >= len(l.list) {
		return 0
	}
	i := l.list[l.next]
	l.next++
	if i >= len(c.ids) {
		l.bad = true
		return 0
	}
	return i
}

// noted is a strategy that keeps a list of its choices, for listed.
type noted struct {
	strategy
	list []int
}

func (n *noted) choose(c *choice) int {
	i := n.strategy.choose(c)
	n.list = append(n.list, i)
	return i
}
