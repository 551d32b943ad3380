package herald_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// A tangle is a few topics whose handlers publish to each other at random, in real time, until their messages, which
// count down, have come to zero.
type tangle struct {
	topics []*herald.Topic[int]
	subs   []*herald.Subscription[int]
	runs   sync.WaitGroup
}

const tangleTopics = 4

// newTangle makes the topics; plans are the overflow policies that subscriptions choose from.
func newTangle(t *testing.T, rng *rand.Rand, plans []policy.Overflow) *tangle {
	g := new(tangle)
	for i := range tangleTopics {
		g.topics = append(g.topics, newBusNamed[int](t, "t"+strconv.Itoa(i)))
	}
	for i, topic := range g.topics {
		view := topic.Filter(allow)
		if keys := rng.IntN(3); keys > 0 {
			view = view.KeyBy(func(m herald.Message[int]) string { return strconv.Itoa(m.Payload % keys) })
		}
		g.subs = append(g.subs, subscribe(t, view, "s"+strconv.Itoa(i), herald.WithCapacity(1+rng.IntN(3)),
			herald.WithConcurrency(1+rng.IntN(3)), herald.WithOverflow(plans[rng.IntN(len(plans))])))
	}
	return g
}

// run lets every subscription handle what it gets by publishing it to two topics, one less; with is given the ctx for
// each publish.
func (g *tangle) run(t *testing.T, rng *rand.Rand, with func(context.Context) (context.Context, context.CancelFunc)) {
	for _, s := range g.subs {
		targets := []*herald.Topic[int]{g.topics[rng.IntN(tangleTopics)], g.topics[rng.IntN(tangleTopics)]}
		g.runs.Go(func() {
			_ = s.Run(t.Context(), func(ctx context.Context, m herald.Message[int]) error {
				for _, topic := range targets {
					if m.Payload > 0 {
						ctx, cancel := with(ctx)
						_ = topic.Publish(ctx, m.Payload-1)
						cancel()
					}
				}
				return nil
			})
		})
	}
	for range 5 {
		for _, topic := range g.topics {
			_ = topic.Publish(t.Context(), 5)
		}
	}
}

// end waits until all is quiet, closes everything, and checks the accounts.
func (g *tangle) end(t *testing.T) {
	for again := true; again; runtime.Gosched() {
		again = false
		for _, s := range g.subs {
			n := s.Stats()
			again = again || n.Queued+n.InFlight > 0 || n.Waiting > 0
		}
	}
	for _, topic := range g.topics {
		topic.Close()
	}
	g.runs.Wait()
	for _, s := range g.subs {
		n := s.Stats()
		checkSound(t, n)
		if n.Queued+n.Delayed+n.InFlight != 0 || n.Waiting != 0 {
			t.Errorf("%+v", n)
		}
	}
}

// Whatever handlers publish to whom, under Block without limit, the whole comes to an end (G19).
func TestG19_AnythingEnds(t *testing.T) {
	endless := func(ctx context.Context) (context.Context, context.CancelFunc) { return ctx, func() {} }
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 0))
		g := newTangle(t, rng, []policy.Overflow{policy.Block(0)})
		if !returns(t, "seed "+strconv.Itoa(int(seed)), func() {
			g.run(t, rng, endless)
			g.end(t)
		}) {
			return
		}
	}
}

// So it does where waits end in every way there is, and subscriptions are paused, discarded and closed meanwhile: who
// gives up, lapses, is admitted, released or refused at the same moment is so once (G19, G9).
func TestG19_AnythingEndsWhateverHappens(t *testing.T) {
	plans := []policy.Overflow{
		policy.Block(0), policy.Block(20 * time.Microsecond), policy.Block(10 * time.Microsecond).Else(policy.Block(0)),
		policy.Block(5 * time.Microsecond).Else(policy.DropOldest()), policy.Block(50 * time.Microsecond).Else(policy.Disconnect()),
		overflowFunc(func(f policy.Full) policy.Action {
			if f.Waited > 40*time.Microsecond {
				return policy.DropNewest()
			}
			return policy.Block(5 * time.Microsecond)
		}),
	}
	hasty := func(ctx context.Context) (context.Context, context.CancelFunc) {
		return context.WithTimeout(ctx, time.Duration(rand.IntN(100))*time.Microsecond)
	}
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 1))
		g := newTangle(t, rng, plans)
		stop := make(chan struct{})
		var meddler sync.WaitGroup
		meddler.Go(func() {
			for i := 0; ; i++ {
				s := g.subs[i%len(g.subs)]
				s.Pause()
				runtime.Gosched()
				s.Resume()
				switch i % 3001 {
				case 700, 1400:
					s.Discard()
				case 3000:
					s.Close()
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
		ok := returns(t, "seed "+strconv.Itoa(int(seed)), func() {
			g.run(t, rng, hasty)
			g.end(t)
		})
		close(stop)
		meddler.Wait()
		if !ok {
			return
		}
	}
}

// A batch that a handler publishes into its own full queue stops at the value that would wait for ever (G19, G8).
func TestG19_Batch(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newBus[int](t)
		s, published, ran := fillOwn(ctx, t, topic, func(ctx context.Context, _ *herald.Subscription[int]) error {
			n, err := topic.PublishBatch(ctx, []int{1, 2, 3})
			if n != 1 {
				t.Errorf("%d accepted", n)
			}
			return err
		})
		wantDeadlock(t, <-published, "s", "bus/s", "bus/s")
		s.Close()
		wantErr(t, "Run", <-ran, nil)
		wantTally(t, s, tally{Offered: 3, Accepted: 2, Refused: 1, Delivered: 2})
	})
}
