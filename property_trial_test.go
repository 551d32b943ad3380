package herald_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"pgregory.net/rapid"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// A trial is a topic and its model, which live through the same. It runs in a bubble.
type trial struct {
	*rapid.T
	spec  *spec
	topic *herald.Topic[int]
	subs  []*trialSub
	nature
	out    []*trialDelivery
	before func(*rapid.T) // what passes before each action
	odd    time.Duration  // see fraction

	mu    sync.Mutex // protects what user code writes
	fulls []policy.Full
}

// A trialSub is a subscription and its model.
type trialSub struct {
	*herald.Subscription[int]
	spec    *specSub
	number  uint64
	before  herald.SubStats          // at the latest comparison
	letters []herald.DeadLetter[int] // that it put into its store, in the order of the model's
	checked int                      // of them

	cancel context.CancelFunc // of its Run

	// Protected by the trial's mu:
	puts    []herald.DeadLetter[int] // since the latest look
	log     []specAttempt
	returns []specReturn
	handed  map[[2]uint64]int // how often what was, by Seq and replays
}

// A nature is what kinds of things there are in a trial.
type nature struct {
	plain  bool // only what herald's fast lane is for, but for a few messages
	mortal bool // messages may expire
	blocks bool // publishers may wait for room
}

// newTrial makes a topic without subscriptions.
func newTrial(r *rapid.T, seen sights, n nature) *trial {
	t := &trial{T: r, nature: n}
	t.before = t.idle
	r.Cleanup(func() {
		if t.topic != nil {
			t.topic.Close()
		}
	})
	t.spec = &spec{begun: time.Now(), sights: seen}
	opts := []herald.TopicOption{herald.WithLogger(slog.New(slog.DiscardHandler))}
	if !t.plain && t.mortal && rapid.IntRange(0, 3).Draw(r, "default ttl") == 0 {
		t.spec.ttl = 3 * time.Second
		opts = append(opts, herald.WithDefaultTTL(t.spec.ttl))
	}
	topic, err := herald.NewTopic[int]("spec", opts...)
	if err != nil {
		r.Fatal(err)
	}
	t.topic = topic
	return t
}

// fraction is what a deadline has on top of whole units. With a nanosecond more each time, nothing else ever happens in
// the same moment: which of two things came first would be a matter of luck.
func (t *trial) fraction() time.Duration {
	t.odd++
	return 500*time.Millisecond + t.odd
}

func (t *trial) unit(n int) time.Duration { return time.Duration(n) * time.Second }

// A specView is a topic, or a view of one.
type specView interface {
	Filter(func(herald.Message[int]) bool) herald.View[int]
	KeyBy(func(herald.Message[int]) string) herald.View[int]
	DeadLetterTo(func(herald.DeadLetter[int]) error) herald.View[int]
	Subscribe(string, ...herald.SubOption) (*herald.Subscription[int], error)
}

// view is the view that a subscription of some options has.
func (t *trial) view(o *specOptions, put func(herald.DeadLetter[int]) error) (v specView) {
	v = t.topic
	if o.filter != 0 {
		v = v.Filter(func(m herald.Message[int]) bool { return o.keep(m.Payload) })
	}
	if o.keyBy {
		v = v.KeyBy(func(m herald.Message[int]) string { return o.keyOf(m.Payload) })
	}
	if o.store != noStore {
		v = v.DeadLetterTo(put)
	}
	return v
}

func (t *trial) options(o *specOptions) []herald.SubOption {
	opts := []herald.SubOption{
		herald.WithCapacity(o.capacity), herald.WithConcurrency(o.concurrency),
		herald.WithRetry(o.retries), herald.WithLease(o.lease),
	}
	if o.byName {
		opts = append(opts, herald.WithOverflow(o.overflow))
	}
	if o.custom {
		opts = append(opts, herald.WithOverflow(specOverflow(func(f policy.Full) policy.Action {
			t.mu.Lock()
			t.fulls = append(t.fulls, f)
			t.mu.Unlock()
			return specPolicy(f)
		})))
	}
	if o.aside {
		opts = append(opts, herald.WithRetryAside())
	}
	if o.latest {
		opts = append(opts, herald.WithLatest())
	}
	if o.maxAge > 0 {
		opts = append(opts, herald.WithMaxAge(o.maxAge))
	}
	return opts
}

// subscribe makes a subscription in both, if its name is free (G1).
func (t *trial) subscribe(o specOptions) {
	taken := slices.ContainsFunc(t.spec.subs, func(s *specSub) bool { return s.name == o.name && !s.count.Closed })
	u := &trialSub{number: uint64(len(t.subs)), handed: map[[2]uint64]int{}}
	s, err := t.view(&o, func(d herald.DeadLetter[int]) error {
		t.mu.Lock()
		u.puts = append(u.puts, d)
		t.mu.Unlock()
		return o.keeps(d.Payload)
	}).Subscribe(o.name, t.options(&o)...)
	if want := errIf(taken, herald.ErrDuplicate, nil); !errors.Is(err, want) {
		t.Fatalf("Subscribe(%q) = %v, want %v", o.name, err, want)
	}
	if taken {
		return
	}
	u.Subscription = s
	u.spec = &specSub{specOptions: o, topic: t.spec}
	u.spec.count = herald.SubStats{Topic: "spec", Name: o.name, Capacity: o.capacity}
	t.subs = append(t.subs, u)
	t.spec.subs = append(t.spec.subs, u.spec)
}

func errIf(is bool, yes, no error) error {
	if is {
		return yes
	}
	return no
}
