package herald_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// failing makes a rig in which one message has died of errBoom.
func failing(t *testing.T, opts ...herald.SubOption) *rig {
	t.Helper()
	r := newRig(t, append(opts, herald.WithRetry(policy.Never()))...)
	r.publish("bad")
	r.steps(r.handle(fails("bad", 1)))
	if len(r.letters) != 1 {
		t.Fatalf("dead letters: %+v", r.letters)
	}
	r.seen, r.trace = nil, nil
	return r
}

// TestG28_ALetterCarriesAll: the whole message as it was published, who failed it, why, the last error, how often it was
// tried and replayed, and when.
func TestG28_ALetterCarriesAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, herald.WithRetry(policy.Schedule{time.Second}))
		time.Sleep(time.Hour)
		first := herald.NewHeaders(map[string]string{"a": "1", "b": "2"})
		r.publish("other")
		r.publish("it", herald.WithKey("k"), herald.WithID("id"), herald.WithPriority(herald.High), herald.WithHeaders(first),
			herald.WithTTL(time.Minute))
		var last herald.Message[string] // as the handler saw it
		h := func(_ context.Context, m herald.Message[string]) error {
			if m.Payload != "it" {
				return nil
			}
			last = m
			return fmt.Errorf("attempt %d: %w", m.Attempt, errBoom)
		}
		consumers["Receive"](r, 3, h)
		for replays := range 2 {
			d := r.letters[replays]
			wantEqual(t, last, d.Message) // by Meta.Equal: all of it
			wantEqual(t, []any{"it", "bus", "id", "k", herald.High, int32(2), replays, uint64(2)},
				[]any{d.Payload, d.Topic(), d.ID(), d.Key, d.Priority, d.Attempt, d.Replays(), d.Seq})
			wantEqual(t, []any{"sub", herald.RetriesExhausted, "attempt 2: boom"}, []any{d.Subscription, d.Reason, d.Err.Error()})
			wantErr(t, "the error", d.Err, errBoom)
			wantEqual(t, []time.Duration{time.Hour, time.Hour + time.Duration(replays+1)*time.Second},
				[]time.Duration{d.Time().Sub(r.begun), d.At.Sub(r.begun)})
			wantEqual(t, first, d.Headers())
			if replays == 0 {
				wantErr(t, "Replay", d.Replay(t.Context()), nil)
				consumers["Receive"](r, 2, h)
			}
		}
	})
}

// TestG28_APutThatFailsIsCounted: whether it returns an error, panics or ends its goroutine, the message is dead, the loss
// is counted, and delivery goes on.
func TestG28_APutThatFailsIsCounted(t *testing.T) {
	for name, put := range map[string]func() error{
		"error":  func() error { return errBoom },
		"panic":  func() error { panic(errBoom) },
		"goexit": func() error { runtime.Goexit(); return nil },
	} {
		for how, driver := range drivers {
			t.Run(name+"/"+how, func(t *testing.T) {
				topic := newBus[string](t)
				r := &rig{t: t, topic: topic}
				r.sub = subscribe(t, topic.DeadLetterTo(func(herald.DeadLetter[string]) error { return put() }), "sub",
					herald.WithRetry(policy.Never()), herald.WithConcurrency(driver.concurrency))
				publishAll(t, topic, "bad", "good")
				topic.Close()
				driver.drive(r, r.handle(fails("bad", 1)))
				s := r.sub.Stats()
				checkSound(t, s)
				wantEqual(t, []uint64{1, 1, 1, 0}, []uint64{s.Delivered, s.DeadBy.RetriesExhausted, s.PutFailed, s.InFlight})
			})
		}
	}
}

// TestG28_DeadLetteringNeedsNoContext: what dies when the consumer's and the publisher's contexts are done is kept all the
// same.
func TestG28_DeadLetteringNeedsNoContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, herald.WithCapacity(1))
		ctx, cancel := context.WithCancel(t.Context())
		for _, v := range []string{"old", "overflows"} {
			wantErr(t, "Publish", r.topic.Publish(ctx, v, herald.WithTTL(time.Second)), nil)
		}
		r.sub.Pause()
		ended := r.start(func() { _ = r.sub.Run(ctx, r.handle(nil)) })
		cancel()
		<-ended
		time.Sleep(time.Second)
		_ = r.sub.Stats()
		wantEqual(t, 2, len(r.letters))
		wantEqual(t, []herald.Reason{herald.Overflow, herald.Expired}, []herald.Reason{r.letters[0].Reason, r.letters[1].Reason})
	})
}

// TestG29_OnlyWhereItFailed: a replayed message goes to the subscription that failed, at the end of the line, with its
// attempts anew; nobody else gets it, and the filter isn't asked.
func TestG29_OnlyWhereItFailed(t *testing.T) {
	topic := newBus[string](t)
	open := true
	var box letterBox[string]
	failing := subscribe(t, topic.Filter(func(herald.Message[string]) bool { return open }).DeadLetterTo(box.put),
		"failing", herald.WithRetry(policy.Schedule{0}))
	healthy := subscribe(t, topic.DeadLetterTo(box.put), "healthy")
	publishAll(t, topic, "bad")
	fail := func(context.Context, herald.Message[string]) error { return errBoom }
	for range 2 {
		stepWith(t, failing, fail)
	}
	publishAll(t, topic, "next")
	open = false
	wantErr(t, "Replay", box.list()[0].Replay(t.Context()), nil)
	wantTally(t, failing, tally{Offered: 2, Accepted: 3, Replayed: 1, Dead: 1, Queued: 2})
	wantEqual(t, []string{"bad", "next"}, takeAll(t, healthy))
	stepWith(t, failing, func(_ context.Context, m herald.Message[string]) error { wantEqual(t, "next", m.Payload); return nil })
	for attempt := range int32(2) {
		stepWith(t, failing, func(_ context.Context, m herald.Message[string]) error {
			wantEqual(t, []any{"bad", uint64(1), attempt + 1, 1}, []any{m.Payload, m.Seq, m.Attempt, m.Replays()})
			return errBoom
		})
	}
	wantErr(t, "Replay", box.list()[1].Replay(t.Context()), nil)
	stepWith(t, failing, func(_ context.Context, m herald.Message[string]) error { wantEqual(t, 2, m.Replays()); return nil })
}

// TestG29_InTheOrderOfReplay: replayed messages take places of their own, behind what waits already, and keep their
// priority and key.
func TestG29_InTheOrderOfReplay(t *testing.T) {
	r := newRig(t, herald.WithRetry(policy.Never()), herald.WithConcurrency(2))
	for _, v := range []string{"a", "b", "c"} {
		r.publish(v, herald.WithKey(v))
	}
	r.publish("high", herald.WithPriority(herald.High), herald.WithDelay(1))
	for len(r.letters) < 4 {
		r.steps(r.handle(func(herald.Message[string]) error { return errBoom }))
	}
	r.seen = nil
	r.publish("waits")
	r.publish("of-b", herald.WithKey("b"))
	for _, v := range []string{"c", "b", "high", "a"} {
		for _, d := range r.letters {
			if d.Payload == v {
				wantErr(t, "Replay", d.Replay(t.Context()), nil)
			}
		}
	}
	r.publish("after")
	r.steps(r.handle(nil))
	r.wantSeen("high waits of-b c b a after")
}

// TestG29_WhatKeepsALetterFromGoingHome: no room (until there is), a closed subscription, a ctx that is done, or no home
// at all. The letter is as good as before.
func TestG29_WhatKeepsALetterFromGoingHome(t *testing.T) {
	r := failing(t, herald.WithCapacity(1), herald.WithOverflow(policy.DropOldest()))
	d := r.letters[0]
	r.publish("filler")
	wantErr(t, "Replay with a full queue", d.Replay(t.Context()), herald.ErrFull)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errBoom)
	wantErr(t, "Replay with a ctx that is done", d.Replay(ctx), errBoom)
	wantErr(t, "Replay with a nil ctx", d.Replay(noContext), herald.ErrOption)
	wantEqual(t, false, d.Replayed())
	r.steps(r.handle(nil))
	wantErr(t, "Replay with room", d.Replay(t.Context()), nil)
	wantEqual(t, true, d.Replayed())
	r.steps(r.handle(nil))
	r.wantSeen("filler bad")

	r = failing(t)
	wantErr(t, "Replay of a letter made by hand", (herald.DeadLetter[string]{}).Replay(t.Context()), herald.ErrClosed)
	before := r.sub.Stats()
	r.sub.Close()
	wantErr(t, "Replay to a closed subscription", r.letters[0].Replay(t.Context()), herald.ErrClosed)
	wantEqual(t, false, r.letters[0].Replayed())
	before.Closed = true
	wantEqual(t, before, r.sub.Stats())
}

// TestG29_OnceForALetterAndAllItsCopies: whoever comes second gets ErrSettled, however many there are at the same time.
func TestG29_OnceForALetterAndAllItsCopies(t *testing.T) {
	const letters, replayers = 200, 4
	r := newRig(t, herald.WithRetry(policy.Never()))
	for range letters {
		r.publish("bad")
	}
	r.steps(r.handle(fails("bad", 1)))
	var wins, losses tape[int]
	var all sync.WaitGroup
	for range replayers {
		copies := append([]herald.DeadLetter[string](nil), r.letters...)
		all.Go(func() {
			for i, d := range copies {
				switch err := d.Replay(t.Context()); {
				case err == nil:
					wins.add(i)
				case errors.Is(err, herald.ErrSettled) && d.Replayed():
					losses.add(i)
				default:
					t.Errorf("Replay = %v", err)
				}
			}
		})
	}
	all.Wait()
	wantEqual(t, []int{letters, letters * (replayers - 1)}, []int{len(wins.list()), len(losses.list())})
	wantEqual(t, uint64(letters), r.sub.Stats().Replayed)
	r.steps(r.handle(nil))
	wantEqual(t, uint64(letters), r.sub.Stats().Delivered)
}

// TestG29_ReplayFromInside: a letter may be sent back by the very function that is given it, and by a handler.
func TestG29_ReplayFromInside(t *testing.T) {
	topic := newBus[string](t)
	r := &rig{t: t, topic: topic}
	var kept herald.DeadLetter[string]
	r.sub = subscribe(t, topic.DeadLetterTo(func(d herald.DeadLetter[string]) error {
		if d.Replays() == 0 {
			return d.Replay(t.Context())
		}
		kept = d
		return nil
	}), "sub", herald.WithRetry(policy.Never()))
	publishAll(t, topic, "bad", "next")
	r.steps(r.handle(func(m herald.Message[string]) error {
		if m.Payload == "bad" && m.Replays() < 2 {
			return errBoom
		}
		return nil
	}))
	publishAll(t, topic, "last")
	r.steps(r.handle(func(herald.Message[string]) error {
		if d := kept; !d.Replayed() {
			wantErr(t, "Replay", d.Replay(t.Context()), nil)
		}
		return nil
	}))
	r.wantSeen("bad next bad last bad")
}
