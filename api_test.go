package herald_test

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"testing"
	"time"
	"unsafe"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/dlq"
	"github.com/heraldbus/herald/middleware"
	"github.com/heraldbus/herald/policy"
)

// The contract with callers, as the compiler checks it: whoever changes a
// signature meets it here first, and writes a decision about it.
type (
	msg  = herald.Message[int]
	top  = herald.Topic[int]
	sub  = herald.Subscription[int]
	view = herald.View[int]
	dead = herald.DeadLetter[int]
	del  = herald.Delivery[int]
	ctx  = context.Context
)

var (
	_ func(string, ...herald.TopicOption) (*top, error)                 = herald.NewTopic[int]
	_ func(*top) string                                                 = (*top).Name
	_ func(*top, ctx, int, ...herald.PublishOption) error               = (*top).Publish
	_ func(*top, ctx, []int, ...herald.PublishOption) (int, error)      = (*top).PublishBatch
	_ func(*top, string, ...herald.SubOption) (*sub, error)             = (*top).Subscribe
	_ func(*top, func(msg) bool) view                                   = (*top).Filter
	_ func(*top, func(msg) string) view                                 = (*top).KeyBy
	_ func(*top, func(dead) error) view                                 = (*top).DeadLetterTo
	_ func(*top) iter.Seq[herald.SubStats]                              = (*top).Subscriptions
	_ func(*top) herald.TopicStats                                      = (*top).Stats
	_ func(*top) error                                                  = (*top).Close
	_ func(*top, ctx) error                                             = (*top).Drain
	_ func(view, func(msg) bool) view                                   = view.Filter
	_ func(view, func(msg) string) view                                 = view.KeyBy
	_ func(view, func(dead) error) view                                 = view.DeadLetterTo
	_ func(view, string, ...herald.SubOption) (*sub, error)             = view.Subscribe
	_ func(*sub, ctx, herald.Handler[int]) error                        = (*sub).Run
	_ func(*sub, ctx, herald.Handler[int]) (bool, error)                = (*sub).Step
	_ func(*sub, ctx, int, time.Duration, func(ctx, []msg) error) error = (*sub).RunBatch
	_ func(*sub, ctx) (*del, error)                                     = (*sub).Receive
	_ func(*sub) (*del, bool)                                           = (*sub).TryReceive
	_ func(*sub, ctx) iter.Seq[*del]                                    = (*sub).Messages
	_ func(*sub) string                                                 = (*sub).Name
	_ func(*sub) error                                                  = (*sub).Err
	_ func(*sub)                                                        = (*sub).Pause
	_ func(*sub)                                                        = (*sub).Resume
	_ func(*sub, ctx) error                                             = (*sub).WaitIdle
	_ func(*sub) herald.SubStats                                        = (*sub).Stats
	_ func(*sub) error                                                  = (*sub).Close
	_ func(*sub, ctx) error                                             = (*sub).Drain
	_ func(*sub) int                                                    = (*sub).Discard
	_ func(*del) error                                                  = (*del).Ack
	_ func(*del, error) error                                           = (*del).Nack
	_ func(*del, time.Duration) error                                   = (*del).Extend
	_ func(*del) error                                                  = (*del).Release
	_ func(dead, ctx) error                                             = dead.Replay
	_ func(herald.Meta) string                                          = herald.Meta.ID
	_ func(herald.Meta) string                                          = herald.Meta.Topic
	_ func(herald.Meta) time.Time                                       = herald.Meta.Time
	_ func(herald.Meta) time.Time                                       = herald.Meta.Expires
	_ func(herald.Meta) herald.Headers                                  = herald.Meta.Headers
	_ func(herald.Meta) int                                             = herald.Meta.Replays
	_ func(herald.Meta, herald.Meta) bool                               = herald.Meta.Equal
	_ func(map[string]string) herald.Headers                            = herald.NewHeaders
	_ func(herald.Headers, string) (string, bool)                       = herald.Headers.Lookup
	_ func(herald.Headers, string) string                               = herald.Headers.Get
	_ func(herald.Headers) iter.Seq2[string, string]                    = herald.Headers.All
	_ func(herald.Headers) int                                          = herald.Headers.Len
	_ func(herald.Headers, herald.Headers) bool                         = herald.Headers.Equal
	_ func(int) *dlq.Queue[int]                                         = dlq.New[int]
	_ func(*dlq.Queue[int], dead) error                                 = (*dlq.Queue[int]).Put
	_ func(*dlq.Queue[int]) int                                         = (*dlq.Queue[int]).Len
	_ func(*dlq.Queue[int]) uint64                                      = (*dlq.Queue[int]).Evicted
	_ func(*dlq.Queue[int]) iter.Seq[dead]                              = (*dlq.Queue[int]).All
	_ func(*dlq.Queue[int], ctx, func(dead) bool) (int, error)          = (*dlq.Queue[int]).Replay
	_ func(*dlq.Queue[int], func(dead) bool) int                        = (*dlq.Queue[int]).Purge
	_ func(time.Duration) herald.Middleware                             = middleware.Timeout
	_ func(int) herald.Middleware                                       = middleware.Dedupe
	_ func(*slog.Logger) herald.Middleware                              = middleware.Log
	_ policy.Overflow                                                   = policy.Block(time.Second).Else(policy.DropOldest())
	_ policy.Retry                                                      = policy.Exponential{Attempts: 3, Base: 1, Max: 2, Multiplier: 2, Jitter: 0.5}
	_ policy.Retry                                                      = policy.Schedule{time.Second}
	_ policy.Retry                                                      = policy.Never()
	_ []error                                                           = []error{policy.Permanent(nil), policy.RetryAfter(0, nil), policy.Stop(nil)}
	_ func(next herald.Next) herald.Next                                = middleware.Timeout(1)
	_ func(ctx, herald.Meta) error                                      = herald.Next(nil)
	_ herald.Priority                                                   = policy.Priority(herald.Low)
	_ []herald.TopicOption                                              = []herald.TopicOption{herald.WithSubscriptionLimit(1), herald.WithDefaultTTL(1), herald.WithoutTime(), herald.WithPublisherValues(), herald.WithLogger(slog.Default())}
	_ []herald.PublishOption                                            = []herald.PublishOption{herald.WithKey("k"), herald.WithPriority(herald.High), herald.WithTTL(1), herald.WithDelay(1), herald.WithHeader("a", "b"), herald.WithHeaders(herald.Headers{}), herald.WithID("id")}
	_ []herald.SubOption                                                = []herald.SubOption{herald.WithCapacity(1), herald.WithOverflow(policy.Reject()), herald.WithRetry(policy.Never()), herald.WithRetryAside(), herald.WithConcurrency(1), herald.WithLease(1), herald.WithMaxAge(1), herald.WithLatest(), herald.WithMiddleware(), herald.WithCrashOnPanic()}
	_                                                                   = []error{herald.ErrClosed, herald.ErrFull, herald.ErrBusy, herald.ErrDeadlock, herald.ErrDisconnected, herald.ErrLeaseLost, herald.ErrSettled, herald.ErrUnsettled, herald.ErrDuplicate, herald.ErrName, herald.ErrOption, herald.ErrHandlerExited}
	_                                                                   = []error{&herald.PublishError{Topic: "", Seq: 0, Refused: []herald.Refusal{{Subscription: "", Err: nil}}}, &herald.DrainError{Left: []herald.SubStats{}, Err: nil}, &herald.PanicError{Value: nil, Stack: nil}}
	_                                                                   = []herald.Reason{herald.RetriesExhausted, herald.Overflow, herald.Expired, herald.Permanent, herald.FilterFailed, herald.PolicyFailed}
)

// TestMetaIsSmall: every subscription copies it, so its size is part of the
// design.
func TestMetaIsSmall(t *testing.T) {
	if got := unsafe.Sizeof(herald.Meta{}); got != 48 {
		t.Errorf("a Meta has %d bytes, want 48", got)
	}
}

// TestStatsAddUp: the terms of the two equations have one type, so that
// callers can write them down (G4).
func TestStatsAddUp(t *testing.T) {
	var topic herald.Topic[int]
	s, err := topic.Subscribe("s", herald.WithCapacity(1))
	if err != nil {
		t.Fatal(err)
	}
	first, second := topic.Publish(t.Context(), 1), topic.Publish(t.Context(), 2)
	n := s.Stats()
	if first != nil || !errors.Is(second, herald.ErrFull) || n.Accepted != 1 || n.Refused != 1 {
		t.Fatalf("%v, %v, %+v", first, second, n)
	}
	if n.Accepted != n.Delivered+n.Dead+n.Dropped+n.Discarded+n.Queued+n.Delayed+n.InFlight {
		t.Errorf("accepted ones are missing: %+v", n)
	}
	if n.Offered+n.Replayed != n.Accepted+n.Filtered+n.Refused {
		t.Errorf("offered ones are missing: %+v", n)
	}
}
