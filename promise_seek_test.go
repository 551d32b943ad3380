package herald_test

import (
	"context"
	"testing"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// What is read again after a Seek is Replayed, and only that: what the cursor had never read is Offered (G39).
func TestG39_SeekReplays(t *testing.T) {
	topic := newLog[int](t, herald.Retention{})
	publishN(t, topic, 10)
	s := subscribe(t, topic, "s", herald.WithStart(herald.AtSeq(5)))
	wantEqual(t, upTo(5, 10), seqs(t, s))
	if err := s.Seek(t.Context(), herald.Oldest()); err != nil {
		t.Fatal(err)
	}
	if n := s.Stats(); n.Committed != 0 || n.Lag != 10 {
		t.Errorf("after Seek: committed %d, lag %d", n.Committed, n.Lag)
	}
	wantEqual(t, upTo(1, 10), seqs(t, s))
	wantTally(t, s, tally{Offered: 10, Replayed: 6, Accepted: 16, Delivered: 16})
	if err := s.Seek(t.Context(), herald.Newest()); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, []int(nil), seqs(t, s))
	publishN(t, topic, 1)
	wantEqual(t, []int{11}, seqs(t, s))
	wantTally(t, s, tally{Offered: 11, Replayed: 6, Accepted: 17, Delivered: 17})
}

// Seek voids leases, and what was read and waits, a retry included, is discarded and read again (G39).
func TestG39_SeekVoidsLeases(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newLog[int](t, herald.Retention{})
		s := subscribe(t, topic, "s", herald.WithConcurrency(2))
		publishN(t, topic, 4)
		first, err := s.Receive(ctx)
		if err != nil {
			t.Fatal(err)
		}
		second, err := s.Receive(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := second.Nack(policy.RetryAfter(time.Hour, errAttempt)); err != nil {
			t.Fatal(err)
		}
		if err := s.Seek(ctx, herald.Committed()); err != nil {
			t.Fatal(err)
		}
		wantErr(t, "ack after Seek", first.Ack(), herald.ErrLeaseLost)
		wantTally(t, s, tally{Offered: 4, Accepted: 4, Discarded: 4})
		wantEqual(t, upTo(1, 4), seqs(t, s))
		wantTally(t, s, tally{Offered: 4, Replayed: 4, Accepted: 8, Discarded: 4, Delivered: 4})
	})
}

// Seek waits for handlers under way; no other begins meanwhile, and when its ctx ends nothing has changed (G39).
func TestG39_SeekWaitsForHandlers(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newLog[int](t, herald.Retention{})
		s := subscribe(t, topic, "s", herald.WithConcurrency(2))
		var got tape[int]
		gate := make(chan struct{})
		over := running(ctx, s, func(_ context.Context, m herald.Message[int]) error {
			got.add(int(m.Seq))
			if m.Seq == 1 {
				<-gate
			}
			return nil
		})
		publishN(t, topic, 2)
		settle()
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		wantErr(t, "seek with an end", s.Seek(short, herald.Oldest()), context.DeadlineExceeded)
		sought := background(func() error { return s.Seek(ctx, herald.Oldest()) })
		settle()
		wantErr(t, "second seek", s.Seek(ctx, herald.Oldest()), herald.ErrBusy)
		publishN(t, topic, 1)
		settle()
		wantEqual(t, []int{1, 2}, got.list())
		if !pending(sought) {
			t.Error("Seek did not wait for the handler")
		}
		close(gate)
		if err := <-sought; err != nil {
			t.Fatal(err)
		}
		if err := s.Drain(ctx); err != nil {
			t.Fatal(err)
		}
		if err := <-over; err != nil {
			t.Fatal(err)
		}
		wantTally(t, s, tally{Offered: 3, Replayed: 2, Accepted: 5, Delivered: 5})
	})
}

// Inside a handler of its own Seek would wait for itself (G18, G39).
func TestG39_SeekInsideIsDeadlock(t *testing.T) {
	topic := newLog[int](t, herald.Retention{})
	s := subscribe(t, topic, "s")
	publishN(t, topic, 1)
	stepWith(t, s, func(ctx context.Context, _ herald.Message[int]) error {
		wantErr(t, "seek inside", s.Seek(ctx, herald.Oldest()), herald.ErrDeadlock)
		return nil
	})
}

// A letter that was replayed is no part of the log: a Seek leaves it in the queue (G29, G39).
func TestG39_SeekKeepsReplayedLetters(t *testing.T) {
	topic := newLog[int](t, herald.Retention{})
	var letters letterBox[int]
	s := subscribe(t, topic.DeadLetterTo(letters.put), "s")
	publishN(t, topic, 2)
	stepWith(t, s, func(context.Context, herald.Message[int]) error { return policy.Permanent(errAttempt) })
	if err := letters.list()[0].Replay(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Seek(t.Context(), herald.Newest()); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, []int{1}, seqs(t, s))
	wantTally(t, s, tally{Offered: 2, Replayed: 1, Accepted: 3, Delivered: 1, Dead: 1, Discarded: 1})
}

// Close: what was published before still arrives, later messages don't (G32, G39).
func TestG39_CloseKeepsTheRest(t *testing.T) {
	topic := newLog[int](t, herald.Retention{})
	s := subscribe(t, topic, "s")
	publishN(t, topic, 200)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	publishN(t, topic, 1)
	var got tape[int]
	if err := s.Run(t.Context(), got.handler); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, upTo(1, 200), got.list())
	_, err := s.Receive(t.Context())
	wantErr(t, "receive after the end", err, herald.ErrClosed)
}

// A sleeping cursor is woken by what is published, in every way of consuming (G9, G39).
func TestG39_Wakes(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newLog[int](t, herald.Retention{})
		var ran, batched tape[int]
		run, batch, pull := subscribe(t, topic, "run", herald.WithConcurrency(3)), subscribe(t, topic, "batch"), subscribe(t, topic, "pull")
		ends := []<-chan error{
			running(ctx, run, ran.handler),
			background(func() error {
				return batch.RunBatch(ctx, 100, time.Second, func(_ context.Context, ms []herald.Message[int]) error {
					batched.add(len(ms))
					return nil
				})
			}),
			background(func() error {
				for d := range pull.Messages(ctx) {
					if err := d.Ack(); err != nil {
						return err
					}
				}
				return nil
			}),
		}
		settle()
		for range 3 {
			publishN(t, topic, 70)
			settle()
		}
		wantEqual(t, 210, len(ran.list()))
		wantEqual(t, []int{100, 100}, batched.list())
		if err := topic.Drain(ctx); err != nil {
			t.Fatal(err)
		}
		for _, e := range ends {
			if err := <-e; err != nil {
				t.Fatal(err)
			}
		}
		wantEqual(t, []int{100, 100, 10}, batched.list())
		wantTally(t, pull, tally{Offered: 210, Accepted: 210, Delivered: 210})
	})
}
