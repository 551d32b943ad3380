package herald_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/heraldbus/herald"
)

// A rig is a topic with one subscription, and a record of what happened there.
type rig struct {
	t     *testing.T
	topic *herald.Topic[string]
	sub   *herald.Subscription[string]
	begun time.Time

	started sync.WaitGroup
	mu      sync.Mutex // protects the record
	seen    []string   // payloads, as handled
	trace   []string   // "payload#attempt@time since the rig began"
	letters []herald.DeadLetter[string]
}

var errBoom = errors.New("boom")

func newRig(t *testing.T, opts ...herald.SubOption) *rig {
	t.Helper()
	return newRigOn(t, newBus[string](t), opts...)
}

// newRigOn makes a rig of a topic. When the test ends it closes it, so that nothing hangs, and checks the accounts.
func newRigOn(t *testing.T, topic *herald.Topic[string], opts ...herald.SubOption) *rig {
	t.Helper()
	r := &rig{t: t, topic: topic, begun: time.Now()}
	var err error
	if r.sub, err = topic.DeadLetterTo(r.bury).Subscribe("sub", opts...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		topic.Close()
		r.sub.Discard()
		r.started.Wait()
		s := r.sub.Stats()
		if s.Accepted != s.Delivered+s.Dead+s.Dropped+s.Discarded+s.Queued+s.Delayed+s.InFlight ||
			s.Offered+s.Replayed != s.Accepted+s.Filtered+s.Refused {
			t.Errorf("G4 does not hold: %+v", s)
		}
	})
	return r
}

func (r *rig) bury(d herald.DeadLetter[string]) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.letters = append(r.letters, d)
	return nil
}

func (r *rig) publish(v string, opts ...herald.PublishOption) {
	r.t.Helper()
	if err := r.topic.Publish(r.t.Context(), v, opts...); err != nil {
		r.t.Errorf("publishing %q: %v", v, err)
	}
}

// handle is a handler that notes the attempt, and then does as script says, where there is one.
func (r *rig) handle(script func(herald.Message[string]) error) herald.Handler[string] {
	return func(_ context.Context, m herald.Message[string]) error {
		r.mu.Lock()
		r.seen = append(r.seen, m.Payload)
		r.trace = append(r.trace, fmt.Sprintf("%s#%d@%v", m.Payload, m.Attempt, time.Since(r.begun)))
		r.mu.Unlock()
		if script == nil {
			return nil
		}
		return script(m)
	}
}

// fails is a script: the first n attempts on that payload fail.
func fails(payload string, n int32) func(herald.Message[string]) error {
	return func(m herald.Message[string]) error {
		if m.Payload == payload && m.Attempt <= n {
			return errBoom
		}
		return nil
	}
}

// start runs f on a goroutine of its own, which has to end when the test's context does. The channel is closed when it
// has, by Goexit too.
func (r *rig) start(f func()) <-chan struct{} {
	ended := make(chan struct{})
	r.started.Go(func() {
		defer close(ended)
		f()
	})
	return ended
}

// steps handles what is ready.
func (r *rig) steps(h herald.Handler[string]) {
	for {
		if ok, _ := r.sub.Step(r.t.Context(), h); !ok {
			return
		}
	}
}

func (r *rig) wantSeen(want string) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if diff := cmp.Diff(strings.Fields(want), r.seen); diff != "" {
		r.t.Error("-want +seen:", diff)
	}
}

// wantSeenSorted is wantSeen where workers side by side come to their handlers
// in any order.
func (r *rig) wantSeenSorted(want string) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if diff := cmp.Diff(strings.Fields(want), slices.Sorted(slices.Values(r.seen))); diff != "" {
		r.t.Error("-want +seen:", diff)
	}
}

func (r *rig) wantTrace(want string) {
	r.t.Helper()
	r.wantTraced(strings.Fields(want), nil)
}

// wantTraced compares what both look like after arrange, where there is one.
func (r *rig) wantTraced(want []string, arrange func([]string)) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	got := slices.Clone(r.trace)
	if arrange != nil {
		arrange(want)
		arrange(got)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		r.t.Error("-want +traced:", diff)
	}
}

// consumers are the ways to consume n attempts, of which the last must succeed. Where nothing is ready, all of them wait.
var consumers = map[string]func(r *rig, n int, h herald.Handler[string]){
	"Run": func(r *rig, n int, h herald.Handler[string]) {
		ctx, cancel := context.WithCancel(r.t.Context())
		defer cancel()
		_ = r.sub.Run(ctx, func(ctx context.Context, m herald.Message[string]) error {
			if n--; n == 0 {
				defer cancel()
			}
			return h(ctx, m)
		})
	},
	"Step": func(r *rig, n int, h herald.Handler[string]) {
		for n > 0 {
			switch ok, err := r.sub.Step(r.t.Context(), h); {
			case err != nil:
				r.t.Error(err)
				return
			case ok:
				n--
			default:
				time.Sleep(time.Millisecond) // in a bubble; elsewhere all is ready
			}
		}
	},
	"Receive": func(r *rig, n int, h herald.Handler[string]) {
		for range n {
			d, err := r.sub.Receive(r.t.Context())
			if err != nil {
				r.t.Error(err)
				return
			}
			pulled(r, d, h)
		}
	},
	"Messages": func(r *rig, n int, h herald.Handler[string]) {
		for d := range r.sub.Messages(r.t.Context()) {
			pulled(r, d, h)
			if n--; n == 0 {
				break
			}
		}
	},
}

// pulled handles a delivery as Run would.
func pulled(r *rig, d *herald.Delivery[string], h herald.Handler[string]) {
	if err := h(r.t.Context(), d.Message); err != nil {
		_ = d.Nack(err)
		return
	}
	_ = d.Ack()
}
