package herald

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heraldbus/herald/policy"
)

// G15, G18: Replay meets expired messages and hands them to Put, which is user
// code and may replay the same letter: it must not do so under the ticket's mutex.
func TestG15_PutDuringReplayMayReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var topic Topic[int]
		var letter DeadLetter[int]
		inner := errors.New("Put was not called")
		sub, err := topic.DeadLetterTo(func(d DeadLetter[int]) error {
			if d.Reason == Expired {
				inner = letter.Replay(context.Background())
				return nil
			}
			letter = d
			return nil
		}).Subscribe("s", WithRetry(policy.Never()))
		if err != nil {
			t.Fatal(err)
		}
		topic.Publish(t.Context(), 1)
		sub.Step(t.Context(), func(context.Context, Message[int]) error { return errors.New("no") })
		topic.Publish(t.Context(), 2, WithTTL(time.Second))
		time.Sleep(time.Second)
		outer := letter.Replay(t.Context()) // hangs: sync.Mutex locked twice by one goroutine
		if (inner == nil) == (outer == nil) {
			t.Errorf("inner %v, outer %v: want one winner", inner, outer)
		}
	})
}

// G29: who handles the replayed message must see that its letter is replayed;
// else a store that fills up in that moment evicts another in its place.
func TestG29_ReplayedBeforeHandled(t *testing.T) {
	var topic Topic[int]
	var letter atomic.Pointer[DeadLetter[int]]
	dead := make(chan struct{}, 1)
	sub, err := topic.DeadLetterTo(func(d DeadLetter[int]) error {
		letter.Store(&d)
		dead <- struct{}{}
		return nil
	}).Subscribe("s", WithRetry(policy.Never()))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	late := 0
	done := make(chan struct{})
	go func() {
		defer close(done)
		sub.Run(ctx, func(_ context.Context, m Message[int]) error {
			if l := letter.Load(); l != nil && !l.Replayed() {
				late++
			}
			return errors.New("no")
		})
	}()
	topic.Publish(t.Context(), 1)
	for range 20000 {
		<-dead
		letter.Load().Replay(t.Context())
	}
	<-dead
	cancel()
	<-done
	if late > 0 {
		t.Errorf("%d of 20000 replayed messages were handled before their letter was replayed", late)
	}
}
