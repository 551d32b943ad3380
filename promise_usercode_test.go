package herald_test

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"testing"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// calls are what user code, or somebody else meanwhile, may do to a topic and its subscriptions.
var calls = map[string]func(ctx context.Context, sc *scene){
	"Publish":      func(ctx context.Context, sc *scene) { _ = sc.topic.Publish(ctx, 2) },
	"PublishBatch": func(ctx context.Context, sc *scene) { _, _ = sc.topic.PublishBatch(ctx, []int{2, 3}) },
	"Topic.Stats":  func(_ context.Context, sc *scene) { sc.topic.Stats() },
	"Subscriptions": func(_ context.Context, sc *scene) {
		for range sc.topic.Subscriptions() {
		}
	},
	"Subscribe": func(_ context.Context, sc *scene) {
		if s, err := sc.topic.Subscribe("new"); err == nil {
			s.Close()
		}
	},
	"Topic.Close":  func(_ context.Context, sc *scene) { sc.topic.Close() },
	"Stats":        func(_ context.Context, sc *scene) { sc.own.Stats() },
	"other Stats":  func(_ context.Context, sc *scene) { sc.other.Stats() },
	"Close":        func(_ context.Context, sc *scene) { sc.own.Close() },
	"other Close":  func(_ context.Context, sc *scene) { sc.other.Close() },
	"Pause":        func(_ context.Context, sc *scene) { sc.own.Pause(); sc.own.Resume() },
	"other Pause":  func(_ context.Context, sc *scene) { sc.other.Pause(); sc.other.Resume() },
	"Discard":      func(_ context.Context, sc *scene) { sc.own.Discard() },
	"Step":         func(ctx context.Context, sc *scene) { sc.step(ctx, sc.own) },
	"other Step":   func(ctx context.Context, sc *scene) { sc.step(ctx, sc.other) },
	"TryReceive":   func(_ context.Context, sc *scene) { sc.tryReceive(sc.own) },
	"Replay":       func(ctx context.Context, sc *scene) { _ = sc.ownLetter.Replay(ctx) },
	"other Replay": func(ctx context.Context, sc *scene) { _ = sc.otherLetter.Replay(ctx) },
	"Err":          func(_ context.Context, sc *scene) { _ = sc.own.Err() },
}

func (sc *scene) step(ctx context.Context, s *herald.Subscription[int]) {
	_, _ = s.Step(ctx, func(context.Context, herald.Message[int]) error { return nil })
}

func (sc *scene) tryReceive(s *herald.Subscription[int]) {
	if d, ok := s.TryReceive(); ok {
		_ = d.Ack()
	}
}

// allSites are the sites with and without a handler's context.
func allSites() map[string]site {
	all := maps.Clone(sites)
	maps.Copy(all, handlerSites)
	return all
}

// checkAlive fails unless the scene works as ever: the account is sound, nobody waits, and what is published is
// handled, by a Run that ends.
func (sc *scene) checkAlive(t *testing.T) {
	t.Helper()
	returns(t, "the topic afterwards", func() {
		n := sc.own.Stats()
		checkSound(t, n)
		checkSound(t, sc.other.Stats())
		if n.Waiting != 0 || len(n.Running) != 0 {
			t.Errorf("somebody is left: %+v", n)
		}
		sc.own.Discard()
		for _, s := range []*herald.Subscription[int]{sc.own, sc.other} {
			open, before := !s.Stats().Closed, s.Stats().Delivered
			if open {
				_ = sc.topic.Publish(context.Background(), -2)
				s.Close()
			}
			if err := s.Run(context.Background(), func(context.Context, herald.Message[int]) error { return nil }); err != nil {
				t.Errorf("Run of %s = %v", s.Name(), err)
			}
			if open && s.Stats().Delivered == before {
				t.Errorf("%s delivers nothing: %+v", s.Name(), s.Stats())
			}
		}
	})
}

// User code never runs under a lock: while it runs, somebody else can do whatever they like with topic and
// subscription (G15).
func TestG15_UserCodeHoldsNoLock(t *testing.T) {
	for name, site := range allSites() {
		t.Run(name, func(t *testing.T) {
			for what, call := range calls {
				sc := newScene(t, site, func(_ context.Context, sc *scene) {
					done := make(chan struct{})
					go func() {
						defer close(done)
						call(context.Background(), sc)
					}()
					<-done
				})
				if !returns(t, what+" meanwhile", func() { sc.play(site) }) {
					return // the rest of this site would hang as well
				}
				sc.checkAlive(t)
			}
		})
	}
}

// A panic in user code goes no further: not to the publisher, not to who asks for statistics, and not to others (G15).
func TestG15_PanicsGoNoFurther(t *testing.T) {
	for name, site := range allSites() {
		for what, value := range map[string]any{"text": "user", "error": errAttempt, "nil": nil} {
			t.Run(name+"/"+what, func(t *testing.T) {
				sc := newScene(t, site, func(context.Context, *scene) { panic(value) })
				var escaped any
				if returns(t, "the panic", func() {
					defer func() { escaped = recover() }()
					sc.play(site)
				}) {
					sc.checkAlive(t)
				}
				if escaped != nil {
					t.Errorf("panic %v reached the caller", escaped)
				}
			})
		}
	}
}

// runtime.Goexit in user code, such as t.FailNow, ends the goroutine that called it, but leaves nothing locked or
// stuck, and nobody waiting (G15).
func TestG15_GoexitLeavesNothingStuck(t *testing.T) {
	for name, site := range allSites() {
		t.Run(name, func(t *testing.T) {
			sc := newScene(t, site, func(context.Context, *scene) { runtime.Goexit() })
			if returns(t, "Goexit", func() { sc.play(site) }) {
				sc.checkAlive(t)
			}
		})
	}
}

// A panic in a filter or key function makes the message Dead(FilterFailed) for that subscription, with the panic's
// value; publisher and others go on (G15).
func TestG15_FilterAndKeyPanics(t *testing.T) {
	panicOn1 := func(m herald.Message[int]) {
		if m.Payload == 1 {
			panic(errAttempt)
		}
	}
	for what, view := range map[string]func(*herald.Topic[int]) herald.View[int]{
		"filter": func(topic *herald.Topic[int]) herald.View[int] {
			return topic.Filter(func(m herald.Message[int]) bool { panicOn1(m); return true })
		},
		"second filter": func(topic *herald.Topic[int]) herald.View[int] {
			return topic.Filter(allow).Filter(func(m herald.Message[int]) bool { panicOn1(m); return true })
		},
		"key": func(topic *herald.Topic[int]) herald.View[int] {
			return topic.Filter(allow).KeyBy(func(m herald.Message[int]) string { panicOn1(m); return "k" })
		},
	} {
		topic, box := newBus[int](t), letterBox[int]{}
		elder := subscribe(t, topic, "elder")
		s := subscribe(t, view(topic).DeadLetterTo(box.put), "s", herald.WithCapacity(1))
		bare := subscribe(t, view(topic), "bare", herald.WithCapacity(1))
		younger := subscribe(t, topic, "younger")
		publishAll(t, topic, 1, 2)
		for _, s := range []*herald.Subscription[int]{s, bare} {
			wantTally(t, s, tally{Offered: 2, Accepted: 2, Dead: 1, Queued: 1})
			wantEqual(t, herald.DeadCounts{FilterFailed: 1}, s.Stats().DeadBy)
			wantEqual(t, []int{2}, takeAll(t, s))
		}
		wantEqual(t, []int{1, 2}, takeAll(t, elder))
		wantEqual(t, []int{1, 2}, takeAll(t, younger))
		d := box.list()[0]
		e, ok := errors.AsType[*herald.PanicError](d.Err)
		if !ok || e.Value != errAttempt || len(e.Stack) == 0 || !errors.Is(d.Err, errAttempt) || d.Reason != herald.FilterFailed {
			t.Errorf("%s: letter's reason is %v, its error %v", what, d.Reason, d.Err)
		}
	}
}

// A publish that ends by Goexit while it has left its message in another's line takes it back (G15).
func TestG15_GoexitTakesTheMessageBack(t *testing.T) {
	topic := newBus[int](t)
	full := subscribe(t, topic, "full", herald.WithCapacity(1), herald.WithOverflow(policy.Block(0)))
	subscribe(t, topic.Filter(func(m herald.Message[int]) bool {
		if m.Payload == 2 {
			runtime.Goexit()
		}
		return true
	}), "exits")
	publishAll(t, topic, 1)
	returns(t, "Goexit", func() { _ = topic.Publish(t.Context(), 2) })
	if n := full.Stats().Waiting; n != 0 {
		t.Errorf("%d wait that are no more", n)
	}
	wantEqual(t, []int{1}, takeAll(t, full))
}
