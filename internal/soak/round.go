package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/heraldbus/herald"
)

// A payload says who published it, and as its how manieth.
type payload struct{ publisher, number int }

// A world is one round.
type world struct {
	topic   *herald.Topic[payload]
	members []*member
	ended   atomic.Bool // publishers are done
	errs    faults
}

// faults keeps the first error.
type faults struct {
	mu    sync.Mutex // protects first
	first error
}

func (f *faults) add(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.first == nil {
		f.first = fmt.Errorf(format, args...)
	}
}

// patience is how long a drain may take; a round's work takes milliseconds.
const patience = time.Minute

// round plays one round.
func round(seed uint64) (totals, error) {
	before := runtime.NumGoroutine()
	rng := rand.New(rand.NewPCG(seed, 0))
	w := &world{}
	var err error
	if w.topic, err = herald.NewTopic[payload]("soak", topicOptions(rng)...); err != nil {
		return totals{}, err
	}
	for i := range 1 + rng.IntN(4) {
		m, err := w.join(fmt.Sprint("s", i), rng)
		if err != nil {
			return totals{}, err
		}
		w.members = append(w.members, m)
	}
	published := w.play(rng)
	if err := w.settle(); err != nil {
		return totals{}, err
	}
	if w.errs.first != nil {
		return totals{}, w.errs.first
	}
	if err := leftOver(before); err != nil {
		return totals{}, err
	}
	t := totals{published: published}
	for _, m := range w.members {
		t.handled += uint64(m.handled.Load())
	}
	return t, nil
}

// play lets everybody do their work, until the publishers are done.
func (w *world) play(rng *rand.Rand) (published uint64) {
	var publishers, meddlers, consumers sync.WaitGroup
	for _, m := range w.members {
		consumers.Go(func() { m.consume(w) })
	}
	n := 200 + rng.IntN(2000)
	for p := range 1 + rng.IntN(4) {
		r := rand.New(rand.NewPCG(rng.Uint64(), 1))
		publishers.Go(func() { w.publish(p, n, r) })
	}
	for range rng.IntN(3) {
		r := rand.New(rand.NewPCG(rng.Uint64(), 2))
		meddlers.Go(func() { w.meddle(r) })
	}
	publishers.Wait()
	w.ended.Store(true)
	meddlers.Wait()
	for _, m := range w.members {
		m.sub.Resume()
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := w.topic.Drain(ctx); err != nil {
		w.errs.add("drain: %v", err)
	}
	for _, m := range w.members { // a meddler may have closed some before: those the topic doesn't wait for
		if err := m.sub.Drain(ctx); err != nil {
			w.errs.add("drain: %v", err)
		}
		m.stop()
	}
	consumers.Wait()
	return w.topic.Stats().Published
}

// publish publishes n messages, or batches of them. All that can be refused is
// what a policy refuses.
func (w *world) publish(publisher, n int, rng *rand.Rand) {
	ctx := context.Background()
	for i := 0; i < n; {
		if rng.IntN(16) == 0 {
			vs := make([]payload, 1+rng.IntN(8))
			for j := range vs {
				vs[j] = payload{publisher, i + j}
			}
			i += len(vs)
			_, err := w.topic.PublishBatch(ctx, vs)
			w.allowed(err)
			continue
		}
		w.allowed(w.topic.Publish(ctx, payload{publisher, i}, publishOptions(rng)...))
		i++
	}
}

// allowed notes an error that no policy explains.
func (w *world) allowed(err error) {
	if err == nil || errors.Is(err, herald.ErrFull) || errors.Is(err, herald.ErrDisconnected) {
		return
	}
	w.errs.add("publish: %v", err)
}

// meddle does what users do beside.
func (w *world) meddle(rng *rand.Rand) {
	for !w.ended.Load() {
		m := w.members[rng.IntN(len(w.members))]
		switch rng.IntN(8) {
		case 0:
			m.sub.Pause()
			runtime.Gosched()
			m.sub.Resume()
		case 1:
			if rng.IntN(8) == 0 {
				m.sub.Discard()
			}
		case 2:
			if _, err := m.dead.Replay(context.Background(), nil); err != nil &&
				!errors.Is(err, herald.ErrFull) && !errors.Is(err, herald.ErrClosed) {
				w.errs.add("replay: %v", err)
			}
		case 3:
			w.comeAndGo(rng)
		case 4:
			if rng.IntN(64) == 0 {
				_ = m.sub.Close() // documented to be nil
			}
		default:
			w.audit(m.sub.Stats())
		}
		runtime.Gosched()
	}
}

// comeAndGo subscribes for a moment.
func (w *world) comeAndGo(rng *rand.Rand) {
	s, err := w.topic.Subscribe(fmt.Sprint("guest", rng.Uint64()))
	if err != nil {
		w.errs.add("subscribe: %v", err)
		return
	}
	for range rng.IntN(4) {
		if d, ok := s.TryReceive(); ok {
			if err := d.Ack(); err != nil {
				w.errs.add("ack: %v", err)
			}
		}
	}
	_ = s.Close() // documented to be nil
	s.Discard()
	w.audit(s.Stats())
}

// leftOver makes sure that the round's goroutines have ended.
func leftOver(before int) error {
	for range 1000 {
		if runtime.NumGoroutine() <= before {
			return nil
		}
		time.Sleep(time.Millisecond) // a goroutine that has been waited for may still be on its way out
	}
	return fmt.Errorf("%d goroutines more than before", runtime.NumGoroutine()-before)
}
