package broker_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/broker"
	"github.com/heraldbus/herald/policy"
)

// A crowd is what many goroutines did to a broker.
type crowd struct {
	t *testing.T
	b *broker.Broker

	mu   sync.Mutex // protects subs
	subs []*crowded
}

// A crowded is one subscription, and how many messages its handler has got.
type crowded struct {
	sub interface {
		Name() string
		Stats() herald.SubStats
	}
	handled atomic.Uint64
}

// subscribe makes a handled subscription for V.
func subscribeCrowd[V any](c *crowd, pattern, name string) {
	sub, err := broker.Match[V](c.b, pattern).Subscribe(name,
		herald.WithOverflow(policy.DropOldest()), herald.WithConcurrency(1+len(pattern)%2))
	if err != nil {
		c.allow(err, herald.ErrDuplicate, herald.ErrClosed)
		return
	}
	s := &crowded{sub: sub}
	c.mu.Lock()
	c.subs = append(c.subs, s)
	c.mu.Unlock()
	err = broker.Attach(c.b, sub, func(context.Context, herald.Message[V]) error {
		s.handled.Add(1)
		return nil
	})
	if err != nil { // closed in between: then it's nobody's
		c.allow(err, herald.ErrClosed, herald.ErrDuplicate)
		_ = sub.Close() // so that nothing more comes; documented to be nil
		sub.Discard()
	}
}

// allow fails unless err is nil, one of those given, or a type error.
func (c *crowd) allow(err error, allowed ...error) {
	if err == nil {
		return
	}
	for _, a := range allowed {
		if errors.Is(err, a) {
			return
		}
	}
	if _, ok := errors.AsType[*broker.TypeError](err); !ok {
		c.t.Error(err)
	}
}

func (c *crowd) act(r *rand.Rand) {
	name := fmt.Sprintf("t.%d", r.IntN(4))
	sub := fmt.Sprintf("s%d", r.IntN(6))
	patterns := []string{"t.*", ">", "t.1", "*.2"}
	pattern := patterns[r.IntN(len(patterns))]
	switch r.IntN(10) {
	case 0:
		c.allow(c.b.Delete(name), broker.ErrNotFound)
	case 1:
		c.allow(c.b.Unsubscribe(sub), broker.ErrNotFound)
	case 2:
		subscribeCrowd[int](c, pattern, sub)
	case 3:
		subscribeCrowd[any](c, pattern, sub)
	case 4:
		_, err := broker.Topic[string](c.b, name)
		c.allow(err, herald.ErrClosed)
	case 5:
		for range c.b.Subscriptions() {
		}
		for range c.b.Topics() {
		}
	case 6:
		topic, err := broker.Topic[int](c.b, name)
		if err == nil {
			_, err = topic.Subscribe("direct "+sub, herald.WithOverflow(policy.DropNewest()))
		}
		c.allow(err, herald.ErrDuplicate, herald.ErrClosed)
	default:
		if _, err := broker.Topic[int](c.b, name); err == nil {
			for v := range 5 {
				c.allow(broker.Publish(context.Background(), c.b, name, v), herald.ErrClosed, broker.ErrNotFound)
			}
		}
	}
}

// Making, deleting, subscribing, unsubscribing, publishing and running all at once: every accepted message is handled
// once, by the one broker run there is, and Run ends when all is quiet (G5, G33).
func TestG05_Crowd(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 3
	}
	for round := range rounds {
		c := &crowd{t: t, b: newBroker(t)}
		result := make(chan error, 1)
		go func() { result <- c.b.Run(context.Background()) }()
		var all sync.WaitGroup
		for g := range 4 {
			all.Go(func() {
				r := rand.New(rand.NewPCG(uint64(round), uint64(g)))
				for range 200 {
					c.act(r)
				}
				if g == 0 {
					c.b.Close()
				}
			})
		}
		all.Wait()
		if err := <-result; err != nil {
			t.Errorf("Run = %v", err)
		}
		for _, s := range c.subs {
			stats := s.sub.Stats()
			if !stats.Closed || stats.Queued+stats.Delayed+stats.InFlight > 0 ||
				stats.Accepted != stats.Delivered+stats.Dropped+stats.Discarded || s.handled.Load() != stats.Delivered {
				t.Errorf("handled %d of %+v", s.handled.Load(), stats)
			}
		}
		for s := range c.b.Subscriptions() {
			if s.Name[0] == 's' {
				t.Errorf("%s is left", s.Name)
			}
		}
	}
}

// Handlers that come and go while the Run is ended and begun again lose nothing (G33).
func TestG33_RunAgainAndAgain(t *testing.T) {
	b := newBroker(t)
	x := topic[int](t, b, "x")
	var calls, handled atomic.Uint64
	const publishers, each = 2, 500
	stay := match[int](t, b, "*", "stay", herald.WithOverflow(policy.Block(0)), herald.WithCapacity(8))
	broker.Attach(b, stay, func(context.Context, herald.Message[int]) error {
		if calls.Add(1)%97 == 0 {
			return policy.Stop(errBoom)
		}
		handled.Add(1)
		return nil
	})
	var all sync.WaitGroup
	stops := 0
	for range publishers {
		all.Go(func() {
			for v := range each {
				publish(t, x, v)
			}
		})
		all.Go(func() {
			for i := range each / 5 {
				name := fmt.Sprintf("come and go %p", &i)
				if err := broker.Handle(b, ">", name, ignore[int], herald.WithOverflow(policy.DropNewest())); err != nil {
					t.Error(err)
				}
				b.Unsubscribe(name)
			}
		})
	}
	done := make(chan struct{})
	go func() {
		all.Wait()
		b.Close()
		close(done)
	}()
	for err := errBoom; err != nil; stops++ {
		ctx, cancel := context.WithCancelCause(context.Background())
		if stops%2 == 0 {
			go cancel(errBoom)
		}
		if err = b.Run(ctx); err != nil && err != errBoom {
			t.Fatal(err)
		}
		cancel(nil)
	}
	<-done
	if s := stay.Stats(); s.Accepted != publishers*each || s.Delivered != s.Accepted || handled.Load() != s.Delivered {
		t.Errorf("handled %d of %+v", handled.Load(), s)
	}
	wantEqual(t, nil, names(b))
}
