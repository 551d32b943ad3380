package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/dlq"
	"github.com/heraldbus/herald/policy"
)

// A member is a subscription, and what its handlers saw.
type member struct {
	sub     *herald.Subscription[payload]
	dead    *dlq.Queue[payload]
	name    string
	options string
	keyed   bool // by publisher, so that each publisher's messages are in order
	latest  bool
	workers int
	way     int    // of consuming
	fails   uint64 // of so many attempts one fails; 0: none
	ctx     context.Context
	stop    context.CancelFunc

	handled  atomic.Int64 // with success
	attempts atomic.Uint64
	released atomic.Uint64 // Seq of a delivery given back, until the next one

	mu   sync.Mutex      // protects all below
	ends map[payload]int // successes
	last map[int]uint64  // by publisher: Seq of the newest handled with success
	busy map[string]int  // handlers under way, by key
}

// maxWorkers is the greatest concurrency. What failed comes back even to a full
// queue, so so many may be too many.
const maxWorkers = 4

// join makes a subscription with options drawn from rng.
func (w *world) join(name string, rng *rand.Rand) (*member, error) {
	m := &member{name: name, dead: dlq.New[payload](1 + rng.IntN(64)), ends: map[payload]int{}, last: map[int]uint64{}, busy: map[string]int{}}
	m.ctx, m.stop = context.WithCancel(context.Background())
	m.workers, m.keyed, m.way = 1, rng.IntN(2) == 0, rng.IntN(4)
	if rng.IntN(2) == 0 {
		m.workers = 1 + rng.IntN(maxWorkers)
	}
	if rng.IntN(2) == 0 {
		m.fails = 2 + rng.Uint64N(20)
	}
	m.latest = m.keyed && rng.IntN(8) == 0
	overflow := overflows[rng.IntN(len(overflows))]
	opts := []herald.SubOption{
		herald.WithCapacity(1 + rng.IntN(40)), herald.WithConcurrency(m.workers), herald.WithOverflow(overflow),
		herald.WithRetry(policy.Exponential{Attempts: 1 + rng.IntN(3), Base: time.Microsecond, Max: time.Millisecond}),
	}
	if rng.IntN(4) == 0 {
		opts = append(opts, herald.WithRetryAside())
	}
	if m.latest {
		opts = append(opts, herald.WithLatest())
	}
	m.options = fmt.Sprintf("workers %d, keyed %t, latest %t, way %d, one of %d fails, %v", m.workers, m.keyed, m.latest, m.way, m.fails, overflow)
	v := w.topic.DeadLetterTo(m.dead.Put)
	if m.keyed {
		v = v.KeyBy(func(msg herald.Message[payload]) string { return fmt.Sprint(msg.Payload.publisher) })
	}
	var err error
	m.sub, err = v.Subscribe(name, opts...)
	return m, err
}

var overflows = []policy.Overflow{
	policy.Block(0), policy.Block(time.Millisecond).Else(policy.DropOldest()), policy.DropOldest(), policy.DropNewest(),
	policy.Reject(), policy.DeadLetter(), policy.Block(time.Microsecond),
}

// consume handles messages until the subscription is drained.
func (m *member) consume(w *world) {
	var err error
	switch m.way {
	case 0:
		err = m.receive(w)
	case 1:
		err = m.sub.RunBatch(m.ctx, 1+m.workers, 0, func(_ context.Context, ms []herald.Message[payload]) error {
			for _, msg := range ms {
				m.see(w, msg)
			}
			return nil
		})
	default:
		err = m.sub.Run(m.ctx, func(_ context.Context, msg herald.Message[payload]) error { return m.handle(w, msg) })
	}
	if err != nil && !errors.Is(err, herald.ErrClosed) && !errors.Is(err, context.Canceled) {
		w.errs.add("%s: consuming: %v", m.name, err)
	}
}

func (m *member) receive(w *world) error {
	for {
		d, err := m.sub.Receive(m.ctx)
		if err != nil {
			return err
		}
		if m.attempts.Load()%11 == 0 && d.Attempt == 1 && m.released.CompareAndSwap(0, d.Seq) {
			if err := d.Release(); err != nil {
				return err
			}
			continue
		}
		if last := m.released.Swap(0); last == d.Seq && d.Attempt != 1 {
			w.errs.add("%s: Seq %d was released and comes back as attempt %d", m.name, d.Seq, d.Attempt)
		}
		if failed := m.handle(w, d.Message); failed != nil {
			err = d.Nack(failed)
		} else {
			err = d.Ack()
		}
		if err != nil {
			return err
		}
	}
}

var errDrawn = errors.New("drawn to fail")

// handle fails, panics or succeeds as its turn has it.
func (m *member) handle(w *world, msg herald.Message[payload]) error {
	m.enter(w, msg)
	defer m.leave(msg)
	switch n := m.attempts.Add(1); {
	case m.fails == 0 || n%m.fails != 0:
	case n%(3*m.fails) == 0 && m.way != 0:
		panic("drawn to panic")
	case n%(5*m.fails) == 0:
		return policy.Permanent(errDrawn)
	default:
		return errDrawn
	}
	if msg.Seq%7 == 0 {
		runtime.Gosched()
	}
	m.see(w, msg)
	return nil
}

// enter and leave check that handlers of one key never overlap, and never
// more than the concurrency at all (G13, G14).
func (m *member) enter(w *world, msg herald.Message[payload]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.busy["all of them"]++
	if n := m.busy["all of them"]; n > m.workers {
		w.errs.add("%s: %d handlers at once (%s)", m.name, n, m.options)
	}
	if m.keyed {
		m.busy[msg.Key]++
		if m.busy[msg.Key] > 1 {
			w.errs.add("%s: two handlers of key %s at once (%s)", m.name, msg.Key, m.options)
		}
	}
}

func (m *member) leave(msg herald.Message[payload]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.busy["all of them"]--
	if m.keyed {
		m.busy[msg.Key]--
	}
}

// see notes a success. At most one is allowed for a message and each of its
// replays; and in order, where nothing came between that may change it.
func (m *member) see(w *world, msg herald.Message[payload]) {
	m.handled.Add(1)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ends[msg.Payload]++
	if n := m.ends[msg.Payload]; n > 1 {
		w.errs.add("%s: %v handled %d times with success (%s)", m.name, msg.Payload, n, m.options)
	}
	if !m.keyed && m.workers > 1 || msg.Replays() > 0 || msg.Priority != herald.Normal || !msg.Expires().IsZero() {
		return
	}
	if last := m.last[msg.Payload.publisher]; msg.Seq < last && m.fails == 0 {
		w.errs.add("%s: Seq %d after %d of one publisher (%s)", m.name, msg.Seq, last, m.options)
	}
	m.last[msg.Payload.publisher] = msg.Seq
}
