package herald_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// produced is a message of one producer.
type produced struct {
	producer, n int
	fails       int32 // so many attempts fail
}

const producers, perProducer = 4, 200

// TestPropertyProducers: four goroutines publish as fast as they can to subscriptions that run freely and, being full, make
// them wait (G9). However they are scheduled, a subscription sees each producer's messages of one priority in order and
// once (G5, G12), and with concurrency 1 never two at a time, which the race detector sees too (G13), else never two of
// one key (G14); its accounts are right at every moment (G4).
func TestPropertyProducers(t *testing.T) {
	rounds := volume(t, 2, 2000)
	for name, opts := range map[string][]herald.SubOption{
		"plain": {herald.WithCapacity(64)},
		"full":  {herald.WithCapacity(1)},
		"aside": {herald.WithCapacity(8), herald.WithRetryAside()},
		"keys":  {herald.WithCapacity(16), herald.WithConcurrency(4)},
	} {
		for _, subscriptions := range []int{1, 3} {
			t.Run(fmt.Sprint(name, subscriptions), func(t *testing.T) {
				done := 0
				for i := range rounds {
					checkProducers(t, subscriptions, name == "keys", i%2 == 0, opts)
					done++
				}
				if t.Logf("%d rounds", done); done < rounds {
					t.Errorf("made %d rounds, want %d", done, rounds)
				}
			})
		}
	}
}

func checkProducers(t *testing.T, subscriptions int, keyed, watched bool, opts []herald.SubOption) {
	topic := new(herald.Topic[produced])
	var running sync.WaitGroup
	defer running.Wait()
	defer topic.Close()
	opts = slices.Concat(opts, []herald.SubOption{
		herald.WithOverflow(policy.Block(0)), herald.WithRetry(policy.Schedule{0, 0}),
	})
	watches := make([]*watch, subscriptions)
	for i := range watches {
		s, err := topic.Subscribe(strconv.Itoa(i), opts...)
		if err != nil {
			t.Fatal(err)
		}
		w := &watch{sub: s, t: t, keyed: keyed, last: map[line]int{}, stop: make(chan struct{})}
		watches[i] = w
		running.Go(func() { w.err = s.Run(t.Context(), w.handle) })
		if watched && i == 0 { // which costs the others a good part of the machine
			running.Go(w.conserve)
		}
	}
	var publishing sync.WaitGroup
	for p := range producers {
		publishing.Go(func() { produce(t, topic, p, keyed) })
	}
	publishing.Wait()
	if err := topic.Drain(t.Context()); err != nil {
		t.Errorf("Drain = %v", err)
	}
	for _, w := range watches {
		close(w.stop)
	}
	running.Wait()
	for _, w := range watches {
		w.check()
	}
}

func produce(t *testing.T, topic *herald.Topic[produced], p int, keyed bool) {
	r := rand.New(rand.NewPCG(rand.Uint64(), 0)) // only what's tried depends on it
	for n := range perProducer {
		v := produced{producer: p, n: n}
		if r.IntN(8) == 0 {
			v.fails = 1 + r.Int32N(2)
		}
		opts := []herald.PublishOption{herald.WithPriority(somePriorities[r.IntN(len(somePriorities))])}
		if keyed {
			opts = []herald.PublishOption{herald.WithKey(strconv.Itoa(p))}
		}
		if err := topic.Publish(t.Context(), v, opts...); err != nil {
			t.Errorf("Publish = %v", err)
		}
	}
}

// A line is what is kept in order: the messages of one producer at one priority.
type line struct {
	producer int
	priority herald.Priority
}

// A watch sees what one subscription does.
type watch struct {
	sub   *herald.Subscription[produced]
	t     *testing.T
	keyed bool                    // by producer, and several at a time
	at    [producers]atomic.Int32 // handlers at work on each producer's messages; without keys only the first counts
	err   error                   // of Run
	stop  chan struct{}

	mu   sync.Mutex // taken only where handlers may overlap: otherwise the order of calls is to be enough
	last map[line]int
	seen int
}

func (w *watch) handle(_ context.Context, m herald.Message[produced]) error {
	at := &w.at[0]
	if w.keyed {
		at = &w.at[m.Payload.producer]
	}
	if n := at.Add(1); n != 1 {
		w.t.Errorf("%d handlers at a time", n)
	}
	defer at.Add(-1)
	if w.keyed {
		runtime.Gosched()
		w.mu.Lock()
		defer w.mu.Unlock()
	}
	if m.Attempt <= m.Payload.fails {
		return errUser
	}
	w.seen++
	l := line{m.Payload.producer, m.Priority}
	if last, ok := w.last[l]; ok && last >= m.Payload.n {
		w.t.Errorf("message %d of producer %d after %d, at priority %v", m.Payload.n, l.producer, last, l.priority)
	}
	w.last[l] = m.Payload.n
	return nil
}

// conserve looks at the accounts all the time (G4).
func (w *watch) conserve() {
	var before herald.SubStats
	for {
		select {
		case <-w.stop:
			return
		default:
		}
		s := w.sub.Stats()
		if s.Accepted != s.Delivered+s.Dead+s.Dropped+s.Discarded+s.Queued+s.Delayed+s.InFlight ||
			s.Offered+s.Replayed != s.Accepted+s.Filtered+s.Refused {
			w.t.Errorf("not a cut: %+v", s)
		}
		if name := wentDown(before, s); name != "" {
			w.t.Errorf("%s went down", name)
		}
		before = s
		runtime.Gosched()
	}
}

func (w *watch) check() {
	want := uint64(producers * perProducer)
	if s := w.sub.Stats(); w.err != nil || s.Delivered != want || s.Accepted != want || w.seen != int(want) {
		w.t.Errorf("Run = %v, %d handled, %+v", w.err, w.seen, s)
	}
	if _, ok := w.last[line{}]; !ok {
		w.t.Errorf("nothing seen: %v", slices.Collect(maps.Keys(w.last)))
	}
}
