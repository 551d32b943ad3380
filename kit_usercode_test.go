package herald_test

import (
	"context"
	"strconv"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// A site is a place at which herald calls user code.
type site struct {
	build   func(*scene, herald.View[int]) (herald.View[int], []herald.SubOption)
	trigger func(*scene) // makes own call the user code
	logs    bool         // it's the topic's log handler that is the user code
}

// putError makes a dead-letter function whose error calls the user code when it's looked into for the time after skip.
func putError(skip int32) func(*scene, herald.View[int]) herald.View[int] {
	return func(sc *scene, v herald.View[int]) herald.View[int] {
		return v.DeadLetterTo(func(d herald.DeadLetter[int]) error {
			sc.keep(d)
			return newSceneError(sc, skip)
		})
	}
}

// triggerIfLooked is a trigger for code that may not be called at all: then the scene just goes on.
func triggerIfLooked(trigger func(*scene)) func(*scene) {
	return func(sc *scene) {
		trigger(sc)
		if sc.armed.CompareAndSwap(true, false) {
			close(sc.acted)
		}
	}
}

// A retryFunc is a retry policy of the user's own.
type retryFunc func(failed int, err error) (time.Duration, bool)

func (f retryFunc) Next(failed int, err error) (time.Duration, bool) { return f(failed, err) }

// with makes a site's build function of what is changed about the view, if anything, and options.
func with(view func(*scene, herald.View[int]) herald.View[int], opts func(*scene) []herald.SubOption,
) func(*scene, herald.View[int]) (herald.View[int], []herald.SubOption) {
	return func(sc *scene, v herald.View[int]) (herald.View[int], []herald.SubOption) {
		if view == nil {
			v = v.DeadLetterTo(sc.keep)
		} else {
			v = view(sc, v)
		}
		if opts == nil {
			return v, nil
		}
		return v, opts(sc)
	}
}

func toPut(sc *scene, v herald.View[int]) herald.View[int] { return v.DeadLetterTo(sc.put) }

func capacityOne(*scene) []herald.SubOption { return []herald.SubOption{herald.WithCapacity(1)} }

func noRetry(*scene) []herald.SubOption { return []herald.SubOption{herald.WithRetry(policy.Never())} }

func retryAtOnce(*scene) []herald.SubOption {
	return []herald.SubOption{herald.WithRetry(policy.Schedule{0})}
}

// sites are all of them but handlers.
var sites = map[string]site{
	"filter": {trigger: (*scene).publish, build: with(func(sc *scene, v herald.View[int]) herald.View[int] {
		return v.DeadLetterTo(sc.keep).Filter(func(herald.Message[int]) bool { sc.user(context.Background()); return true })
	}, nil)},
	"key": {trigger: (*scene).publish, build: with(func(sc *scene, v herald.View[int]) herald.View[int] {
		return v.DeadLetterTo(sc.keep).KeyBy(func(herald.Message[int]) string { sc.user(context.Background()); return "k" })
	}, nil)},
	"policy": {trigger: (*scene).publishTwice, build: with(nil, func(sc *scene) []herald.SubOption {
		return append(capacityOne(sc), herald.WithOverflow(overflowFunc(func(policy.Full) policy.Action {
			sc.user(context.Background())
			return policy.DropNewest()
		})))
	})},
	"policy, after a wait": {trigger: (*scene).publishTwice, build: with(nil, func(sc *scene) []herald.SubOption {
		return append(capacityOne(sc), herald.WithOverflow(overflowFunc(func(f policy.Full) policy.Action {
			if f.Waited == 0 {
				return policy.Block(1)
			}
			sc.user(context.Background())
			return policy.DropNewest()
		})))
	})},
	"put, overflow": {trigger: (*scene).publishTwice, build: with(toPut, capacityOne)},
	"put, overflow after a wait": {trigger: (*scene).publishTwice, build: with(toPut, func(sc *scene) []herald.SubOption {
		return append(capacityOne(sc), herald.WithOverflow(policy.Block(1).Else(policy.DeadLetter())))
	})},
	"put, failed": {trigger: (*scene).publishAndFail, build: with(toPut, noRetry)},
	"put, failed in Run": {trigger: func(sc *scene) { sc.runHandler(func(context.Context) error { return errAttempt }) },
		build: with(toPut, noRetry)},
	"put, expired in Stats": {build: with(toPut, nil),
		trigger: func(sc *scene) { sc.publishExpired(func(sc *scene) { sc.own.Stats() }) }},
	"put, expired in Publish": {build: with(toPut, capacityOne),
		trigger: func(sc *scene) { sc.publishExpired((*scene).publish) }},
	"put, expired in TryReceive": {build: with(toPut, nil), trigger: func(sc *scene) {
		sc.publishExpired(func(sc *scene) {
			if d, ok := sc.own.TryReceive(); ok {
				d.Release()
			}
		})
	}},
	"put, filter panics": {trigger: (*scene).publish, build: with(func(sc *scene, v herald.View[int]) herald.View[int] {
		return v.DeadLetterTo(sc.put).Filter(func(m herald.Message[int]) bool { return m.Payload < 0 || m.Payload/(m.Payload-1) > 0 })
	}, nil)},
	"retry policy": {trigger: (*scene).publishAndFail, build: with(nil, func(sc *scene) []herald.SubOption {
		return []herald.SubOption{herald.WithRetry(retryFunc(func(int, error) (time.Duration, bool) {
			sc.user(context.Background())
			return 0, false
		}))}
	})},
	"log, dead": {trigger: (*scene).publishAndFail, logs: true, build: with(
		func(_ *scene, v herald.View[int]) herald.View[int] { return v }, noRetry)},
	"log, retried": {trigger: (*scene).publishAndFail, logs: true, build: with(nil, retryAtOnce)},
}

// looks is how often, at most, herald looks into an error.
const looks = 6

// init adds the sites at which the user code is a method of an error, at the first look into it, the second, and so on.
func init() {
	for i := range int32(looks) {
		again := ", look " + strconv.Itoa(int(i)+1)
		sites["put's error"+again] = site{trigger: triggerIfLooked((*scene).publishAndFail), build: with(putError(i), noRetry)}
		sites["put's overflow error"+again] = site{trigger: triggerIfLooked((*scene).publishTwice), build: with(putError(i), capacityOne)}
		sites["handler's error"+again] = site{build: with(nil, noRetry),
			trigger: triggerIfLooked(func(sc *scene) { sc.publishAndFailWith(newSceneError(sc, i)) })}
	}
}

// handlerSites are those that have a handler's context.
var handlerSites = map[string]site{
	"handler, Step": {trigger: (*scene).stepHandler, build: with(nil, retryAtOnce)},
	"handler, Run":  {trigger: func(sc *scene) { sc.runHandler(sc.handle) }, build: with(nil, retryAtOnce)},
	"handler, Run of 3": {trigger: func(sc *scene) { sc.runHandler(sc.handle) }, build: with(nil, func(sc *scene) []herald.SubOption {
		return append(retryAtOnce(sc), herald.WithConcurrency(3))
	})},
	"handler, RunBatch": {trigger: (*scene).batchHandler, build: with(nil, retryAtOnce)},
	"middleware": {trigger: func(sc *scene) { sc.runHandler(func(context.Context) error { return nil }) },
		build: with(nil, func(sc *scene) []herald.SubOption {
			return []herald.SubOption{herald.WithMiddleware(func(next herald.Next) herald.Next {
				return func(ctx context.Context, m herald.Meta) error {
					sc.user(ctx)
					return next(ctx, m)
				}
			})}
		})},
}

func (sc *scene) handle(ctx context.Context) error {
	sc.user(ctx)
	return nil
}

func (sc *scene) stepHandler() {
	sc.publish()
	_, _ = sc.own.Step(context.Background(), func(ctx context.Context, _ herald.Message[int]) error { return sc.handle(ctx) })
}

// runHandler publishes a message and lets a Run handle it until the user code has acted.
func (sc *scene) runHandler(h func(context.Context) error) {
	sc.untilActed(func(ctx context.Context) {
		_ = sc.own.Run(ctx, func(ctx context.Context, _ herald.Message[int]) error { return h(ctx) })
	})
}

// batchHandler is runHandler with RunBatch.
func (sc *scene) batchHandler() {
	sc.untilActed(func(ctx context.Context) {
		_ = sc.own.RunBatch(ctx, 3, 0, func(ctx context.Context, _ []herald.Message[int]) error { return sc.handle(ctx) })
	})
}

// untilActed publishes a message and lets run handle it until the user code has acted.
func (sc *scene) untilActed(run func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended) // also by Goexit
		run(ctx)
	}()
	sc.publish()
	<-sc.acted
	cancel()
	<-ended
}
