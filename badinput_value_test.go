package herald_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// A Delivery that no Receive made can't be settled.
func TestBadInput_ZeroDelivery(t *testing.T) {
	for what, settle := range map[string]func(*herald.Delivery[int]) error{
		"Ack":     (*herald.Delivery[int]).Ack,
		"Nack":    func(d *herald.Delivery[int]) error { return d.Nack(errAttempt) },
		"Release": (*herald.Delivery[int]).Release,
		"Extend":  func(d *herald.Delivery[int]) error { return d.Extend(time.Second) },
	} {
		wantTyped(t, what, settle(new(herald.Delivery[int])), herald.ErrOption, "", "")
	}
}

// A Delivery whose message has been exchanged settles the one that it was received for.
func TestBadInput_ForeignDelivery(t *testing.T) {
	topic := newBus[int](t)
	a, b := subscribe(t, topic, "a"), subscribe(t, topic, "b")
	publishAll(t, topic, 1)
	da, _ := a.TryReceive()
	db, _ := b.TryReceive()
	da.Message, db.Message = db.Message, herald.Message[int]{}
	wantErr(t, "Ack", da.Ack(), nil)
	wantTyped(t, "Ack again", da.Ack(), herald.ErrSettled, "bus", "a")
	wantTyped(t, "Extend", db.Extend(0), herald.ErrOption, "bus", "b")
	wantTyped(t, "Extend", db.Extend(-1), herald.ErrOption, "bus", "b")
	wantErr(t, "Release", db.Release(), nil)
	wantTally(t, a, tally{Offered: 1, Accepted: 1, Delivered: 1})
	wantEqual(t, []int{1}, takeAll(t, b))
}

// A dead letter that no subscription made has no home.
func TestBadInput_ZeroDeadLetter(t *testing.T) {
	var zero herald.DeadLetter[int]
	wantTyped(t, "Replay", zero.Replay(t.Context()), herald.ErrClosed, "", "")
	made := herald.DeadLetter[int]{Subscription: "s", Reason: 99}
	wantTyped(t, "Replay", made.Replay(t.Context()), herald.ErrClosed, "", "s")
	if made.Replayed() || made.Reason.String() != "reason(99)" {
		t.Errorf("replayed %v, reason %v", made.Replayed(), made.Reason)
	}
}

// A dead letter is a value that its holder may change: whatever they write into it, Replay doesn't panic, and the
// subscription goes on. A priority that isn't one is an error, as it is at Publish.
func TestBadInput_ChangedDeadLetter(t *testing.T) {
	for what, c := range map[string]struct {
		change func(*herald.DeadLetter[int])
		want   error
	}{
		"payload":      {func(d *herald.DeadLetter[int]) { d.Payload = 7 }, nil},
		"key":          {func(d *herald.DeadLetter[int]) { d.Key = "k" }, nil},
		"subscription": {func(d *herald.DeadLetter[int]) { d.Subscription = "other" }, nil},
		"attempt":      {func(d *herald.DeadLetter[int]) { d.Attempt = -5 }, nil},
		"reason":       {func(d *herald.DeadLetter[int]) { d.Reason, d.Err = 99, nil }, nil},
		"priority 99":  {func(d *herald.DeadLetter[int]) { d.Priority = 99 }, herald.ErrOption},
		"priority -99": {func(d *herald.DeadLetter[int]) { d.Priority = -99 }, herald.ErrOption},
		"zero message": {func(d *herald.DeadLetter[int]) { d.Message = herald.Message[int]{Payload: 7} }, herald.ErrOption},
		"other's meta": {func(d *herald.DeadLetter[int]) { d.Meta = metaOfAnotherTopic(t) }, nil},
	} {
		t.Run(what, func(t *testing.T) {
			topic, err := herald.NewTopic[int]("bus", silent()) // not closed at the end: it may be locked
			if err != nil {
				t.Fatal(err)
			}
			var letter herald.DeadLetter[int]
			s := subscribe(t, topic.DeadLetterTo(func(d herald.DeadLetter[int]) error { letter = d; return nil }), "s")
			publishAll(t, topic, 1)
			stepWith(t, s, func(context.Context, herald.Message[int]) error { return policy.Permanent(errAttempt) })
			changed := letter
			c.change(&changed)
			returns(t, "Replay or what comes after", func() {
				defer func() {
					if v := recover(); v != nil {
						t.Errorf("panic: %v", v)
					}
				}()
				if err := changed.Replay(t.Context()); c.want == nil {
					wantErr(t, "Replay", err, nil)
				} else {
					wantErr(t, "Replay", err, c.want)
					wantErr(t, "Replay as it was", letter.Replay(t.Context()), nil)
				}
			})
			returns(t, "the subscription", func() {
				if got := takeAll(t, s); len(got) != 1 {
					t.Errorf("got %v", got)
				}
				checkSound(t, s.Stats())
			})
		})
	}
}

func metaOfAnotherTopic(t *testing.T) herald.Meta {
	t.Helper()
	topic := newBusNamed[int](t, "another")
	s := subscribe(t, topic, "s")
	publishAll(t, topic, 1)
	d, _ := s.TryReceive()
	d.Ack()
	return d.Meta
}

// A Subscription that Subscribe didn't make is no use, but panics no more than anything else.
func TestBadInput_ZeroSubscription(t *testing.T) {
	nothing := func(context.Context, herald.Message[int]) error { return nil }
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for what, call := range map[string]func(*herald.Subscription[int]){
		"Name":       func(s *herald.Subscription[int]) { s.Name() },
		"Run":        func(s *herald.Subscription[int]) { s.Run(done, nothing) },
		"Step":       func(s *herald.Subscription[int]) { s.Step(t.Context(), nothing) },
		"Receive":    func(s *herald.Subscription[int]) { s.Receive(done) },
		"TryReceive": func(s *herald.Subscription[int]) { s.TryReceive() },
		"Messages": func(s *herald.Subscription[int]) {
			for range s.Messages(done) {
			}
		},
		"Pause":    func(s *herald.Subscription[int]) { s.Pause(); s.Resume() },
		"WaitIdle": func(s *herald.Subscription[int]) { s.WaitIdle(t.Context()) },
		"Stats":    func(s *herald.Subscription[int]) { s.Stats() },
		"Discard":  func(s *herald.Subscription[int]) { s.Discard() },
		"Close":    func(s *herald.Subscription[int]) { s.Close() },
		"Drain":    func(s *herald.Subscription[int]) { s.Drain(done) },
	} {
		returns(t, what, func() {
			defer func() {
				if v := recover(); v != nil {
					t.Errorf("%s panics: %v", what, v)
				}
			}()
			call(new(herald.Subscription[int]))
		})
	}
}

// The zero message says nothing, and doesn't panic either.
func TestBadInput_ZeroMessage(t *testing.T) {
	var m herald.Message[int]
	if m.ID() != "" || m.Topic() != "" || !m.Time().IsZero() || !m.Expires().IsZero() || m.Headers().Len() != 0 || m.Replays() != 0 {
		t.Errorf("%+v", m)
	}
	if !m.Equal(herald.Meta{}) || m.Equal(metaOfAnotherTopic(t)) || !cmp.Equal(m, herald.Message[int]{}) {
		t.Error("Equal")
	}
}
