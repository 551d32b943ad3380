package herald_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// newLog makes a topic that retains.
func newLog[T any](t testing.TB, keep herald.Retention) *herald.Topic[T] {
	t.Helper()
	return newBus[T](t, herald.WithRetain(keep))
}

// seqs handles what s has, by Step, and returns the Seq of each message. A gap is noted as a negative number: what was
// lost.
func seqs(t testing.TB, s *herald.Subscription[int]) (got []int) {
	t.Helper()
	for {
		ok, err := s.Step(t.Context(), func(_ context.Context, m herald.Message[int]) error {
			got = append(got, int(m.Seq))
			return nil
		})
		if gap, trimmed := errors.AsType[*herald.TrimmedError](err); trimmed {
			got = append(got, -int(gap.Lost))
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return got
		}
	}
}

func upTo(first, last int) (list []int) {
	for i := first; i <= last; i++ {
		list = append(list, i)
	}
	return list
}

// publishN publishes the values 1 to n.
func publishN(t testing.TB, topic *herald.Topic[int], n int, opts ...herald.PublishOption) {
	t.Helper()
	for i := range n {
		if err := topic.Publish(t.Context(), i+1, opts...); err != nil {
			t.Fatal(err)
		}
	}
}

// Offsets are dense, and all cursors see one order, also of concurrent publishers; a priority is carried and reorders
// nothing (G37).
func TestG37_OneOrder(t *testing.T) {
	topic := newLog[int](t, herald.Retention{})
	a, b := subscribe(t, topic, "a"), subscribe(t, topic, "b", herald.WithStart(herald.Oldest()))
	var done []<-chan error
	for p := range 4 {
		done = append(done, background(func() error {
			for i := range 250 {
				if err := topic.Publish(t.Context(), p*250+i, herald.WithPriority(priorities[i%4])); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	for _, d := range done {
		if err := <-d; err != nil {
			t.Fatal(err)
		}
	}
	var first, second tape[int]
	for _, r := range []struct {
		s *herald.Subscription[int]
		h herald.Handler[int]
	}{{a, first.handler}, {b, second.handler}} {
		for seq := uint64(1); seq <= 1000; seq++ {
			stepWith(t, r.s, func(ctx context.Context, m herald.Message[int]) error {
				if m.Seq != seq {
					t.Errorf("message %d where %d was expected", m.Seq, seq)
				}
				return r.h(ctx, m)
			})
		}
	}
	wantEqual(t, first.list(), second.list())
}

// What has no meaning on a log is an error, and so is a start without one (G37).
func TestG37_OptionsThatALogLacks(t *testing.T) {
	topic := newLog[int](t, herald.Retention{})
	for name, o := range map[string]herald.SubOption{
		"capacity":  herald.WithCapacity(1024),
		"overflow":  herald.WithOverflow(policy.Reject()),
		"latest":    herald.WithLatest(),
		"committed": herald.WithStart(herald.Committed()),
		"zero":      herald.WithStart(herald.Start{}),
		"beyond":    herald.WithStart(herald.AtSeq(2)),
		"nothing":   herald.WithStart(herald.AtSeq(0)),
	} {
		_, err := topic.Subscribe(name, o)
		wantErr(t, name, err, herald.ErrOption)
	}
	wantErr(t, "delay", topic.Publish(t.Context(), 1, herald.WithDelay(time.Second)), herald.ErrOption)
	plain := newBus[int](t)
	_, err := plain.Subscribe("s", herald.WithStart(herald.Oldest()))
	wantErr(t, "start without a log", err, herald.ErrOption)
	wantErr(t, "seek without a log", subscribe(t, plain, "s").Seek(t.Context(), herald.Oldest()), herald.ErrOption)
	for _, keep := range []herald.Retention{{Count: -1}, {Age: -1}, {Bytes: -1}, {Count: 1 << 31}} {
		_, err := herald.NewTopic[int]("bad", herald.WithRetain(keep))
		wantErr(t, "retention", err, herald.ErrOption)
	}
	if n := topic.Stats().Published; n != 0 {
		t.Errorf("%d messages were published", n)
	}
}

// Committed goes forward to below the first message without an end, whatever has ended above it (G38).
func TestG38_Committed(t *testing.T) {
	topic := newLog[int](t, herald.Retention{})
	s := subscribe(t, topic, "s", herald.WithConcurrency(4))
	publishN(t, topic, 4)
	var ds []*herald.Delivery[int]
	for range 4 {
		d, err := s.Receive(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ds = append(ds, d)
	}
	for _, c := range []struct {
		ack       int
		committed uint64
	}{{2, 0}, {1, 0}, {0, 3}, {3, 4}} {
		if err := ds[c.ack].Ack(); err != nil {
			t.Fatal(err)
		}
		n := s.Stats()
		checkSound(t, n)
		if n.Committed != c.committed || n.Lag != 4-c.committed {
			t.Errorf("after message %d: committed %d, lag %d, want %d", c.ack+1, n.Committed, n.Lag, c.committed)
		}
	}
}

// What was filtered, died, or was discarded has reached an end too (G38).
func TestG38_EveryEndCommits(t *testing.T) {
	topic := newLog[int](t, herald.Retention{})
	s := subscribe(t, topic.Filter(func(m herald.Message[int]) bool {
		if m.Payload == 3 {
			panic(m.Payload)
		}
		return m.Payload != 1
	}), "s")
	publishN(t, topic, 5)
	stepWith(t, s, func(context.Context, herald.Message[int]) error { return policy.Permanent(errAttempt) })
	stepWith(t, s, func(context.Context, herald.Message[int]) error { return nil })
	if n := s.Discard(); n != 1 {
		t.Errorf("discarded %d", n)
	}
	wantTally(t, s, tally{Offered: 5, Filtered: 1, Accepted: 4, Delivered: 1, Dead: 2, Discarded: 1})
	if n := s.Stats(); n.Committed != 5 || n.Lag != 0 {
		t.Errorf("committed %d, lag %d", n.Committed, n.Lag)
	}
}

// WithStart begins where it says (G39).
func TestG39_Start(t *testing.T) {
	inBubble(t, func(_ context.Context, t *testing.T) {
		topic := newLog[int](t, herald.Retention{Count: 6})
		var sixth time.Time
		for i := range 10 {
			if i == 6 {
				time.Sleep(time.Minute)
				sixth = time.Now()
			}
			publishAll(t, topic, i+1)
		}
		for name, c := range map[string]struct {
			at   herald.Start
			want []int
		}{
			"oldest":  {herald.Oldest(), upTo(5, 10)},
			"newest":  {herald.Newest(), nil},
			"seq":     {herald.AtSeq(8), upTo(8, 10)},
			"next":    {herald.AtSeq(11), nil},
			"time":    {herald.AtTime(sixth), upTo(7, 10)},
			"before":  {herald.AtTime(sixth.Add(-time.Second)), upTo(7, 10)},
			"ancient": {herald.AtTime(time.Time{}), upTo(5, 10)},
			"future":  {herald.AtTime(sixth.Add(time.Second)), nil},
			"trimmed": {herald.AtSeq(2), append([]int{-3}, upTo(5, 10)...)},
		} {
			wantEqual(t, c.want, seqs(t, subscribe(t, topic, name, herald.WithStart(c.at))))
		}
	})
}

// From history to live there's neither gap nor duplicate, with publishers running (G39).
func TestG39_HistoryToLive(t *testing.T) {
	const total = 2000
	topic := newLog[int](t, herald.Retention{})
	publishing := background(func() error {
		for i := range total {
			if err := topic.Publish(t.Context(), i); err != nil {
				return err
			}
		}
		return topic.Close()
	})
	for i := range 8 {
		s, err := topic.Subscribe(strconv.Itoa(i), herald.WithStart(herald.Oldest()), herald.WithConcurrency(1+i%2))
		if errors.Is(err, herald.ErrClosed) {
			break
		}
		var got tape[int]
		if err := s.Run(t.Context(), func(_ context.Context, m herald.Message[int]) error {
			got.add(int(m.Seq))
			if m.Seq == 100 {
				return s.Close()
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		seen := map[int]bool{}
		for _, seq := range got.list() {
			if seen[seq] {
				t.Errorf("message %d came twice", seq)
			}
			seen[seq] = true
		}
		for seq := range len(seen) {
			if !seen[seq+1] {
				t.Errorf("message %d of %d is missing", seq+1, len(seen))
			}
		}
	}
	if err := <-publishing; err != nil {
		t.Fatal(err)
	}
}

// A cursor that retention has overtaken hears of it once, by whatever way it consumes, and goes on at the first retained
// message (G39).
func TestG39_Trimmed(t *testing.T) {
	lag := func(t *testing.T) *herald.Subscription[int] {
		topic := newLog[int](t, herald.Retention{Count: 2})
		s := subscribe(t, topic, "s")
		publishN(t, topic, 5)
		return s
	}
	check := func(t *testing.T, s *herald.Subscription[int], err error) {
		t.Helper()
		gap, ok := errors.AsType[*herald.TrimmedError](err)
		if !ok || !errors.Is(err, herald.ErrTrimmed) {
			t.Fatalf("error %v, want ErrTrimmed", err)
		}
		wantEqual(t, herald.TrimmedError{Lost: 3, First: 4}, *gap)
		wantEqual(t, []int{4, 5}, seqs(t, s))
		n := s.Stats()
		checkSound(t, n)
		if n.Trimmed != 3 || n.Committed != 5 || n.Offered != 2 {
			t.Errorf("stats after the gap: %+v", n)
		}
	}
	t.Run("Step", func(t *testing.T) {
		s := lag(t)
		_, err := s.Step(t.Context(), func(context.Context, herald.Message[int]) error { return nil })
		check(t, s, err)
	})
	t.Run("Receive", func(t *testing.T) {
		s := lag(t)
		_, err := s.Receive(t.Context())
		check(t, s, err)
	})
	t.Run("Messages", func(t *testing.T) {
		s := lag(t)
		for d := range s.Messages(t.Context()) {
			t.Errorf("message %d", d.Seq)
		}
		check(t, s, s.Err())
	})
	t.Run("Run", func(t *testing.T) {
		s := lag(t)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		var got tape[int]
		if err := s.Run(t.Context(), got.handler); err != nil {
			t.Fatal(err)
		}
		wantEqual(t, []int{4, 5}, got.list())
		if n := s.Stats().Trimmed; n != 3 {
			t.Errorf("trimmed %d", n)
		}
	})
	t.Run("TryReceive", func(t *testing.T) {
		d, ok := lag(t).TryReceive()
		if !ok || d.Seq != 4 {
			t.Errorf("received %v", d)
		}
	})
}
