package boltlog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/heraldbus/herald/store"
)

// blockWrites lets the next transaction stop at its first write until release is called; entered is
// closed when it's there.
func blockWrites(s *Store) (entered <-chan struct{}, release func()) {
	in, out := make(chan struct{}), make(chan struct{})
	var once sync.Once
	onWrite(s.writer.db, func(real writeFunc, b []byte, at int64) (int, error) {
		once.Do(func() { close(in); <-out })
		return real(b, at)
	})
	return in, func() { close(out) }
}

// TestGroupCommit_G41 shows that all who come while the disk is busy share one transaction, and that nobody is forgotten (G41).
func TestGroupCommit_G41(t *testing.T) {
	const publishers = 200
	s := open(t, tempPath(t))
	l := openLog(t, s, "orders")
	metas := 0
	entered, release := blockWrites(s)
	var wg sync.WaitGroup
	publish := func(n int) {
		wg.Go(func() {
			if err := l.Append(t.Context(), records(n, 1)); err != nil {
				t.Error(err)
			}
		})
	}
	publish(1)
	<-entered
	for n := range publishers - 1 {
		publish(n + 2)
	}
	for !queued(s, publishers-1) {
		_ = s.Capabilities() // the others are on their way to the queue
	}
	onWrite(s.writer.db, func(real writeFunc, b []byte, at int64) (int, error) {
		if isMeta(at) {
			metas++
		}
		return real(b, at)
	})
	release()
	wg.Wait()
	if metas != 2 {
		t.Errorf("%d transactions, want 2: the one that was under way and one for all others", metas)
	}
	if got := l.Bounds().Next; got != publishers+1 {
		t.Errorf("next is %d, want %d", got, publishers+1)
	}
	must(t, s.Close())
}

func queued(s *Store, n int) bool {
	s.writer.mu.Lock()
	defer s.writer.mu.Unlock()
	return len(s.writer.queue) == n
}

// TestUncertain_G41 shows that a ctx that ends while the record is being written is ErrUncertain, and one that ends before
// that leaves nothing (G41).
func TestUncertain_G41(t *testing.T) {
	s := open(t, tempPath(t))
	l := openLog(t, s, "orders")
	entered, release := blockWrites(s)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the cause")
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := l.Append(t.Context(), records(1, 1)); err != nil {
			t.Error(err)
		}
	})
	<-entered
	o := newOp(l, 0, func(*changes) error { t.Error("an op was applied that was withdrawn"); return nil })
	withdrawn := make(chan error)
	go func() { withdrawn <- s.writer.do(ctx, o) }()
	for !queued(s, 1) {
		_ = s.Capabilities()
	}
	cancel(cause)
	if err := <-withdrawn; !errors.Is(err, cause) || errors.Is(err, store.ErrUncertain) {
		t.Errorf("withdrawn: got %v, want only the cause", err)
	}
	taken := newOp(l, 0, nil)
	taken.taken = true
	if err := s.writer.giveUp(ctx, taken); !errors.Is(err, cause) || !errors.Is(err, store.ErrUncertain) {
		t.Errorf("taken: got %v, want the cause and ErrUncertain", err)
	}
	release()
	wg.Wait()
	must(t, s.Close())
}

// TestGivingUp_G41 lets many publishers give up at random moments: whoever got nil is there, whoever got the cause alone isn't, and
// the lead is never lost (G41).
func TestGivingUp_G41(t *testing.T) { giveUp(t) }

// TestGivingUpRelaxed_G41 is the same in a store where records are acknowledged before they are written (G41).
func TestGivingUpRelaxed_G41(t *testing.T) { giveUp(t, Relaxed(3)) }

func giveUp(t *testing.T, opts ...Option) {
	s := open(t, tempPath(t), opts...)
	opened, err := s.Open(t.Context(), "orders", store.Settings{})
	must(t, err)
	l := opened.(*Log)
	var wg sync.WaitGroup
	var mu sync.Mutex // protects outcome
	outcome := map[string]string{}
	for p := range 16 {
		wg.Go(func() {
			for i := range 20 {
				id := fmt.Sprint(p, " ", i)
				ctx, cancel := context.WithCancel(t.Context())
				var inner sync.WaitGroup
				if i%2 == 0 {
					inner.Go(cancel)
				}
				err := l.Append(ctx, []store.Record{{Time: began, ID: id}})
				if i%5 == 0 && err == nil {
					err = l.Commit(t.Context(), fmt.Sprint(p), store.Commit{})
				}
				inner.Wait()
				cancel()
				mu.Lock()
				outcome[id] = nameOf(err)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	all, err := readAll(t.Context(), l)
	must(t, err)
	there := map[string]bool{}
	for _, r := range all {
		there[r.ID] = true
	}
	counts := map[string]int{}
	for id, how := range outcome {
		counts[how]++
		if how == "nil" && !there[id] || how == "withdrawn" && there[id] || how == "other" {
			t.Errorf("%s: %s, and there: %t", id, how, there[id])
		}
	}
	fmt.Printf("proof: layer=giving-up relaxed=%d nil=%d withdrawn=%d uncertain=%d wrong=0\n", s.config.relaxed, counts["nil"], counts["withdrawn"], counts["uncertain"])
	must(t, s.Close())
}

func nameOf(err error) string {
	switch {
	case err == nil:
		return "nil"
	case errors.Is(err, store.ErrUncertain):
		return "uncertain"
	case errors.Is(err, context.Canceled):
		return "withdrawn"
	}
	return "other"
}

// TestRelaxed_G41 shows that a relaxed store loses what it says and no more, and delivers nothing that it could
// lose (G41).
func TestRelaxed_G41(t *testing.T) {
	path := tempPath(t)
	s := open(t, path, Relaxed(10))
	l, err := s.Open(t.Context(), "orders", store.Settings{})
	must(t, err)
	durable := func() int {
		t.Helper()
		file, err := os.ReadFile(path)
		must(t, err)
		other := tempPath(t)
		must(t, os.WriteFile(other, file, 0o600)) // what a crash would leave
		s := open(t, other)
		defer s.Close()
		c := mustContent(t, s)
		return len(c.Records["orders"])
	}
	for n := 1; n <= 40; n++ {
		must(t, l.Append(t.Context(), records(n, 1)))
		if got := durable(); got < n-10 {
			t.Fatalf("%d of %d records are durable", got, n)
		}
	}
	got, err := readAll(t.Context(), l)
	must(t, err)
	if len(got) != 40 || durable() != 40 {
		t.Errorf("%d records were read, %d are durable, want 40", len(got), durable())
	}
	must(t, l.Append(t.Context(), records(41, 3)))
	must(t, s.Sync())
	if durable() != 43 {
		t.Errorf("%d records are durable after Sync", durable())
	}
	must(t, l.Append(t.Context(), records(44, 3)))
	must(t, s.Close())
	if durable() != 46 {
		t.Errorf("%d records are durable after Close", durable())
	}
}
