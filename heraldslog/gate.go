package heraldslog

import (
	"sync"
	"sync/atomic"
)

// shut is added to a gate's count once it's closed.
const shut = 1 << 62

// A gate lets calls in until it's closed, and then, when the last of them has
// left, seals. A topic that is closed under the hands of a publish may keep the message
// from subscriptions without anybody counting it; behind the gate it's closed
// when none is under way.
type gate struct {
	count   atomic.Int64  // calls inside, plus shut
	closing chan struct{} // closed by close: who waits inside shall leave
	sealed  chan struct{} // closed when all have left
	once    sync.Once
	seal    func() // called before sealed is closed
}

func newGate(seal func()) *gate {
	return &gate{closing: make(chan struct{}), sealed: make(chan struct{}), seal: seal}
}

// enter reports whether the gate is open. If so, the caller has to leave.
func (g *gate) enter() bool {
	if g.count.Add(1) >= shut {
		g.leave()
		return false
	}
	return true
}

func (g *gate) leave() {
	if g.count.Add(-1) == shut { // also by those who came late
		g.once.Do(func() {
			g.seal()
			close(g.sealed)
		})
	}
}

// close shuts the gate. It waits for nobody.
func (g *gate) close() {
	g.count.Add(1) // so that it can't be sealed before closing is closed
	if g.count.Or(shut)&shut == 0 {
		close(g.closing)
	}
	g.leave()
}

func (g *gate) isShut() bool { return g.count.Load() >= shut }
