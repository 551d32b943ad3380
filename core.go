package herald

import (
	"log/slog"
	"sync"

	"github.com/heraldbus/herald/internal/lane"
	"github.com/heraldbus/herald/policy"
)

// A core is a subscription apart from its type T: its queue, its consumer,
// its waiting publishers and its accounts. All that needs T is behind owner.
//
// Every change happens under mu and ends with unlock, which restores what
// must hold while the mutex is free. User code, logging, and channel
// operations happen outside. Lock order: stalls.mu, then any number of
// core.mu (the deadlock detector alone takes several), nothing after that.
type core struct {
	topic, name string
	cfg         subConfig
	plan        policy.Action // what the overflow policy says, if it always says the same
	asks        bool          // the overflow policy is one of the user's own
	hasStore    bool          // there's a dead-letter function
	log         *slog.Logger
	owner       owner
	began       moment

	src   *source // nil: not a cursor
	plain plainState

	mu           sync.Mutex // protects all below, and what plainState says
	lane         lane.Lane  // what is queued, delayed or in flight, in order
	counts       counts
	leaving      uint64 // taken out of the lane, on their way to a dead-letter store
	closed       bool
	disconnected bool
	paused       bool
	running      *item // the items in flight with a handler or a lease, as a list
	consumer     consumer
	leases       uint64 // given so far
	sleepers     sleepers
	waiting      waiters
	quiet        chan struct{} // closed when quiet; nil: nobody asked
	forgotten    bool          // the topic has been told that all is over
	spare        spareItems
	plainAged    *rare // see aged
	endErr       error // see Subscription.Err
}

// An owner is the typed side of a core.
type owner interface {
	// put hands it to the dead-letter function.
	put(it *item, r Reason, err error) error
	// detach makes the topic forget the subscription; idempotent.
	detach()
	// forget tells the topic that the closed subscription is quiet.
	forget()
	// newItem makes an item with room for a payload.
	newItem() *item

	// The plain lane, see walk.go; all with the core's mutex held.
	enqueue(*item)
	topPlain() (level int, index uint64)
	takePlain(level int) *item
	adopt() *item
	tidy()
	dropPlain() int
	trimPlain()
	inHand() Running

	// The log's part, see feed.go; without the core's mutex.
	fetch(h *haul)
	oldest() uint64
}

// An item is one message in one subscription: its place in the lane, its
// Meta, and behind node its payload. It belongs to the core from acceptance
// until its end, except while a worker or a delivery has it: then only that
// one reads it and only under mu anybody changes it.
type item struct {
	Meta
	pos     lane.Item
	node    payload // the typed node that this item is part of
	due     int64   // clock at which the publisher wants it delivered; 0: at once
	since   int64   // clock at acceptance, where an overflow policy may ask for it
	started int64   // clock at the start of the attempt under way
	over    int64   // clock at its end, if somebody noticed later; 0: now
	err     error   // of the last attempt
	lease   uint64  // number of the valid lease; 0: none
	read    bool    // from the log, and not at its end

	prev, next *item // among those running; next also among spare items and casualties
}

// A payload is the typed part of an item.
type payload interface {
	clear()            // forgets it
	take(from payload) // copies another one's
}

func itemOf(p *lane.Item) *item { return p.Owner.(*item) }

// init makes c the core of a subscription.
func (c *core) init(topic, name string, cfg subConfig, hasStore bool, log *slog.Logger, o owner) {
	c.topic, c.name, c.cfg, c.hasStore, c.log, c.owner = topic, name, cfg, hasStore, log, o
	c.lane.Init(cfg.concurrency, cfg.aside)
	switch a, plain := cfg.overflow.(policy.Action); {
	case cfg.overflow == nil && hasStore:
		c.plan = policy.DeadLetter()
	case cfg.overflow == nil:
		c.plan = policy.Reject()
	case plain:
		c.plan = a
	default:
		c.asks = true
	}
	c.began = newMoment()
	c.plain.on, c.plain.limit = c.allowsPlain(), cfg.capacity
}

// isCalm reports whether a plain message may be accepted by nothing but an
// append, where the plain lane has room: no consumer sleeps that it would
// wake, and nothing waits in the side lane, so that room and order are the plain
// lane's business alone. Nobody else cares. Who waits for room waits because
// there's none; who waits for quiet waits on.
func (c *core) isCalm() bool {
	return c.plain.on && !c.closed && c.lane.Len() == 0 && !c.wakeful()
}

// wakeful reports whether a message that comes would wake a consumer.
func (c *core) wakeful() bool { return c.sleepers.first != nil && c.sleepers.waking == nil }

// crowded reports whether the overflow policy has to act on an offer: the
// queue is full, or others wait for room already.
func (c *core) crowded() bool { return c.waiting.first != nil || !c.hasRoom() }

// hasRoom reports whether fewer messages are queued or delayed than the
// capacity.
func (c *core) hasRoom() bool { return c.plain.hasRoom(c.cfg.capacity - c.lane.Len()) }

// accept takes it in. The caller has made sure that it isn't crowded, or
// that the policy made room.
func (c *core) accept(it *item) {
	c.promote()
	if c.plain.on && isPlain(&it.Meta, it.due) {
		c.owner.enqueue(it)
		c.spare.give(it)
		return
	}
	if c.cfg.latest && it.Key != "" && it.due == 0 && c.supersede(it) {
		return
	}
	c.counts.accepted++
	if c.asks {
		it.since = clock()
	}
	it.pos.Priority, it.pos.Key = int8(it.Priority), it.Key
	it.pos.Expires = it.expires()
	c.lane.Add(&it.pos, it.due)
}

// isQuiet reports whether nothing is queued, delayed or in flight.
func (c *core) isQuiet() bool {
	return c.lane.Empty() && c.leaving == 0 && !c.hasMore() && c.plain.word.Load()&^plainAttention == c.plain.in*plainPick
}

// isOver reports whether c is closed and quiet, for good.
func (c *core) isOver() bool {
	c.mu.Lock()
	defer c.unlock()
	return c.closed && c.isQuiet()
}

// unlock frees mu. Before, it makes true what G9 promises for every moment
// at which nobody holds it: no publisher waits while there is room, no
// consumer sleeps while there is something for it to do, and nobody waits
// for quiet when it is. That it's the only way out is why no path can forget.
func (c *core) unlock() {
	if c.plain.on && c.needsNotice() {
		c.call() // before the last look at what room there is
	}
	if c.waiting.first == nil && c.sleepers.first == nil && c.quiet == nil && !c.closed && c.src == nil {
		c.plain.calm = c.isCalm()
		c.mu.Unlock()
		return
	}
	admitted := c.admit()
	watcher := c.watchful()
	still := c.attend()
	var over chan struct{}
	forget, all := false, false
	if c.isQuiet() {
		over, c.quiet = c.quiet, nil
		forget = c.closed && !c.forgotten
		c.forgotten = c.forgotten || forget
		all = c.closed
	}
	var wake *sleeper
	var wakes []*sleeper
	if all || c.consumer.ending {
		wakes = c.sleepers.takeAll()
	} else {
		wake = c.rouse()
	}
	c.plain.calm = c.isCalm()
	c.mu.Unlock()

	admitted.answered()
	if watcher != nil {
		watcher.wake()
	}
	if wake != nil {
		wake.wake()
	}
	for _, s := range wakes {
		s.wake()
	}
	if over != nil {
		close(over)
	}
	if still != nil {
		close(still)
	}
	if forget {
		c.owner.forget()
	}
}

// rouse picks the sleeper to wake, if there's reason to: a message that may
// be handled now, or an event earlier than what anyone set an alarm for.
func (c *core) rouse() *sleeper {
	switch {
	case !c.wakeful():
		return nil
	case c.due():
		return c.sleepers.rouse(c.sleepers.first)
	}
	next := c.lane.NextEvent()
	if next == 0 || c.sleepers.alarm != nil && c.sleepers.alarm.alarm <= next {
		return nil
	}
	if c.sleepers.alarm != nil {
		return c.sleepers.rouse(c.sleepers.alarm)
	}
	return c.sleepers.rouse(c.sleepers.first)
}

// ready reports whether a message may be handled now.
func (c *core) ready() bool {
	return !c.halted() && (c.lane.Next() != nil || c.hungry() || c.plain.on && c.lane.HasRoom() && c.plain.queued() > 0)
}

// due reports whether the consumer has something to do with messages: handle
// one, or a batch that is full enough.
func (c *core) due() bool {
	switch want := c.consumer.want; {
	case want == 0:
		return c.ready()
	case c.closed:
		return c.hungry() || c.available() > 0
	default:
		return c.hungry() || c.available() >= want
	}
}

// pick takes the next message to handle out of line, or returns nil.
func (c *core) pick() *item {
	if c.halted() {
		return nil
	}
	p := c.lane.Next()
	if level, ok := c.plainTurn(p); ok {
		return c.owner.takePlain(level)
	}
	if p == nil {
		return nil
	}
	return c.take(p, clock())
}

// take takes the side lane's next message out of line.
func (c *core) take(p *lane.Item, now int64) *item {
	c.lane.Take(p)
	it := itemOf(p)
	it.Attempt++
	it.started = now
	c.addRunning(it)
	return it
}

// addRunning lists it as running, for the statistics.
func (c *core) addRunning(it *item) {
	it.prev, it.next = nil, c.running
	if c.running != nil {
		c.running.prev = it
	}
	c.running = it
}

// removeRunning takes it, whose attempt is over, from that list.
func (c *core) removeRunning(it *item) {
	if it.prev != nil {
		it.prev.next = it.next
	} else {
		c.running = it.next
	}
	if it.next != nil {
		it.next.prev = it.prev
	}
	it.prev, it.next = nil, nil
}

// fail returns err as the error of call op on this subscription.
func (c *core) fail(op string, err error) error {
	return &Error{Op: op, Topic: c.topic, Subscription: c.name, Err: err}
}
