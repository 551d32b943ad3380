package herald

import (
	"context"
	"sync/atomic"

	"github.com/heraldbus/herald/internal/lane"
	"github.com/heraldbus/herald/policy"
)

// allowsPlain reports whether a subscription with this config may use the
// plain lane: one message at a time, in place, and nothing that picks out a
// queued message.
func (c *core) allowsPlain() bool {
	if c.cfg.concurrency > 1 || c.cfg.aside || c.cfg.latest || c.cfg.maxAge != 0 || c.asks {
		return false
	}
	for a := c.plan; ; {
		if a.Kind() == policy.KindDropOldest {
			return false
		}
		then, more := a.Then()
		if !more {
			return true
		}
		a = then
	}
}

// isPlain reports whether a message may go through the plain lane of a
// subscription that has one.
func isPlain(m *Meta, due int64) bool {
	return m.Key == "" && due == 0 && m.rare.ttl == 0 && m.rare.expires == 0
}

// needsNotice reports whether the walking worker has to come to the mutex
// before its next message. mu is held.
func (c *core) needsNotice() bool {
	return c.paused || c.waiting.first != nil || c.consumer.ending || !c.lane.Empty()
}

// call gets the walking worker's notice. mu is held.
func (c *core) call() {
	if c.plain.word.Load()&plainAttention == 0 {
		c.plain.word.Or(plainAttention)
	}
}

// settleWalk notes that the worker has nothing in hand any more: what it had
// is delivered or adopted. mu is held, by the worker.
func (c *core) settleWalk() {
	c.plain.word.Store(c.plain.picks() * plainPick)
	c.owner.tidy()
}

// plainTurn reports whether the next message is one of the plain lane, rather
// than next, the side lane's (nil: none), and of which level. mu is held, by
// the consumer.
func (c *core) plainTurn(next *lane.Item) (level int, ok bool) {
	if !c.plain.on || !c.lane.HasRoom() || c.plain.queued() == 0 {
		return 0, false
	}
	level, index := c.owner.topPlain()
	switch {
	case next == nil:
		return level, true
	case next.State() == lane.Parked:
		return 0, false // what comes back in place is first
	}
	if l := int(next.Priority) + 1; l != level {
		return level, level > l
	}
	return level, !c.lane.Before(next, index)
}

// pickPlain counts a pick. It returns the word to go on from: attention is
// set if anything needs notice, so that a walk ends after one message.
func (c *core) pickPlain(busy uint64) uint64 {
	w := (c.plain.picks()+1)*plainPick | busy
	if c.needsNotice() {
		w |= plainAttention
	}
	c.plain.word.Store(w)
	return w
}

// The owner's part.

func (s *Subscription[T]) tidy() { s.lane.tidy() }

func (s *Subscription[T]) topPlain() (level int, index uint64) {
	s.lane.tidy()
	level, _ = s.lane.top()
	return level, s.lane.picked[level]
}

// enqueue takes a waiter's message into the plain lane.
func (s *Subscription[T]) enqueue(it *item) { s.append(&it.Meta, &nodeOf[T](it).payload) }

// append takes a message into the plain lane. mu is held, and there is room.
func (s *Subscription[T]) append(m *Meta, v *T) {
	level := int(m.Priority) + 1
	s.core.lane.Cut[level]++
	s.core.plain.in++
	s.lane.slot(&s.core.plain, level).fill(m, v)
}

// push takes in a plain message, the fast way: if all is calm, so that
// nothing has to be done but that. It reports whether it did. It's append
// written out, for one call less.
func (s *Subscription[T]) push(m *Meta, v *T) bool {
	c := &s.core
	c.mu.Lock()
	if !c.plain.calm || !c.plain.hasRoom(c.plain.limit) {
		c.mu.Unlock()
		return false
	}
	level := int(m.Priority) + 1
	ch := s.lane.open[level].last
	if ch == nil || len(ch.slots) == cap(ch.slots) {
		ch = s.lane.grow(&c.plain, level)
	}
	c.lane.Cut[level]++
	c.plain.in++
	i := len(ch.slots)
	ch.slots = ch.slots[:i+1]
	ch.slots[i].fill(m, v)
	c.mu.Unlock() // calm as before: nothing for unlock to do
	return true
}

// pushAll is push for as many values as there is room for, in one go. It
// returns how many. They get the next numbers of seq.
func (s *Subscription[T]) pushAll(m *Meta, seq *atomic.Uint64, vs []T) int {
	c := &s.core
	c.mu.Lock()
	defer c.mu.Unlock() // calm as before
	if !c.plain.calm {
		return 0
	}
	vs = vs[:min(len(vs), c.plain.room(c.plain.limit))]
	n, level := uint64(len(vs)), int(m.Priority)+1
	c.lane.Cut[level] += n
	c.plain.in += n
	m.Seq = seq.Add(n) - n
	for len(vs) > 0 {
		slots := s.lane.stretch(&c.plain, level, len(vs))
		for i := range slots {
			m.Seq++
			slots[i].fill(m, &vs[i])
		}
		vs = vs[len(slots):]
	}
	return int(n)
}

// fill makes a blank slot the message. Its fields are written in place:
// built aside and copied it would cost more.
func (s *Message[T]) fill(m *Meta, v *T) {
	s.Seq, s.Attempt, s.Priority, s.at, s.rare = m.Seq, 1, m.Priority, m.at, m.rare
	s.Payload = *v
}

// begin takes the first message of a walk. mu is held, by the worker.
func (s *Subscription[T]) begin(w *worker, level int) {
	w.word = s.core.pickPlain(plainBusy) &^ plainAttention // so that with attention set no swap succeeds
	s.lane.take(&s.core.plain, level)
	s.lane.started.Store(clock())
	s.lane.base = s.core.plain.picks() - uint64(s.lane.walked.next)
}

// walk handles the message in hand, and those after it in its chunk, for as
// long as nobody calls. It's the path of every plain message; no lock, no
// allocation, one locked instruction each. When it returns nil the last
// message is delivered; else the message in hand has failed with that error.
func (s *Subscription[T]) walk(w *worker, h Handler[T]) error {
	l, p, word := &s.lane, &s.core.plain, w.word
	c, done := l.walked, w.ctx.Done()
	for {
		m := &c.slots[c.next-1]
		if err := s.handle(w, h, m); err != nil {
			return err
		}
		m.wipe()
		if c.next == len(c.slots) || p.levels.Load()>>(l.level+1) != 0 {
			return nil
		}
		if done != nil { // a context that never ends costs no call
			select {
			case <-done:
				return nil
			default:
			}
		}
		more := word + plainPick
		if !p.word.CompareAndSwap(word, more) {
			return nil
		}
		word = more
		if c.small { // few are queued: there's time to say exactly when each began
			l.started.Store(clock())
		}
		c.next++
		l.picked[l.level]++
	}
}

// handle calls the handler for m, which stays in its slot until all is well.
func (s *Subscription[T]) handle(w *worker, h Handler[T], m *Message[T]) error {
	if s.next == nil && m.rare.values == nil {
		return h(w.ctx, *m)
	}
	return s.call(w.contextFor(&m.Meta), w, h, &m.Meta, &m.Payload)
}

// adopt moves the plain message in hand to the side lane, as running, since
// it has to come back, or needs a lease. mu is held.
func (s *Subscription[T]) adopt() *item {
	c, l := &s.core, &s.lane
	m := l.inHand()
	it := c.spare.take(s)
	it.Meta = m.Meta
	nodeOf[T](it).payload = m.Payload
	it.started = l.started.Load()
	it.pos.Priority = int8(m.Priority)
	c.lane.Adopt(&it.pos, l.picked[l.level]-1)
	c.addRunning(it)
	c.plain.adopted++
	m.wipe()
	return it
}

// takePlain takes a plain message for a consumer other than Run.
func (s *Subscription[T]) takePlain(level int) *item {
	s.core.pickPlain(0)
	s.lane.take(&s.core.plain, level)
	s.lane.started.Store(clock())
	it := s.adopt()
	s.lane.tidy()
	return it
}

// inHand describes the message that the walking worker has. mu is held and
// the word says that it has one.
func (s *Subscription[T]) inHand() Running {
	l := &s.lane
	m := &l.walked.slots[s.core.plain.picks()-l.base-1]
	return Running{Seq: m.Seq, Attempt: 1, Since: s.core.began.at(l.started.Load())}
}

// dropPlain drops all that is queued in the plain lane and returns how many.
// mu is held. The worker may be walking: from the moment of the swap on it
// touches only the message it has in hand, so the rest of its stash may be
// blanked here; the chunks it puts in order when it comes to the mutex.
func (s *Subscription[T]) dropPlain() int {
	c, l := &s.core, &s.lane
	for {
		w := c.plain.word.Load()
		n := c.plain.in - w/plainPick
		if n == 0 {
			return 0
		}
		if !c.plain.word.CompareAndSwap(w, w+n*plainPick|plainAttention) {
			continue
		}
		c.plain.discarded += n
		l.blank(int(w/plainPick-l.base), w&plainBusy != 0)
		l.base += n
		l.open, l.spare = [lane.Levels]chain[T]{}, nil
		c.plain.levels.Store(0)
		l.stale, l.cut = true, c.lane.Cut
		if c.consumer.kind != runs {
			l.tidy()
		}
		return int(n)
	}
}

func (s *Subscription[T]) trimPlain() { s.lane.trim() }

// contextFor returns the context of a handler for a message with that Meta.
func (w *worker) contextFor(m *Meta) context.Context {
	if m.rare.values == nil {
		return w.ctx
	}
	return &valuesContext{Context: w.ctx, publisher: m.rare.values}
}
