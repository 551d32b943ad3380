package herald_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// An overflowFunc is a policy of the user's own.
type overflowFunc func(policy.Full) policy.Action

func (f overflowFunc) OnFull(full policy.Full) policy.Action { return f(full) }

// A policy of one's own is told how things stand: capacity, the message's priority, the lowest queued and the age of
// what DropOldest would evict (G7).
func TestG07_PolicyIsTold(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic, asked := newBus[int](t), tape[policy.Full]{}
		s := subscribe(t, topic, "s", herald.WithCapacity(3), herald.WithOverflow(overflowFunc(func(f policy.Full) policy.Action {
			asked.add(f)
			return policy.DropOldest()
		})))
		publish := func(p herald.Priority) {
			wantErr(t, "Publish", topic.Publish(ctx, 0, herald.WithPriority(p)), nil)
			time.Sleep(time.Second)
		}
		publish(herald.High)
		publish(herald.Normal) // at 1 s
		publish(herald.Critical)
		if n := len(asked.list()); n != 0 {
			t.Errorf("asked %d times while there was room", n)
		}
		publish(herald.Low)      // at 3 s: dropped itself
		publish(herald.Critical) // at 4 s: evicts the normal one
		publish(herald.Normal)
		wantEqual(t, []policy.Full{
			{Capacity: 3, Priority: herald.Low, Lowest: herald.Normal, OldestAge: 2 * time.Second},
			{Capacity: 3, Priority: herald.Critical, Lowest: herald.Normal, OldestAge: 3 * time.Second},
			{Capacity: 3, Priority: herald.Normal, Lowest: herald.High, OldestAge: 5 * time.Second},
		}, asked.list())
		wantTally(t, s, tally{Offered: 6, Accepted: 6, Dropped: 3, Queued: 3})
	})
}

// After a wait it's asked again, with Waited, as long as it answers Block (G7).
func TestG07_PolicyIsAskedAgain(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic, asked := newBus[int](t), tape[time.Duration]{}
		s := subscribe(t, topic, "s", herald.WithCapacity(1), herald.WithOverflow(overflowFunc(func(f policy.Full) policy.Action {
			asked.add(f.Waited)
			if f.Waited < 3*time.Second {
				return policy.Block(f.Waited + time.Second)
			}
			return policy.DropOldest()
		})))
		publishAll(t, topic, 1)
		start := time.Now()
		publishAll(t, topic, 2)
		wantEqual(t, 3*time.Second, time.Since(start))
		wantEqual(t, []time.Duration{0, time.Second, 3 * time.Second}, asked.list())
		wantEqual(t, []int{2}, takeAll(t, s))
	})
}

// One that has an Else isn't asked again: it has said what it wants (G7).
func TestG07_PolicyWithElseIsNotAskedAgain(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic, asked := newBus[int](t), tape[time.Duration]{}
		s := subscribe(t, topic, "s", herald.WithCapacity(1), herald.WithOverflow(overflowFunc(func(f policy.Full) policy.Action {
			asked.add(f.Waited)
			return policy.Block(time.Second).Else(policy.DropNewest())
		})))
		publishAll(t, topic, 1, 2)
		wantEqual(t, []time.Duration{0}, asked.list())
		wantTally(t, s, tally{Offered: 2, Accepted: 2, Dropped: 1, Queued: 1})
	})
}

// Its answer is applied to the queue as it is then: where there's room by now the message is just accepted, and what
// has closed is not offered (G7).
func TestG07_PolicyAnswersTooLate(t *testing.T) {
	topic := newBus[int](t)
	var s *herald.Subscription[int]
	meanwhile := func() {}
	s = subscribe(t, topic, "s", herald.WithCapacity(1), herald.WithOverflow(overflowFunc(func(policy.Full) policy.Action {
		meanwhile()
		return policy.Reject()
	})))
	publishAll(t, topic, 1)
	meanwhile = func() { s.Discard() }
	publishAll(t, topic, 2)
	wantTally(t, s, tally{Offered: 2, Accepted: 2, Discarded: 1, Queued: 1})
	meanwhile = func() { s.Close() }
	publishAll(t, topic, 3)
	wantTally(t, s, tally{Offered: 2, Accepted: 2, Discarded: 1, Queued: 1})
}

// The same at the end of a wait: who was admitted or released while the policy was thinking is not asked for more.
func TestG07_PolicyAnswersTooLateAfterWait(t *testing.T) {
	for what, c := range map[string]struct {
		meanwhile func(*herald.Subscription[int])
		want      tally
	}{
		"room":  {func(s *herald.Subscription[int]) { s.Discard() }, tally{Offered: 2, Accepted: 2, Discarded: 1, Queued: 1}},
		"close": {func(s *herald.Subscription[int]) { s.Close() }, tally{Offered: 1, Accepted: 1, Queued: 1}},
	} {
		bubble(t, what, func(ctx context.Context, t *testing.T) {
			topic := newBus[int](t)
			var s *herald.Subscription[int]
			s = subscribe(t, topic, "s", herald.WithCapacity(1), herald.WithOverflow(overflowFunc(func(f policy.Full) policy.Action {
				if f.Waited == 0 {
					return policy.Block(time.Second)
				}
				c.meanwhile(s)
				return policy.Reject()
			})))
			publishAll(t, topic, 1, 2)
			wantTally(t, s, c.want)
		})
	}
}

// nonsense are policies that fail, and whether they panic.
var nonsense = map[string]struct {
	policy policy.Overflow
	panics bool
}{
	"panic":          {overflowFunc(func(policy.Full) policy.Action { panic("policy") }), true},
	"panic(nil)":     {overflowFunc(func(policy.Full) policy.Action { panic(nil) }), true},
	"zero action":    {overflowFunc(func(policy.Full) policy.Action { return policy.Action{} }), false},
	"negative block": {overflowFunc(func(policy.Full) policy.Action { return policy.Block(-1) }), false},
	"idle else":      {overflowFunc(func(policy.Full) policy.Action { return policy.Reject().Else(policy.Reject()) }), false},
	"zero else":      {overflowFunc(func(policy.Full) policy.Action { return policy.Block(1).Else(policy.Action{}) }), false},
	"panic after a wait": {overflowFunc(func(f policy.Full) policy.Action {
		if f.Waited == 0 {
			return policy.Block(time.Second)
		}
		panic("policy")
	}), true},
	"zero action after a wait": {overflowFunc(func(f policy.Full) policy.Action {
		if f.Waited == 0 {
			return policy.Block(time.Second)
		}
		return policy.Action{}
	}), false},
}

// A policy that panics or answers nonsense makes the message Dead(PolicyFailed) for its subscription; publisher and
// others go on (G7).
func TestG07_PolicyFails(t *testing.T) {
	for what, c := range nonsense {
		bubble(t, what, func(ctx context.Context, t *testing.T) {
			topic, box := newBus[int](t), letterBox[int]{}
			s := subscribe(t, topic.DeadLetterTo(box.put), "s", herald.WithCapacity(1), herald.WithOverflow(c.policy))
			bare := subscribe(t, topic, "bare", herald.WithCapacity(1), herald.WithOverflow(c.policy))
			other := subscribe(t, topic, "other")
			publishAll(t, topic, 1, 2)
			wantEqual(t, []int{1, 2}, takeAll(t, other))
			for _, s := range []*herald.Subscription[int]{s, bare} {
				wantTally(t, s, tally{Offered: 2, Accepted: 2, Dead: 1, Queued: 1})
				wantEqual(t, herald.DeadCounts{PolicyFailed: 1}, s.Stats().DeadBy)
				wantEqual(t, []int{1}, takeAll(t, s))
			}
			if len(box.list()) != 1 {
				t.Fatalf("%d letters", len(box.list()))
			}
			d := box.list()[0]
			if _, panicked := errors.AsType[*herald.PanicError](d.Err); d.Reason != herald.PolicyFailed || panicked != c.panics || d.Err == nil {
				t.Errorf("letter's reason is %v, its error %v", d.Reason, d.Err)
			}
		})
	}
}

// A policy that answers DeadLetter where there is no store can't be known before: it's refused like Reject.
func TestG07_PolicyAnswersDeadLetterWithoutStore(t *testing.T) {
	topic := newBus[int](t)
	s := subscribe(t, topic, "s", herald.WithCapacity(1),
		herald.WithOverflow(overflowFunc(func(policy.Full) policy.Action { return policy.DeadLetter() })))
	publishAll(t, topic, 1)
	wantRefused(t, topic.Publish(t.Context(), 2), map[string]error{"s": herald.ErrFull})
	wantTally(t, s, tally{Offered: 2, Accepted: 1, Refused: 1, Queued: 1})
}

var errStore = errors.New("store is down")

// badStores are dead-letter functions that don't take the letter.
var badStores = map[string]func(herald.DeadLetter[int]) error{
	"fails":         func(herald.DeadLetter[int]) error { return errStore },
	"panics":        func(herald.DeadLetter[int]) error { panic(errStore) },
	"fails as full": func(herald.DeadLetter[int]) error { return errors.Join(errStore, herald.ErrFull) },
}

// A message that overflows into a store that fails or panics is kept by nobody: the publisher is told both that the
// queue is full and what the store said, and it's counted (G7).
func TestG07_OverflowIntoFailingStore(t *testing.T) {
	for what, put := range badStores {
		topic := newBus[int](t)
		s := subscribe(t, topic.DeadLetterTo(put), "s", herald.WithCapacity(1))
		publishAll(t, topic, 1)
		err := topic.Publish(t.Context(), 2)
		wantRefused(t, err, map[string]error{"s": herald.ErrFull})
		wantErr(t, what, err, errStore)
		wantTally(t, s, tally{Offered: 2, Accepted: 1, Refused: 1, Queued: 1})
		if n := s.Stats().PutFailed; n != 1 {
			t.Errorf("%s: PutFailed is %d", what, n)
		}
	}
}

// A message that dies for another reason is dead all the same, and the lost letter counted (G7, G28).
func TestG07_DeathWithFailingStore(t *testing.T) {
	for what, put := range badStores {
		topic := newBus[int](t)
		s := subscribe(t, topic.DeadLetterTo(put), "s", herald.WithRetry(policy.Never()))
		publishAll(t, topic, 1, 2)
		stepWith(t, s, func(context.Context, herald.Message[int]) error { return errAttempt })
		wantTally(t, s, tally{Offered: 2, Accepted: 2, Dead: 1, Queued: 1})
		if n := s.Stats().PutFailed; n != 1 {
			t.Errorf("%s: PutFailed is %d", what, n)
		}
		wantEqual(t, []int{2}, takeAll(t, s))
	}
}

// A policy is asked by all publishers at the same time, without order or lock (G7).
func TestG07_PolicyIsAskedConcurrently(t *testing.T) {
	topic := newBus[int](t)
	var meet sync.WaitGroup
	meet.Add(2)
	s := subscribe(t, topic, "s", herald.WithCapacity(1), herald.WithOverflow(overflowFunc(func(policy.Full) policy.Action {
		meet.Done()
		meet.Wait() // for the other one
		return policy.DropNewest()
	})))
	publishAll(t, topic, 1)
	returns(t, "asking twice", func() {
		var g sync.WaitGroup
		for range 2 {
			g.Go(func() { topic.Publish(t.Context(), 2) })
		}
		g.Wait()
	})
	wantTally(t, s, tally{Offered: 3, Accepted: 3, Dropped: 2, Queued: 1})
}
