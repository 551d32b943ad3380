package herald_test

import (
	"time"

	"pgregory.net/rapid"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// specOptions are those of one subscription. Where a function of the user's is asked, the model asks the same one.
type specOptions struct {
	name        string
	capacity    int
	concurrency int

	overflow policy.Action // by default or not
	byName   bool          // it's given WithOverflow
	custom   bool          // instead: specPolicy

	delays       []time.Duration // before each retry
	brittleRetry bool            // and then the retry policy panics
	retries      policy.Retry

	aside, latest bool
	lease, maxAge time.Duration

	filter int  // 0: none; see specOptions.keep
	keyBy  bool // see specOptions.keyOf
	store  specStore
}

type specStore int

const (
	noStore      specStore = iota
	keepsAll               // DeadLetterTo a slice
	brittleStore           // which refuses two letters of four, one with a panic
)

// drawOptions draws those of one subscription. In a plain trial they are such that herald can take its fast lane.
func (t *trial) drawOptions(r *rapid.T) specOptions {
	one := func(label string, of ...int) int { return rapid.SampledFrom(of).Draw(r, label) }
	sec := func(label string, of ...int) time.Duration { return time.Duration(one(label, of...)) * time.Second }
	o := specOptions{
		name:        rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(r, "name"),
		capacity:    one("capacity", 1, 2, 3, 4),
		concurrency: one("concurrency", 1, 1, 1, 2, 3),
		aside:       rapid.Bool().Draw(r, "aside"),
		latest:      one("latest", 0, 0, 1) == 1,
		lease:       sec("lease", 1, 2, 3),
		maxAge:      sec("max age", 0, 0, 3),
		filter:      one("filter", 0, 0, 2, 3),
		keyBy:       rapid.IntRange(0, 2).Draw(r, "key by") == 0,
		store:       specStore(one("store", int(noStore), int(keepsAll), int(brittleStore))),
	}
	o.drawRetry(r)
	o.drawOverflow(r)
	if !t.mortal {
		o.maxAge = 0
	}
	if !t.blocks && o.mayBlock() {
		o.custom, o.byName, o.overflow = false, true, policy.DropNewest()
	}
	if t.plain {
		o.concurrency, o.aside, o.latest, o.maxAge, o.keyBy, o.custom = 1, false, false, 0, false, false
		o.capacity = one("plain capacity", 1, 2, 4, 12, 100)
	}
	return o
}

func (o *specOptions) drawRetry(r *rapid.T) {
	const s = time.Second
	switch rapid.IntRange(0, 5).Draw(r, "retry") {
	case 0:
		o.retries = policy.Never()
	case 1:
		o.delays, o.retries = []time.Duration{0}, policy.Schedule{0}
	case 2:
		o.delays, o.retries = []time.Duration{s, 2 * s}, policy.Schedule{s, 2 * s}
	case 3:
		o.delays, o.retries = []time.Duration{s, 2 * s, 3 * s}, policy.Exponential{Attempts: 4, Base: s, Max: 3 * s}
	case 4:
		o.delays, o.retries = []time.Duration{100 * time.Millisecond, 200 * time.Millisecond}, policy.Exponential{}
	case 5:
		o.delays, o.retries, o.brittleRetry = []time.Duration{s}, brittleRetry{}, true
	}
}

func (o *specOptions) drawOverflow(r *rapid.T) {
	const s = time.Second
	o.overflow = policy.Reject()
	if o.store != noStore {
		o.overflow = policy.DeadLetter()
	}
	switch n := rapid.IntRange(0, 12).Draw(r, "overflow"); n {
	case 0: // the default
	case 1:
		o.custom = true
	default:
		o.byName = true
		o.overflow = [...]policy.Action{
			policy.Reject(), policy.DropNewest(), policy.DropOldest(), policy.DropOldest(), policy.Disconnect(),
			policy.DeadLetter(), policy.Block(0), policy.Block(s), policy.Block(s).Else(policy.DropOldest()),
			policy.Block(s).Else(policy.Block(s).Else(policy.DropNewest())), policy.Block(s).Else(policy.DeadLetter()),
		}[n-2]
		if n == 7 || n == 12 {
			o.store = max(o.store, keepsAll)
		}
	}
}

// A specEnvelope is what a Publish is given.
type specEnvelope struct {
	payloads []int
	message  specMessage   // without payload
	deadline time.Duration // of the context, from now; used where the publish must wait
	options  []herald.PublishOption
}

func (t *trial) drawEnvelope(r *rapid.T, payloads int) specEnvelope {
	e := specEnvelope{
		payloads: rapid.SliceOfN(rapid.IntRange(0, 29), payloads, payloads).Draw(r, "payloads"),
		deadline: t.unit(rapid.IntRange(0, 2).Draw(r, "deadline")) + t.fraction(),
	}
	m := &e.message
	m.published = t.spec.now
	if t.spec.ttl > 0 {
		m.expires = t.spec.now + t.spec.ttl
	}
	add := func(o herald.PublishOption) { e.options = append(e.options, o) }
	if m.priority = rapid.SampledFrom(somePriorities).Draw(r, "priority"); m.priority != herald.Normal {
		add(herald.WithPriority(m.priority))
	}
	if t.plain && rapid.IntRange(0, 7).Draw(r, "plain") > 0 {
		return e
	}
	if m.key = rapid.SampledFrom([]string{"", "", "", "1", "2"}).Draw(r, "key"); m.key != "" {
		add(herald.WithKey(m.key))
	}
	switch n := rapid.IntRange(-9, 4).Draw(r, "ttl"); {
	case !t.mortal:
	case n == 0:
		m.expires = 0
		add(herald.WithTTL(0))
	case n > 0:
		m.expires = t.spec.now + t.unit(n)
		add(herald.WithTTL(t.unit(n)))
	}
	if d := t.unit(rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2}).Draw(r, "delay")); d > 0 {
		m.due, m.delayed = t.spec.now+d, true
		add(herald.WithDelay(d))
	}
	if rapid.IntRange(0, 4).Draw(r, "header") == 0 {
		m.headers = herald.NewHeaders(map[string]string{"h": "1"})
		add(herald.WithHeader("h", "1"))
	}
	return e
}

var somePriorities = []herald.Priority{herald.Normal, herald.Normal, herald.Low, herald.High, herald.Critical}
