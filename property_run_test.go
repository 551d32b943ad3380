package herald_test

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/heraldbus/herald"
)

// A specRun is a Run of the model. What a handler will do is known when it starts.
type specRun struct {
	sub       *specSub
	script    func(*specMessage) specAct
	cancelled bool // its context has ended
	stopped   bool // a handler said Stop
	exited    bool // a handler said Goexit, on the goroutine that called Run
}

// An act is what a handler does: it takes its time, and then something comes of it.
type specAct struct {
	takes time.Duration
	outcome
}

// A returned is how a Run ended.
type specReturn struct {
	at     time.Duration
	exited bool // with its goroutine
	err    error
}

// A handled is an attempt.
type specAttempt struct {
	at      time.Duration
	seq     uint64
	attempt int32
	replays int
}

// start makes a Run the consumer.
func (s *specSub) start(script func(*specMessage) specAct) {
	s.run = &specRun{sub: s, script: script}
	s.attach()
	s.work()
}

// work lets those in who wait for room, and a Run handle what it may: whenever there's a free worker and something ready,
// the two have found each other (G9).
func (s *specSub) work() {
	s.admit()
	for s.run != nil && s.run.idle() {
		s.notice()
		m := s.next()
		if m == nil {
			break
		}
		s.take(m)
		m.act = s.run.script(m)
		m.ends = s.topic.now + m.act.takes
		s.log = append(s.log, specAttempt{s.topic.now, m.seq, m.attempt, m.replays})
		s.starts = append(s.starts, s.topic.now)
		s.admit()
	}
	if s.run != nil && s.handling() == 0 && s.run.over() {
		s.run.end()
	}
}

// handling counts handlers under way.
func (s *specSub) handling() int {
	return countOf(s.held, func(m *specMessage) bool { return m.state == runs })
}

// idle reports whether a worker has no handler under way and may start one. It may be waiting for a retry in place.
func (r *specRun) idle() bool {
	return !r.cancelled && !r.stopped && r.sub.handling() < r.sub.concurrency
}

// over reports whether the Run is to return as soon as no handler is under way.
func (r *specRun) over() bool {
	return r.cancelled || r.stopped || r.sub.count.Closed && len(r.sub.held) == 0
}

// end is the return of Run: with Stop's error, with nil where the subscription is closed and quiet, else with its
// context's (G13). What waited in place for a retry waits in the queue (G33).
func (r *specRun) end() {
	s := r.sub
	var err error
	switch {
	case r.stopped:
		err = errUser
	case !s.count.Closed || len(s.held) > 0:
		err = context.Canceled
	case s.disconnected:
		err = herald.ErrDisconnected
	}
	s.returns = append(s.returns, specReturn{s.topic.now, r.exited, err})
	s.run = nil
	for _, m := range s.held {
		if m.state == parked {
			m.state, m.suspended = waits, true
		}
	}
}

// finish ends a handler. A failure after the end of Run's context doesn't count (G33).
func (r *specRun) finish(m *specMessage) {
	o := m.act.outcome
	if o.kind == byGoexit && r.sub.concurrency == 1 {
		r.exited = true
		r.sub.topic.sights.see("a handler ended by Goexit")
	}
	switch {
	case r.cancelled && o.kind != bySuccess:
		o.kind = byCancel
		r.sub.topic.sights.see("a failure after the end of Run")
	case o.kind == byStop:
		r.stopped = true
		r.sub.topic.sights.see("a handler ended by Stop")
	}
	r.sub.settle(m, o, r.sub.topic.now)
	r.sub.notice() // also where it's the end of Run
}

// events: handlers end; and an idle worker sees what becomes due or expires.
func (r *specRun) events() (es []specEvent) {
	idle := r.idle()
	for _, m := range r.sub.held {
		switch {
		case m.state == runs:
			es = append(es, specEvent{m.ends, func() { r.finish(m) }})
		case idle:
			es = append(es, specEvent{m.nextEvent(r.sub.topic.now), r.sub.work})
		}
	}
	return es
}

// TestPropertyRun is the model with Run: what happens is the same, and when it happens is known to the nanosecond: G4, G7
// to G9, G11 to G14, G16, G20, G22 to G24, G29, G32, G33.
func TestPropertyRun(t *testing.T) {
	seen := sights{}
	sequences := checkProperty(t, 200, 1, func(r *rapid.T) {
		rapid.SyncTest(r, func(r *rapid.T) {
			t := newRunTrial(r, seen)
			for range rapid.IntRange(1, 3).Draw(r, "subscriptions") {
				t.subscribe(t.drawOptions(r))
			}
			for _, u := range t.subs {
				if rapid.Bool().Draw(r, "runs") {
					t.start(u)
				}
			}
			r.Repeat(map[string]func(*rapid.T){
				"publish": t.publish, "publish more": t.publish, "publish again": t.publish, "publish still": t.publish,
				"time": t.time, "more time": t.time, "run": t.run, "cancel": t.cancelRun, "replay": t.replay,
				"pause": t.pause, "pause again": t.pause, "discard": t.discard, "subscribe": t.subscribeOne, "close": t.closeOne,
				"": t.sometimes(t.compare),
			})
			t.wind()
		})
	})
	seen.check(t, sequences, append(commonSights, "a retry that outlasts its Run", "a publisher released by Close",
		"a failure after the end of Run", "a handler ended by Stop", "a handler ended by Goexit")...)
}

// byTime orders attempts that began at once by message: which worker was first is a matter of luck.
func byTime(hs []specAttempt) []specAttempt {
	slices.SortStableFunc(hs, func(a, b specAttempt) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.seq, b.seq), a.replays-b.replays)
	})
	return hs
}
