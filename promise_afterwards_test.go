package herald_test

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"weak"

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
	if left := insideHerald(); left != 0 {
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

// collected fails unless what p points to is garbage.
func collected[T any](t *testing.T, what string, p weak.Pointer[T]) {
	t.Helper()
	for range 10 {
		if runtime.GC(); p.Value() == nil {
			return
		}
	}
	t.Errorf("%s is still reachable", what)
}

// Nothing of a closed subscription is reachable from the topic, whether it was quiet or not, nor from a dead letter
// (G34).
func TestG34_ClosedSubscriptionIsGarbage(t *testing.T) {
	for what, end := range map[string]func(*herald.Topic[int], *herald.Subscription[int]){
		"closed":  func(_ *herald.Topic[int], s *herald.Subscription[int]) { s.Close(); s.Discard() },
		"queued":  func(_ *herald.Topic[int], s *herald.Subscription[int]) { s.Close() },
		"drained": func(_ *herald.Topic[int], s *herald.Subscription[int]) { s.Discard(); s.Drain(t.Context()) },
		"consumed": func(_ *herald.Topic[int], s *herald.Subscription[int]) {
			s.Close()
			s.Run(t.Context(), func(context.Context, herald.Message[int]) error { return nil })
		},
		"topic closed": func(topic *herald.Topic[int], s *herald.Subscription[int]) { topic.Close(); s.Discard() },
		"topic closed after": func(topic *herald.Topic[int], s *herald.Subscription[int]) {
			s.Discard()
			topic.Close()
		},
		"disconnected": func(topic *herald.Topic[int], s *herald.Subscription[int]) { topic.Publish(t.Context(), 3) },
		"deadlock refused": func(topic *herald.Topic[int], s *herald.Subscription[int]) {
			s.Step(t.Context(), func(ctx context.Context, _ herald.Message[int]) error {
				topic.Publish(ctx, 3)
				return nil
			})
			s.Close()
			s.Discard()
		},
	} {
		topic, box := newBus[int](t), letterBox[int]{}
		stays := subscribe(t, topic, "stays")
		plan := policy.Disconnect()
		if what == "deadlock refused" {
			plan = policy.Block(0)
		}
		gone := weak.Make(func() *herald.Subscription[int] {
			s := subscribe(t, topic.DeadLetterTo(box.put), "s", herald.WithCapacity(1), herald.WithRetry(policy.Never()),
				herald.WithOverflow(plan))
			publishAll(t, topic, 1)
			stepWith(t, s, func(context.Context, herald.Message[int]) error { return errAttempt })
			publishAll(t, topic, 2)
			end(topic, s)
			return s
		}())
		collected(t, what, gone)
		if len(box.list()) != 1 {
			t.Errorf("%s: %d letters", what, len(box.list()))
		}
		runtime.KeepAlive(topic)
		runtime.KeepAlive(stays)
	}
}

// A message and a dead letter keep nothing of their topic in memory (G34).
func TestG34_TopicIsGarbage(t *testing.T) {
	var letter herald.DeadLetter[int]
	var delivery *herald.Delivery[int]
	var message herald.Message[int]
	gone := weak.Make(func() *herald.Topic[int] {
		topic, err := herald.NewTopic[int]("bus", silent())
		if err != nil {
			t.Fatal(err)
		}
		s := subscribe(t, topic.DeadLetterTo(func(d herald.DeadLetter[int]) error { letter = d; return nil }), "s",
			herald.WithRetry(policy.Never()))
		publishAll(t, topic, 1, 2)
		stepWith(t, s, func(_ context.Context, m herald.Message[int]) error { message = m; return errAttempt })
		delivery, _ = s.TryReceive()
		topic.Close()
		return topic
	}())
	collected(t, "topic", gone)
	if letter.Topic() != "bus" || message.Topic() != "bus" || delivery.Topic() != "bus" {
		t.Error("they have forgotten where they come from")
	}
}

// A publisher that has gone, in whatever way, leaves nothing in the program-wide list of waits: its subscription can be
// collected (G34).
func TestG34_GoneWaitsAreForgotten(t *testing.T) {
	for what, c := range map[string]struct {
		plan policy.Overflow
	}{
		"rejected": {policy.Block(1)},
		"policy panics": {overflowFunc(func(f policy.Full) policy.Action {
			if f.Waited == 0 {
				return policy.Block(1)
			}
			panic("policy")
		})},
		"policy exits": {overflowFunc(func(f policy.Full) policy.Action {
			if f.Waited == 0 {
				return policy.Block(1)
			}
			runtime.Goexit()
			return policy.Reject()
		})},
	} {
		var gone weak.Pointer[herald.Subscription[int]]
		returns(t, what, func() {
			gone = weak.Make(func() *herald.Subscription[int] {
				topic := newBus[int](t)
				first := subscribe(t, topic, "first", herald.WithCapacity(1), herald.WithOverflow(c.plan))
				s := subscribe(t, topic, "s")
				publishAll(t, topic, 1)
				done := make(chan struct{})
				go func() {
					defer close(done)
					s.Step(t.Context(), func(ctx context.Context, _ herald.Message[int]) error {
						return topic.Publish(ctx, 2)
					})
				}()
				<-done
				first.Close()
				s.Close()
				s.Discard()
				return s
			}())
		})
		collected(t, strconv.Quote(what), gone)
	}
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
