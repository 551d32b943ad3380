package herald

import (
	"context"
	"iter"
	"log/slog"
	"math"
	"runtime"
	"time"
)

// slowWait is how often a publish that waits says for whom.
const slowWait = 5 * time.Second

// wait waits until every waiter has its answer, and returns the refusals.
func (p *publishing) wait(ctx context.Context) []Refusal {
	if p.open.Add(-1) > 0 {
		runtime.Gosched() // where the consumer is ready to run, it makes room before anything is set up
	}
	if p.open.Load() > 0 {
		p.worker = workerOf(ctx)
		p.sit(ctx)
	}
	var bad []Refusal
	for _, w := range p.waiters {
		if w.outcome == refused {
			bad = append(bad, Refusal{w.core.name, w.err})
		}
	}
	return bad
}

// sit waits for the answers, minding ctx, each Block's time, what is due
// meanwhile, and the log.
func (p *publishing) sit(ctx context.Context) {
	stalls.enter(p)
	defer stalls.leave(p) // also when a policy calls Goexit
	report := later(clock(), slowWait)
	timer := time.NewTimer(p.untilNext(report))
	defer timer.Stop()
	for {
		select {
		case <-p.token:
		case <-ctx.Done():
			p.giveUp(ended(ctx))
			for p.open.Load() > 0 { // somebody is about to answer
				<-p.token
			}
		case <-timer.C:
		}
		if p.open.Load() == 0 {
			return
		}
		now := clock()
		p.lapse(now)
		p.watch(now)
		stalls.check()
		if report <= now {
			report = later(now, slowWait)
			p.report(now)
		}
		timer.Reset(p.untilNext(report))
	}
}

// lapse decides about the waits whose Block's time is up.
func (p *publishing) lapse(now int64) {
	for _, w := range p.waiters {
		if w.until != 0 && w.until <= now {
			w.core.lapse(w)
		}
	}
}

// watch lets time do its work in the subscriptions that p concerns: all
// their workers may be waiting, so that nobody else would notice.
func (p *publishing) watch(now int64) {
	for c := range p.cores() {
		c.mu.Lock()
		if next := c.lane.NextEvent(); next != 0 && next <= now {
			c.sweep()
		}
		c.unlock()
	}
}

// cores yields the subscriptions that p waits for, and those whose handlers
// it's called in.
func (p *publishing) cores() iter.Seq[*core] {
	return func(yield func(*core) bool) {
		for _, w := range p.waiters {
			if !yield(w.core) {
				return
			}
		}
		for w := p.worker; w != nil; w = w.parent {
			if !yield(w.core) {
				return
			}
		}
	}
}

// untilNext is how long until something is due: the end of a Block's time,
// an event in one of the subscriptions, or the next report.
func (p *publishing) untilNext(report int64) time.Duration {
	p.alarm.Store(math.MaxInt64) // until we know, everything is too early
	next := report
	for _, w := range p.waiters {
		if w.until != 0 {
			next = min(next, w.until)
		}
	}
	for c := range p.cores() {
		c.mu.Lock()
		if e := c.lane.NextEvent(); e != 0 {
			next = min(next, e)
		}
		c.mu.Unlock() // a look only; unlock would wake p itself
	}
	p.alarm.Store(next)
	return time.Duration(next - clock())
}

// giveUp takes the message back from wherever it still waits.
func (p *publishing) giveUp(err error) {
	for _, w := range p.waiters {
		c := w.core
		c.mu.Lock()
		if !w.waits {
			c.unlock()
			continue
		}
		it := w.item
		c.waiting.remove(w, refused, err)
		c.refuse(it)
		c.unlock()
		p.answer()
	}
}

// report logs for which handlers p waits.
func (p *publishing) report(now int64) {
	for _, w := range p.waiters {
		c := w.core
		c.mu.Lock()
		waits := w.waits
		attrs := []slog.Attr{
			slog.String("topic", c.topic),
			slog.String("subscription", c.name),
			slog.Duration("waited", time.Duration(now-w.since)),
			slog.Bool("paused", c.paused),
			slog.Bool("consumed", c.consumer.kind != nobody || c.consumer.pulls > 0),
		}
		if r, ok := c.oldestRunning(); ok {
			attrs = append(attrs, slog.Uint64("handling", r.Seq), slog.Duration("for", c.began.at(now).Sub(r.Since)))
		}
		c.unlock()
		if waits {
			c.logAttrs(slog.LevelWarn, "publish waits for room", func() []slog.Attr { return attrs })
		}
	}
}
