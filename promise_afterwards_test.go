package herald_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// After the end everything may be called, by any number of goroutines: it returns at once, says closed where it says
// anything, and never panics (G34).
func TestG34_AnythingAfterClose(t *testing.T) {
	topic, box := newBus[int](t), letterBox[int]{}
	s := subscribe(t, topic.DeadLetterTo(box.put), "s", herald.WithRetry(policy.Never()), herald.WithCapacity(1))
	publishAll(t, topic, 1)
	stepWith(t, s, func(context.Context, herald.Message[int]) error { return errAttempt })
	publishAll(t, topic, 2)
	delivery, _ := s.TryReceive()
	delivery.Ack()
	wantErr(t, "Drain", topic.Drain(t.Context()), nil)
	nothing := func(context.Context, herald.Message[int]) error { t.Error("handled"); return nil }
	calls := map[string]struct {
		call func() error
		want error
	}{
		"Publish":            {func() error { return topic.Publish(t.Context(), 3) }, herald.ErrClosed},
		"PublishBatch":       {func() error { _, err := topic.PublishBatch(t.Context(), []int{3}); return err }, herald.ErrClosed},
		"Subscribe":          {func() error { _, err := topic.Subscribe("s"); return err }, herald.ErrClosed},
		"View.Subscribe":     {func() error { _, err := topic.Filter(allow).Subscribe("x"); return err }, herald.ErrClosed},
		"Topic.Close":        {topic.Close, nil},
		"Topic.Drain":        {func() error { return topic.Drain(t.Context()) }, nil},
		"Topic.Stats":        {func() error { topic.Stats(); return nil }, nil},
		"Run":                {func() error { return s.Run(t.Context(), nothing) }, nil},
		"Step":               {func() error { _, err := s.Step(t.Context(), nothing); return err }, nil},
		"Receive":            {func() error { _, err := s.Receive(t.Context()); return err }, herald.ErrClosed},
		"WaitIdle":           {func() error { return s.WaitIdle(t.Context()) }, nil},
		"Drain":              {func() error { return s.Drain(t.Context()) }, nil},
		"Close":              {s.Close, nil},
		"Ack":                {func() error { return delivery.Ack() }, herald.ErrSettled},
		"Nack":               {func() error { return delivery.Nack(errAttempt) }, herald.ErrSettled},
		"Release":            {func() error { return delivery.Release() }, herald.ErrSettled},
		"Extend":             {func() error { return delivery.Extend(time.Second) }, herald.ErrSettled},
		"Replay":             {func() error { return box.list()[0].Replay(t.Context()) }, herald.ErrClosed},
		"Pause and Resume":   {func() error { s.Pause(); s.Resume(); return nil }, nil},
		"Discard":            {func() error { s.Discard(); return nil }, nil},
		"TryReceive, others": {func() error { s.TryReceive(); s.Stats(); s.Name(); return nil }, nil},
	}
	before := s.Stats()
	returns(t, "a call after the end", func() {
		var g sync.WaitGroup
		for what, c := range calls {
			for range 2 {
				g.Go(func() {
					for range 20 {
						err := c.call()
						if busy := errors.Is(err, herald.ErrBusy) && (what == "Run" || what == "Step" || what == "Receive"); !busy {
							wantErr(t, what, err, c.want)
						}
					}
				})
			}
		}
		g.Wait()
	})
	wantEqual(t, before, s.Stats())
}

// A thousand topics that are used and closed in all the ways there are leave no goroutine and no timer behind: in a
// bubble nothing of them is left to wait for (G34).
func TestG34_NothingIsLeft(t *testing.T) {
	before := insideHerald() // what a test that failed has left
	inBubble(t, func(ctx context.Context, t *testing.T) {
		for i := range 1000 {
			topic, err := herald.NewTopic[int]("t", silent())
			if err != nil {
				t.Fatal(err)
			}
			runCtx, cancel := context.WithCancel(ctx)
			s := subscribe(t, topic, "run", append(blocking(0), herald.WithConcurrency(1+i%3))...)
			pull := subscribe(t, topic, "pull", herald.WithOverflow(policy.DropOldest()), herald.WithCapacity(1))
			full := subscribe(t, topic, "full", blocking(time.Minute)...)
			ran := running(runCtx, s, func(context.Context, herald.Message[int]) error { return errAttempt })
			received := background(func() error { _, err := pull.Receive(runCtx); return err })
			published := background(func() error {
				_ = topic.Publish(runCtx, 1, herald.WithDelay(time.Second))
				return topic.Publish(runCtx, 2, herald.WithTTL(time.Hour))
			})
			if i%2 == 0 {
				settle()
			}
			switch i % 4 {
			case 0:
				topic.Close()
			case 1:
				full.Close()
			case 2:
				s.Close()
			}
			cancel()
			<-ran
			<-received
			<-published
		}
		start := time.Now()
		settle()
		if !time.Now().Equal(start) {
			t.Error("time went on")
		}
	})
	if left := insideHerald() - before; left != 0 {
		t.Errorf("%d goroutines are left", left)
	}
}

// insideHerald returns how many goroutines are in a call of herald, or were started by one.
func insideHerald() (n int) {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for stack := range strings.SplitSeq(string(stacks), "\n\n") {
		if strings.Contains(stack, "heraldbus/herald.(") {
			n++
		}
	}
	return n
}

// A subscription that policy.Disconnect closes while its topic closes too, and which is quiet by then, is forgotten like
// any other (G34).
func TestG34_DisconnectedWhileTheTopicCloses(t *testing.T) {
	for range 2000 {
		topic := newBus[int](t)
		s := subscribe(t, topic, "s", herald.WithCapacity(1), herald.WithOverflow(policy.Disconnect()))
		publishAll(t, topic, 1)
		var g sync.WaitGroup
		g.Go(func() { _ = topic.Publish(t.Context(), 2) })
		g.Go(func() {
			for n := s.Stats(); n.Queued > 0; n = s.Stats() {
				_, _ = s.Step(t.Context(), func(context.Context, herald.Message[int]) error { return nil })
			}
		})
		g.Go(func() { topic.Close() })
		g.Wait()
		takeAll(t, s)
		if left := statesOf(topic); len(left) != 0 {
			t.Fatalf("%v is still listed", left)
		}
	}
}
