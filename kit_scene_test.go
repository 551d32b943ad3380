package herald_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// A scene is a topic with two subscriptions, of which own calls user code at one site. Where the scene is armed, that
// code acts, once.
type scene struct {
	topic       *herald.Topic[int]
	own, other  *herald.Subscription[int]
	ownLetter   herald.DeadLetter[int] // zero where the site allows no store
	otherLetter herald.DeadLetter[int]
	act         func(ctx context.Context, sc *scene)
	armed       atomic.Bool
	acted       chan struct{} // closed once act has ended, in whatever way
}

func newScene(t *testing.T, s site, act func(context.Context, *scene)) *scene {
	t.Helper()
	sc := &scene{act: act, acted: make(chan struct{})}
	log := slog.New(slog.DiscardHandler)
	if s.logs {
		log = slog.New(sceneLog{sc})
	}
	var err error
	if sc.topic, err = herald.NewTopic[int]("scene", herald.WithLogger(log)); err != nil {
		t.Fatal(err)
	}
	keepOther := func(d herald.DeadLetter[int]) error { sc.otherLetter = d; return nil }
	sc.other = subscribe(t, sc.topic.DeadLetterTo(keepOther), "other")
	view, opts := s.build(sc, sc.topic.Filter(allow))
	sc.own = subscribe(t, view, "own", opts...)
	publishAll(t, sc.topic, -1)
	permanent := func(context.Context, herald.Message[int]) error { return policy.Permanent(errAttempt) }
	stepWith(t, sc.own, permanent)
	stepWith(t, sc.other, permanent)
	return sc
}

// user is what all user code calls.
func (sc *scene) user(ctx context.Context) {
	if !sc.armed.CompareAndSwap(true, false) {
		return
	}
	defer close(sc.acted)
	sc.act(ctx, sc)
}

// play arms the scene and triggers its site.
func (sc *scene) play(s site) {
	sc.armed.Store(true)
	s.trigger(sc)
	<-sc.acted
}

func (sc *scene) publish() { _ = sc.topic.Publish(context.Background(), 1) }

func (sc *scene) publishTwice() {
	sc.publish()
	sc.publish()
}

func (sc *scene) publishAndFail() { sc.publishAndFailWith(errAttempt) }

func (sc *scene) publishAndFailWith(err error) {
	sc.publish()
	_, _ = sc.own.Step(context.Background(), func(context.Context, herald.Message[int]) error { return err })
}

// publishExpired leaves an expired message in own, and lets notice find it.
func (sc *scene) publishExpired(notice func(*scene)) {
	_ = sc.topic.Publish(context.Background(), 1, herald.WithTTL(1))
	for {
		select {
		case <-sc.acted:
			return
		default:
			notice(sc)
		}
	}
}

func (sc *scene) keep(d herald.DeadLetter[int]) error {
	if sc.ownLetter.Subscription == "" {
		sc.ownLetter = d
	}
	return nil
}

func (sc *scene) put(d herald.DeadLetter[int]) error {
	sc.keep(d)
	sc.user(context.Background())
	return nil
}

// A sceneError calls the user code where somebody looks into it, but the first few times.
type sceneError struct {
	sc   *scene
	left *atomic.Int32
}

func newSceneError(sc *scene, skip int32) error {
	e := sceneError{sc, new(atomic.Int32)}
	e.left.Store(skip)
	return e
}

func (e sceneError) look() bool {
	if e.left.Add(-1) < 0 {
		e.sc.user(context.Background())
	}
	return false
}

func (e sceneError) Error() string { e.look(); return "scene" }

func (e sceneError) Is(error) bool { return e.look() }

func (e sceneError) As(any) bool { return e.look() }

func (e sceneError) Unwrap() []error { e.look(); return nil }

// sceneLog is a log handler that is the user code.
type sceneLog struct{ sc *scene }

func (l sceneLog) Enabled(context.Context, slog.Level) bool {
	l.sc.user(context.Background())
	return true
}

func (l sceneLog) Handle(ctx context.Context, _ slog.Record) error { l.sc.user(ctx); return nil }

func (l sceneLog) WithAttrs([]slog.Attr) slog.Handler { return l }

func (l sceneLog) WithGroup(string) slog.Handler { return l }
