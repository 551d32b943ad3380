package herald_test

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// A topic takes so many subscriptions and one more is ErrLimit, until one closes (G2).
func TestG02_SubscriptionLimit(t *testing.T) {
	topic := newBus[int](t, herald.WithSubscriptionLimit(2))
	first := subscribe(t, topic, "1")
	subscribe(t, topic, "2")
	s, err := topic.Subscribe("3")
	if s != nil || !errors.Is(err, herald.ErrLimit) {
		t.Errorf("third Subscribe = %v, %v", s, err)
	}
	if e, ok := errors.AsType[*herald.Error](err); !ok || e.Topic != "bus" || e.Subscription != "3" {
		t.Errorf("error %#v does not name topic and subscription", err)
	}
	first.Close()
	subscribe(t, topic, "3")
}

// Capacity is 1024 by default (G2), and the policy acts exactly there.
func TestG02_DefaultCapacity(t *testing.T) {
	topic := newBus[int](t)
	s := subscribe(t, topic, "s")
	if got := s.Stats().Capacity; got != 1024 {
		t.Errorf("capacity is %d", got)
	}
	for range 1024 {
		publishAll(t, topic, 1)
	}
	wantRefused(t, topic.Publish(t.Context(), 1), map[string]error{"s": herald.ErrFull})
}

// headersOf returns n headers of so many bytes of keys and values together.
func headersOf(n, bytes int) herald.Headers {
	kv := map[string]string{}
	for i := range n {
		key := "k" + strconv.Itoa(100+i)
		kv[key] = ""
		bytes -= len(key)
	}
	kv["k100"] = strings.Repeat("x", bytes)
	return herald.NewHeaders(kv)
}

// A message has at most 64 headers, of 8 KiB of keys and values together; more is an error and nobody gets it (G2).
func TestG02_HeaderLimits(t *testing.T) {
	for _, c := range []struct {
		what string
		opts []herald.PublishOption
		ok   bool
	}{
		{"64 entries", []herald.PublishOption{herald.WithHeaders(headersOf(64, 1000))}, true},
		{"65 entries", []herald.PublishOption{herald.WithHeaders(headersOf(65, 1000))}, false},
		{"8 KiB", []herald.PublishOption{herald.WithHeaders(headersOf(1, 8<<10))}, true},
		{"8 KiB and a byte", []herald.PublishOption{herald.WithHeaders(headersOf(1, 8<<10+1))}, false},
		{"8 KiB in one header", []herald.PublishOption{herald.WithHeader("k", strings.Repeat("v", 8<<10-1))}, true},
		{"a byte more in one", []herald.PublishOption{herald.WithHeader("k", strings.Repeat("v", 8<<10))}, false},
		{"a long key", []herald.PublishOption{herald.WithHeader(strings.Repeat("k", 8<<10+1), "")}, false},
		{"64 and one", []herald.PublishOption{herald.WithHeaders(headersOf(64, 1000)), herald.WithHeader("k", "v")}, false},
		{"64 and one again", []herald.PublishOption{herald.WithHeaders(headersOf(64, 1000)), herald.WithHeader("k100", "v")}, true},
		{"8 KiB, then less", []herald.PublishOption{herald.WithHeaders(headersOf(1, 8<<10)), herald.WithHeader("k100", "")}, true},
		{"an empty key", []herald.PublishOption{herald.WithHeader("", "v")}, false},
		{"an empty key inside", []herald.PublishOption{herald.WithHeaders(herald.NewHeaders(map[string]string{"": "v"}))}, false},
		{"none", []herald.PublishOption{herald.WithHeaders(herald.Headers{})}, true},
	} {
		topic := newBus[int](t)
		s := subscribe(t, topic, "s")
		err := topic.Publish(t.Context(), 1, c.opts...)
		if c.ok {
			wantErr(t, c.what, err, nil)
			wantTally(t, s, tally{Offered: 1, Accepted: 1, Queued: 1})
			continue
		}
		wantErr(t, c.what, err, herald.ErrOption)
		wantTally(t, s, tally{})
		if n := topic.Stats().Published; n != 0 {
			t.Errorf("%s: %d published", c.what, n)
		}
	}
}

// Of a panic's stack 4 KiB are kept (G2).
func TestG02_StackIsClipped(t *testing.T) {
	var dive func(int)
	dive = func(n int) {
		if n == 0 {
			panic("deep")
		}
		dive(n - 1)
	}
	topic, box := newBus[int](t), letterBox[int]{}
	s := subscribe(t, topic.DeadLetterTo(box.put), "s", herald.WithRetry(policy.Never()))
	publishAll(t, topic, 1)
	stepWith(t, s, func(context.Context, herald.Message[int]) error { dive(200); return nil })
	e, ok := errors.AsType[*herald.PanicError](box.list()[0].Err)
	if !ok || len(e.Stack) == 0 || len(e.Stack) > 4<<10 || cap(e.Stack) > 4<<10 {
		t.Errorf("error %v, stack of %d bytes, %d kept", e, len(e.Stack), cap(e.Stack))
	}
}

// maxWaiting is how many publishers may wait for room in one subscription.
const maxWaiting = 1 << 16

var waitedBefore atomic.Bool

// As many publishers as the limit says wait for room; one more is refused at once (G2). So many goroutines are too
// much for the race detector: here one publish waits inside another, by way of a second subscription's filter.
func TestG02_WaitingPublishers(t *testing.T) {
	if testing.Short() || waitedBefore.Swap(true) {
		t.Skip("needs a deep stack: once a run is enough, whatever -cpu says")
	}
	topic := newBus[int](t)
	full := subscribe(t, topic, "full", herald.WithCapacity(1), herald.WithOverflow(policy.Block(0)))
	publishAll(t, topic, 0)
	var publish func(n int) error
	subscribe(t, topic.Filter(func(m herald.Message[int]) bool {
		if m.Payload < maxWaiting {
			if err := publish(m.Payload + 1); err != nil && m.Payload+1 < maxWaiting {
				t.Errorf("publish %d = %v", m.Payload+1, err)
			}
			return false
		}
		if n := full.Stats().Waiting; n != maxWaiting {
			t.Errorf("%d wait", n)
		}
		full.Close() // lets them go
		return false
	}), "deep")
	var last error
	publish = func(n int) error {
		err := topic.Publish(t.Context(), n)
		if n == maxWaiting {
			last = err
		}
		return err
	}
	if err := publish(0); err != nil {
		t.Errorf("publish 0 = %v", err)
	}
	wantRefused(t, last, map[string]error{"full": herald.ErrFull})
	wantErr(t, "one too many", last, herald.ErrLimit)
	wantTally(t, full, tally{Offered: 2, Refused: 1, Accepted: 1, Queued: 1})
}

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Memory never follows capacity: a subscription for a thousand million messages costs what one for a single message
// does, before, while and after it holds one (G2).
func TestG02_MemoryDoesNotFollowCapacity(t *testing.T) {
	const subs = 500
	use := func(capacity int) uint64 {
		topic := newBus[int](t)
		return allocated(func() {
			for range subs {
				s := subscribe(t, topic, "s", herald.WithCapacity(capacity))
				publishAll(t, topic, 1)
				takeAll(t, s)
				s.Close()
			}
		}) / subs
	}
	small, large := use(1), use(1<<30)
	if large > small+64 {
		t.Errorf("%d bytes at capacity 1, %d at 1<<30", small, large)
	}
	t.Logf("%d bytes a subscription", small)
}
