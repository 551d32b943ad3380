package herald_test

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"testing"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// noContext is what a caller who has no context passes, wrongly.
var noContext context.Context

// wantTyped fails unless err is target, as a *herald.Error that names topic and subscription.
func wantTyped(t *testing.T, what string, err, target error, topic, sub string) {
	t.Helper()
	wantErr(t, what, err, target)
	e, ok := errors.AsType[*herald.Error](err)
	if !ok || e.Topic != topic || e.Subscription != sub || e.Op == "" || e.Err == nil || e.Error() == "" {
		t.Errorf("%s: error %#v does not say where", what, err)
	}
}

type crankyPolicy struct{ overflowFunc }

func (crankyPolicy) Validate() error { panic("cranky") }

var badTopicOptions = map[string]herald.TopicOption{
	"zero":                  {},
	"no subscriptions":      herald.WithSubscriptionLimit(0),
	"negative subscription": herald.WithSubscriptionLimit(-1),
	"no TTL":                herald.WithDefaultTTL(0),
	"negative TTL":          herald.WithDefaultTTL(-1),
	"nil logger":            herald.WithLogger(nil),
	"zero logger":           herald.WithLogger(new(slog.Logger)),
}

// A wrong option of a topic is an error that names it, and there's no topic.
func TestBadInput_TopicOptions(t *testing.T) {
	for what, o := range badTopicOptions {
		topic, err := herald.NewTopic[int]("bus", o)
		if topic != nil {
			t.Errorf("%s: a topic", what)
		}
		wantTyped(t, what, err, herald.ErrOption, "bus", "")
	}
}

var (
	nilPointerPolicy *policy.Exponential
	nilFuncPolicy    overflowFunc
	nan              = math.NaN()
)

var badSubOptions = map[string]herald.SubOption{
	"zero":                    {},
	"capacity 0":              herald.WithCapacity(0),
	"capacity -1":             herald.WithCapacity(-1),
	"capacity too large":      herald.WithCapacity(math.MaxInt),
	"concurrency 0":           herald.WithConcurrency(0),
	"concurrency -1":          herald.WithConcurrency(-1),
	"concurrency too large":   herald.WithConcurrency(1<<16 + 1),
	"lease 0":                 herald.WithLease(0),
	"lease -1":                herald.WithLease(-1),
	"age 0":                   herald.WithMaxAge(0),
	"age -1":                  herald.WithMaxAge(-1),
	"nil overflow":            herald.WithOverflow(nil),
	"nil overflow function":   herald.WithOverflow(nilFuncPolicy),
	"zero action":             herald.WithOverflow(policy.Action{}),
	"negative block":          herald.WithOverflow(policy.Block(-1)),
	"else without wait":       herald.WithOverflow(policy.Reject().Else(policy.Reject())),
	"else after no end":       herald.WithOverflow(policy.Block(0).Else(policy.Reject())),
	"zero else":               herald.WithOverflow(policy.Block(1).Else(policy.Action{})),
	"no store":                herald.WithOverflow(policy.DeadLetter()),
	"policy that panics":      herald.WithOverflow(crankyPolicy{func(policy.Full) policy.Action { return policy.Reject() }}),
	"nil retry":               herald.WithRetry(nil),
	"nil retry pointer":       herald.WithRetry(nilPointerPolicy),
	"nil retry function":      herald.WithRetry(retryFunc(nil)),
	"negative attempts":       herald.WithRetry(policy.Exponential{Attempts: -1}),
	"negative base":           herald.WithRetry(policy.Exponential{Base: -1}),
	"max below base":          herald.WithRetry(policy.Exponential{Base: time.Second, Max: time.Millisecond}),
	"NaN factor":              herald.WithRetry(policy.Exponential{Multiplier: nan}),
	"factor below 1":          herald.WithRetry(policy.Exponential{Multiplier: 0.5}),
	"infinite factor":         herald.WithRetry(policy.Exponential{Multiplier: math.Inf(1)}),
	"NaN jitter":              herald.WithRetry(policy.Exponential{Jitter: nan}),
	"jitter above 1":          herald.WithRetry(policy.Exponential{Jitter: 1.5}),
	"negative schedule":       herald.WithRetry(policy.Schedule{1, -1}),
	"nil middleware":          herald.WithMiddleware(nil),
	"second nil middleware":   herald.WithMiddleware(func(next herald.Next) herald.Next { return next }, nil),
	"middleware returns nil":  herald.WithMiddleware(func(herald.Next) herald.Next { return nil }),
	"middleware that panics":  herald.WithMiddleware(func(herald.Next) herald.Next { panic("middleware") }),
	"NaN factor, as pointer":  herald.WithRetry(&policy.Exponential{Multiplier: nan}),
	"minus infinite capacity": herald.WithCapacity(math.MinInt),
}

// A wrong option of a subscription is an error that names topic and subscription, and changes nothing, alone or after
// others that are right.
func TestBadInput_SubOptions(t *testing.T) {
	for what, o := range badSubOptions {
		for _, opts := range [][]herald.SubOption{{o}, {herald.WithCapacity(1), o}} {
			topic := newBus[int](t)
			s, err := subscribeOrPanic(t, topic, what, opts)
			if s != nil {
				t.Errorf("%s: a subscription", what)
			}
			wantTyped(t, what, err, herald.ErrOption, "bus", "s")
			wantEqual(t, herald.TopicStats{Name: "bus"}, topic.Stats())
			subscribe(t, topic, "s")
		}
	}
}

// subscribeOrPanic subscribes, and fails, with no error, if that panics.
func subscribeOrPanic(t *testing.T, topic *herald.Topic[int], what string, opts []herald.SubOption) (*herald.Subscription[int], error) {
	defer func() {
		if v := recover(); v != nil {
			t.Errorf("%s: panic: %v", what, v)
		}
	}()
	return topic.Subscribe("s", opts...)
}

// So is a nil function of a view, also where a right one follows; what makes a good view is not spoilt by it.
func TestBadInput_Views(t *testing.T) {
	topic := newBus[int](t)
	key := func(herald.Message[int]) string { return "" }
	put := func(herald.DeadLetter[int]) error { return nil }
	for what, v := range map[string]herald.View[int]{
		"filter":             topic.Filter(nil),
		"second filter":      topic.Filter(allow).Filter(nil),
		"filter, then right": topic.Filter(nil).Filter(allow),
		"key":                topic.KeyBy(nil),
		"key, then right":    topic.KeyBy(nil).KeyBy(key),
		"put":                topic.DeadLetterTo(nil),
		"put, then right":    topic.Filter(allow).DeadLetterTo(nil).DeadLetterTo(put),
		"all":                topic.Filter(nil).KeyBy(nil).DeadLetterTo(nil),
	} {
		s, err := v.Subscribe("s")
		if s != nil {
			t.Errorf("%s: a subscription", what)
		}
		wantTyped(t, what, err, herald.ErrOption, "bus", "s")
	}
	good := topic.Filter(allow)
	good.Filter(nil)
	good.KeyBy(nil)
	subscribe(t, good, "s")
	_, err := herald.View[int]{}.Subscribe("s")
	wantTyped(t, "zero View", err, herald.ErrOption, "", "s")
	_, err = herald.View[int]{}.Filter(allow).KeyBy(key).DeadLetterTo(put).Subscribe("s")
	wantTyped(t, "zero View, dressed up", err, herald.ErrOption, "", "s")
}

var badPublishOptions = map[string]herald.PublishOption{
	"zero":             {},
	"priority below":   herald.WithPriority(herald.Low - 1),
	"priority above":   herald.WithPriority(herald.Critical + 1),
	"priority -128":    herald.WithPriority(-128),
	"priority 127":     herald.WithPriority(127),
	"negative TTL":     herald.WithTTL(-1),
	"negative delay":   herald.WithDelay(-1),
	"empty ID":         herald.WithID(""),
	"empty header key": herald.WithHeader("", "v"),
	"too many headers": herald.WithHeaders(headersOf(65, 1000)),
	"long headers":     herald.WithHeaders(headersOf(1, 8<<10+1)),
}

// A wrong option of a publish is an error, before or after others that are right, and nobody gets the message.
func TestBadInput_PublishOptions(t *testing.T) {
	topic := newBus[int](t)
	s := subscribe(t, topic.Filter(func(herald.Message[int]) bool { t.Error("offered"); return true }), "s")
	for what, o := range badPublishOptions {
		good := herald.WithKey("k")
		for _, opts := range [][]herald.PublishOption{{o}, {good, o}, {o, good}} {
			wantTyped(t, what, topic.Publish(t.Context(), 1, opts...), herald.ErrOption, "bus", "")
			n, err := topic.PublishBatch(t.Context(), []int{1}, opts...)
			wantTyped(t, what, err, herald.ErrOption, "bus", "")
			if n != 0 {
				t.Errorf("%s: %d accepted", what, n)
			}
		}
	}
	wantTally(t, s, tally{})
	if n := topic.Stats().Published; n != 0 {
		t.Errorf("%d published", n)
	}
}

// A nil context or handler is an error, and nothing has happened: nobody is consuming, nothing is closed.
func TestBadInput_NilContextAndHandler(t *testing.T) {
	topic, box := newBus[int](t), letterBox[int]{}
	s := subscribe(t, topic.DeadLetterTo(box.put), "s")
	nothing := func(context.Context, herald.Message[int]) error { return nil }
	publishAll(t, topic, 1)
	stepWith(t, s, func(context.Context, herald.Message[int]) error { return policy.Permanent(errAttempt) })
	publishAll(t, topic, 2)
	for what, err := range map[string]error{
		"Publish":      topic.Publish(noContext, 1),
		"PublishBatch": second(topic.PublishBatch(noContext, []int{1})),
		"Topic.Drain":  topic.Drain(noContext),
	} {
		wantTyped(t, what, err, herald.ErrOption, "bus", "")
	}
	for what, err := range map[string]error{
		"Run, ctx":      s.Run(noContext, nothing),
		"Run, handler":  s.Run(t.Context(), nil),
		"Step, ctx":     second(s.Step(noContext, nothing)),
		"Step, handler": second(s.Step(t.Context(), nil)),
		"Receive":       second(s.Receive(noContext)),
		"WaitIdle":      s.WaitIdle(noContext),
		"Drain":         s.Drain(noContext),
		"Replay":        box.list()[0].Replay(noContext),
	} {
		wantTyped(t, what, err, herald.ErrOption, "bus", "s")
	}
	for range s.Messages(noContext) {
		t.Error("Messages yields")
	}
	wantTyped(t, "Err", s.Err(), herald.ErrOption, "bus", "s")
	if s.Stats().Closed || topic.Stats().Closed {
		t.Error("closed")
	}
	wantEqual(t, []int{2}, takeAll(t, s))
}

func second[T any](_ T, err error) error { return err }
