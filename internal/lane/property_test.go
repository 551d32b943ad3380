package lane

import (
	"flag"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A machine drives a lane and its model through the same life, and plays their owner: the plain lane beside them, the
// consumer, and the clock.
type machine struct {
	lane  *Lane
	model *model
	now   int64
	taken [Levels]uint64 // plain messages that the consumer has taken, by level; Lane.Cut counts those that came
	items int            // made so far
	steps *int
}

// TestG11_G12_G14_G22_G23_G24_G26_Model: whatever happens to a lane, it does what the model does.
func TestG11_G12_G14_G22_G23_G24_G26_Model(t *testing.T) {
	want, err := strconv.Atoi(flag.Lookup("rapid.checks").Value.String())
	if err != nil {
		t.Fatal(err)
	}
	sequences, steps := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		sequences++
		m := machine{now: 1, steps: &steps, lane: new(Lane)}
		workers, aside := rapid.IntRange(1, 3).Draw(t, "workers"), rapid.Bool().Draw(t, "aside")
		m.lane.Init(workers, aside)
		m.model = &model{workers: workers, aside: aside}
		t.Repeat(map[string]func(*rapid.T){
			"Add": m.add, "AddAgain": m.add, "AddMore": m.add, "Plain": m.plain, "Adopt": m.adopt,
			"Take": m.take, "TakeAgain": m.take, "Done": m.done, "Return": m.giveBack,
			"Retry": m.retry, "RetryAgain": m.retry, "Lease": m.lease, "Time": m.time, "TimeAgain": m.time,
			"Suspend": m.suspend, "Evict": m.evict, "Remove": m.remove, "Clear": m.clear,
			"Supersede": m.supersede, "Trim": m.trim,
			"": m.compare,
		})
	})
	t.Logf("%d sequences, %d steps", sequences, steps)
	if sequences < want && !t.Failed() {
		t.Errorf("ran %d sequences, want %d", sequences, want)
	}
}

func (m *machine) add(t *rapid.T) {
	it := &Item{
		Key:      rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "key"),
		Priority: int8(rapid.IntRange(-1, 2).Draw(t, "priority")),
		Expires:  m.expires(t),
	}
	it.Owner = m.number()
	due := int64(0)
	if rapid.IntRange(0, 2).Draw(t, "delayed") == 0 {
		due = m.now + rapid.Int64Range(0, 6).Draw(t, "delay")
	}
	if rapid.Bool().Draw(t, "promote") {
		m.lane.Promote(m.now)
		m.model.promote(m.now)
	}
	m.lane.Add(it, due)
	m.model.add(it, due)
}

// number returns a name for the next item.
func (m *machine) number() int {
	m.items++
	return m.items
}

func (m *machine) expires(t *rapid.T) int64 {
	if rapid.IntRange(0, 2).Draw(t, "mortal") > 0 {
		return 0
	}
	return m.now + rapid.Int64Range(0, 9).Draw(t, "ttl")
}

// plain lets messages come in at the plain lane.
func (m *machine) plain(t *rapid.T) {
	level := rapid.IntRange(0, Levels-1).Draw(t, "level")
	m.lane.Cut[level] += rapid.Uint64Range(1, 3).Draw(t, "count")
	m.model.cut = m.lane.Cut
}

// adopt lets the consumer take a plain message, and sometimes keep it.
func (m *machine) adopt(t *rapid.T) {
	level := rapid.IntRange(0, Levels-1).Draw(t, "level")
	index := m.taken[level]
	if index == m.lane.Cut[level] || !m.lane.HasRoom() {
		return
	}
	m.taken[level]++
	if rapid.IntRange(0, 3).Draw(t, "fine") == 0 {
		return
	}
	it := &Item{Owner: m.number(), Priority: int8(level - 1)}
	if rapid.Bool().Draw(t, "mortal") {
		it.Expires = m.expires(t)
	}
	m.lane.Adopt(it, index)
	m.model.adopt(it, index)
}

func (m *machine) take(*rapid.T) {
	if x := m.model.next(); x != nil {
		m.lane.Take(x.item)
		m.model.take(x)
	}
}

// pick draws one of the messages in some states, or nil.
func (m *machine) pick(t *rapid.T, states ...State) *message {
	var xs []*message
	for _, s := range states {
		for _, x := range m.model.items {
			if x.state == s {
				xs = append(xs, x)
			}
		}
	}
	if len(xs) == 0 {
		return nil
	}
	return rapid.SampledFrom(xs).Draw(t, "message")
}

func (m *machine) done(t *rapid.T) {
	if x := m.pick(t, Running); x != nil {
		m.lane.Done(x.item)
		m.end(t, x)
	}
}

// end ends a message in the model that the lane has freed.
func (m *machine) end(t *rapid.T, x *message) {
	m.model.end(x)
	if err := checkFree(x.item); err != nil {
		t.Fatal(err)
	}
}

func (m *machine) giveBack(t *rapid.T) {
	if x := m.pick(t, Running, Parked); x != nil {
		m.lane.Return(x.item)
		m.model.giveBack(x)
	}
}

func (m *machine) retry(t *rapid.T) {
	if x := m.pick(t, Running); x != nil {
		due := max(m.now+rapid.Int64Range(-2, 6).Draw(t, "backoff"), 1)
		m.lane.Retry(x.item, due, m.now)
		m.model.retry(x, due, m.now)
	}
}

func (m *machine) lease(t *rapid.T) {
	if x := m.pick(t, Running); x != nil {
		m.model.settle(x)
		x.due = m.now + rapid.Int64Range(0, 6).Draw(t, "lease")
		m.lane.Lease(x.item, x.due)
	}
}

// time lets time pass, and drains Poll. Of a message whose lease is over, the attempt has mostly failed.
func (m *machine) time(t *rapid.T) {
	m.now += rapid.Int64Range(0, 5).Draw(t, "passes")
	for {
		it, ev := m.lane.Poll(m.now)
		x, want := m.model.poll(m.now)
		if id(it) != x.id() || ev != want {
			t.Fatalf("Poll(%d) = %d, %v, want %d, %v", m.now, id(it), ev, x.id(), want)
		}
		switch ev {
		case 0:
			return
		case Expired:
			if err := checkFree(it); err != nil {
				t.Fatal(err)
			}
		case LeaseEnded:
			if rapid.IntRange(0, 3).Draw(t, "late") > 0 {
				m.lane.Retry(it, m.now+2, m.now)
				m.model.retry(x, m.now+2, m.now)
			}
		}
	}
}

// suspend lets the consumer go, things happen to what it left, and another one come.
func (m *machine) suspend(t *rapid.T) {
	m.lane.Suspend()
	m.model.suspend()
	for range rapid.IntRange(0, 4).Draw(t, "meanwhile") {
		m.compare(t)
		rapid.SampledFrom([]func(*rapid.T){m.add, m.time, m.evict, m.remove, m.supersede, m.take, m.giveBack}).Draw(t, "what")(t)
	}
	m.compare(t)
	m.lane.Reattach()
	m.model.reattach()
}

func (m *machine) evict(t *rapid.T) {
	if x := m.model.victim(); x != nil {
		m.lane.Remove(m.lane.Victim())
		m.end(t, x)
	}
}

func (m *machine) remove(t *rapid.T) {
	if x := m.pick(t, Queued, Delayed); x != nil {
		m.lane.Remove(x.item)
		m.end(t, x)
	}
}

func (m *machine) clear(t *rapid.T) {
	if rapid.IntRange(0, 3).Draw(t, "really") > 0 {
		return
	}
	var last *message
	m.lane.Clear(func(it *Item) {
		x := m.model.least(func(x *message) bool { return x.item == it }, byAge)
		if x == nil || !x.state.waits() {
			t.Fatalf("Clear removed %d", id(it))
		}
		if last != nil && last.priority == x.priority && byAge(last, x) > 0 {
			t.Fatalf("Clear removed %d after a younger one", id(it))
		}
		last = x
		m.end(t, x)
	})
	if n := m.model.count(Queued, Delayed); n != 0 {
		t.Fatalf("Clear left %d", n)
	}
}

func (m *machine) supersede(t *rapid.T) {
	x := m.model.latest(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key"))
	if x == nil {
		return
	}
	priority, expires := int8(rapid.IntRange(-1, 2).Draw(t, "priority")), m.expires(t)
	m.lane.Supersede(x.item, priority, expires)
	m.model.supersede(x, priority, expires)
}

func (m *machine) trim(*rapid.T) { m.lane.Trim() }

// A view is what can be asked of a lane at any time; items are named by a number, none is 0.
type view struct {
	Next, Victim, LatestA, LatestB, LatestC int
	NextEvent                               int64
	Queued, Delayed, Running, Parked        int
	Len, Keys, Lowest                       int
	Empty, HasRoom, Waiting                 bool
	Before                                  [3]bool // of Next, in the plain lane's order
}

func (m *machine) compare(t *rapid.T) {
	*m.steps++
	if err := m.lane.check(); err != nil {
		t.Fatal(err)
	}
	if want, got := m.viewModel(), m.viewLane(); got != want {
		t.Fatalf("at %d, -model +lane\n%s", m.now, cmp.Diff(want, got))
	}
	for _, x := range m.model.items {
		if x.item.State() != x.state || x.item.Due() != x.due {
			t.Fatalf("at %d, item %v is %v, due %d; want %v, %d",
				m.now, x.item.Owner, x.item.State(), x.item.Due(), x.state, x.due)
		}
	}
}

func (m *machine) viewLane() view {
	l := m.lane
	v := view{
		Next: id(l.Next()), Victim: id(l.Victim()),
		LatestA: id(l.Latest("a")), LatestB: id(l.Latest("b")), LatestC: id(l.Latest("c")),
		NextEvent: l.NextEvent(),
		Queued:    l.Queued(), Delayed: l.Delayed(), Running: l.Running(), Parked: l.Parked(),
		Len: l.Len(), Keys: l.Keys(), Empty: l.Empty(), HasRoom: l.HasRoom(),
	}
	lowest, ok := l.Lowest()
	v.Lowest, v.Waiting = int(lowest), ok
	if it := l.Next(); it != nil {
		for i, index := range m.indexes(it) {
			v.Before[i] = l.Before(it, index)
		}
	}
	return v
}

func (m *machine) viewModel() view {
	o := m.model
	v := view{
		Next: o.next().id(), Victim: o.victim().id(),
		LatestA: o.latest("a").id(), LatestB: o.latest("b").id(), LatestC: o.latest("c").id(),
		NextEvent: o.nextEvent(),
		Queued:    o.count(Queued), Delayed: o.count(Delayed), Running: o.count(Running), Parked: o.count(Parked),
		Len: o.count(Queued, Delayed), Keys: o.keys(), Empty: len(o.items) == 0,
		HasRoom: o.count(Running, Parked) < o.workers,
	}
	if x := o.victim(); x != nil {
		v.Lowest, v.Waiting = int(x.priority), true
	}
	if x := o.next(); x != nil {
		for i, index := range m.indexes(x.item) {
			v.Before[i] = x.before(index)
		}
	}
	return v
}

// indexes returns plain messages to compare an item with: the next one, and those around.
func (m *machine) indexes(it *Item) [3]uint64 {
	next := m.taken[it.level()]
	return [3]uint64{max(next, 1) - 1, next, next + 1}
}

// id returns the number that the machine gave an item, or 0.
func id(it *Item) int {
	if it == nil {
		return 0
	}
	return it.Owner.(int)
}

func (x *message) id() int {
	if x == nil {
		return 0
	}
	return id(x.item)
}
