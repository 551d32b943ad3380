package herald_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing/synctest"
	"time"

	godiff "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/heraldbus/herald"
)

// A runTrial is a trial in which subscriptions run by themselves: on the root goroutine happens only what is done from
// outside, each thing at a moment of its own.
type runTrial struct {
	*trial
	ctx   context.Context // of everything, ends with the trial
	pubs  []*runPublish
	plans map[uint64][]specAct // what handlers do with a message, by Seq; protected by mu
	calm  bool                 // from now on they succeed; protected by mu
}

// A runPublish is a Publish on a goroutine of its own, and its model.
type runPublish struct {
	spec *specPublish
	done bool // this and the rest protected by the trial's mu
	at   time.Duration
	err  error
}

func newRunTrial(r *rapid.T, seen sights) *runTrial {
	ctx, cancel := context.WithCancel(context.Background())
	r.Cleanup(func() { // after the topic's end
		cancel()
		time.Sleep(time.Hour) // handlers under way; as the root goroutine ends, so does time
	})
	n := nature{
		plain:  rapid.Bool().Draw(r, "plain"),
		mortal: rapid.Bool().Draw(r, "mortal"),
		blocks: rapid.Bool().Draw(r, "blocks"),
	}
	t := &runTrial{trial: newTrial(r, seen, n), ctx: ctx, plans: map[uint64][]specAct{}}
	t.before = func(*rapid.T) { t.moment() }
	return t
}

// moment moves on to a moment at which nothing else happens: all else happens whole units after an earlier one, or at
// the end of a handler, which takes a time all its own.
func (t *runTrial) moment() {
	t.odd++
	t.pass(t.odd)
}

func (t *runTrial) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
	t.spec.pass(t.spec.now + d)
}

func (t *runTrial) time(r *rapid.T) {
	t.pass(t.unit(rapid.IntRange(1, 4).Draw(r, "units")))
}

func (t *runTrial) compare() {
	synctest.Wait()
	t.trial.compare()
	synctest.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.pubs {
		switch {
		case p.done != (p.spec.open == 0):
			t.Errorf("at %v, Publish of %d has returned: %v, %d wait", t.spec.now, p.spec.seq, p.done, p.spec.open)
		case p.done && p.at != p.spec.returned:
			t.Errorf("Publish of %d returned at %v, want %v", p.spec.seq, p.at, p.spec.returned)
		case p.done:
			t.checkPublish(p.err, p.spec)
		}
	}
	t.pubs = slices.DeleteFunc(t.pubs, func(p *runPublish) bool { return p.done })
	for _, u := range t.subs {
		if got, want := byTime(u.log), byTime(u.spec.log); !slices.Equal(got, want) {
			t.Errorf("handled by %q: -want +got\n%s", u.Name(), godiff.Diff(want, got, godiff.AllowUnexported(specAttempt{})))
		}
		u.log, u.spec.log = nil, nil
		if !slices.EqualFunc(u.returns, u.spec.returns, sameReturn) {
			t.Errorf("Run of %q: got %v, want %v", u.Name(), u.returns, u.spec.returns)
		}
		u.returns, u.spec.returns = nil, nil
	}
}

func sameReturn(got, want specReturn) bool {
	return got.at == want.at && got.exited == want.exited &&
		(want.exited || errors.Is(got.err, want.err) && (got.err == nil) == (want.err == nil))
}

// publish publishes a few messages.
func (t *runTrial) publish(r *rapid.T) {
	for range rapid.SampledFrom([]int{1, 1, 1, 6}).Draw(r, "messages") {
		t.publishOne(r)
	}
}

func (t *runTrial) publishOne(r *rapid.T) {
	t.moment()
	e := t.drawEnvelope(r, 1)
	m := e.message
	m.payload = e.payloads[0]
	plan := rapid.SliceOfN(rapid.Custom(drawAct), 0, 4).Draw(r, "plan")
	if t.plain && rapid.IntRange(0, 4).Draw(r, "failing") > 0 {
		plan = nil
	}
	t.mu.Lock()
	t.plans[t.spec.seq+1] = plan
	t.mu.Unlock()
	p := &runPublish{spec: t.spec.publish(m, t.spec.now+e.deadline)}
	t.pubs = append(t.pubs, p)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), e.deadline)
		defer cancel()
		err := t.topic.Publish(ctx, m.payload, e.options...)
		t.mu.Lock()
		defer t.mu.Unlock()
		p.done, p.at, p.err = true, time.Since(t.spec.begun), err
	}()
	synctest.Wait()
}

func drawAct(r *rapid.T) specAct {
	return specAct{
		takes:   time.Duration(rapid.IntRange(0, 2).Draw(r, "takes")) * time.Second,
		outcome: drawOutcome(r, bySuccess, bySuccess, byError, byError, byPanic, byPermanent, byRetryAfter, byStop, byGoexit),
	}
}

// act is what the handler of a subscription does when it's handed a message again, for the n-th time. mu is held.
func (t *runTrial) act(sub *trialSub, seq uint64, replays, handed int) (a specAct) {
	if plan := t.plans[seq]; !t.calm && handed <= len(plan) {
		a = plan[handed-1]
	}
	a.takes += fractionOf(sub.number, seq, uint64(replays), uint64(handed))
	return a
}

// fractionOf makes a time of up to a second out of numbers, mostly another for others.
func fractionOf(ns ...uint64) time.Duration {
	hash := uint64(1)
	for _, n := range ns {
		hash = (hash ^ n) * 0x9e3779b97f4a7c15
		hash ^= hash >> 29
	}
	return 1 + time.Duration(hash%uint64(time.Second))
}

// run starts a Run, if there's none.
func (t *runTrial) run(r *rapid.T) {
	t.moment()
	if u := t.drawSub(r, func(u *trialSub) bool { return u.spec.run == nil }); u != nil {
		t.start(u)
	}
}

func (t *runTrial) start(u *trialSub) {
	ctx, cancel := context.WithCancel(t.ctx)
	u.cancel = cancel
	u.spec.start(func(m *specMessage) specAct {
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.act(u, m.seq, m.replays, m.handed)
	})
	go func() {
		end := specReturn{exited: true}
		defer func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			end.at = time.Since(t.spec.begun)
			u.returns = append(u.returns, end)
		}()
		err := u.Run(ctx, t.handler(u))
		end = specReturn{err: err}
	}()
	synctest.Wait()
}

// handler records what it's handed, and does as planned.
func (t *runTrial) handler(u *trialSub) herald.Handler[int] {
	return func(_ context.Context, m herald.Message[int]) error {
		t.mu.Lock()
		id := [2]uint64{m.Seq, uint64(m.Replays())}
		u.handed[id]++
		a := t.act(u, m.Seq, m.Replays(), u.handed[id])
		u.log = append(u.log, specAttempt{time.Since(t.spec.begun), m.Seq, m.Attempt, m.Replays()})
		t.mu.Unlock()
		time.Sleep(a.takes)
		return a.end(nil)
	}
}

// cancelRun ends the context of a Run.
func (t *runTrial) cancelRun(r *rapid.T) {
	t.moment()
	u := t.drawSub(r, func(u *trialSub) bool { return u.spec.run != nil })
	if u == nil || !rapid.Bool().Draw(r, "really") {
		return
	}
	u.cancel()
	synctest.Wait()
	u.spec.run.cancelled = true
	u.spec.work()
}

// wind closes the topic while handlers run, and lets everything come to its end (G33).
func (t *runTrial) wind() {
	t.moment()
	t.topic.Close()
	synctest.Wait()
	t.spec.close()
	t.compare()
	t.drain(t.topic, t.spec.closing, t.fraction())

	t.mu.Lock()
	t.calm = true
	t.mu.Unlock()
	for _, u := range t.subs {
		u.Resume()
		u.spec.resume()
	}
	t.pass(t.unit(5)) // what handlers began before
	t.compare()
	for _, u := range t.subs {
		if u.spec.run == nil {
			t.start(u)
		}
	}
	for _, u := range t.subs {
		t.drain(u, []*specSub{u.spec}, 0)
	}
	t.drain(t.topic, t.spec.closing, 0)
	t.compare()
	for _, u := range t.subs {
		if s := u.Stats(); s.Queued+s.Delayed+s.InFlight > 0 || u.spec.run != nil {
			t.Errorf("%q is not quiet after all: %+v", u.Name(), s)
		}
	}
}

// drain waits for so long, or without end, until all is quiet.
func (t *runTrial) drain(what interface{ Drain(context.Context) error }, subs []*specSub, wait time.Duration) {
	ctx, deadline := context.Background(), time.Duration(math.MaxInt64)
	if wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, wait)
		defer cancel()
		deadline = t.spec.now + wait
	}
	err := what.Drain(ctx)
	synctest.Wait()
	t.checkDrain(err, t.spec.drain(subs, deadline))
}
