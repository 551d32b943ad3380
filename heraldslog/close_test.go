package heraldslog

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// TestDrainWithDeadline says at the deadline, and not later, what is left where,
// and can be called again. (G33)
func TestDrainWithDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		slow := slowly(time.Minute)
		r.add("fast", nil, &writer{})
		r.add("slow", nil, slow)
		result := r.start(t.Context())
		r.count(1, 4)
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		begun := time.Now()
		err := r.Drain(ctx)
		wantDiff(t, 90*time.Second, time.Since(begun))
		wantErr(t, "Drain", err, context.DeadlineExceeded)
		left, ok := errors.AsType[*herald.DrainError](err)
		if !ok || len(left.Left) != 1 || left.Left[0].Name != "slow" || left.Left[0].Queued != 2 || left.Left[0].InFlight != 1 {
			t.Errorf("Drain = %v", err)
		}
		wantErr(t, "Drain again", r.Drain(t.Context()), nil)
		wantErr(t, "Run", result(), nil)
		wantWritten(t, slow, "1, 2, 3, 4")
		wantDiff(t, 4*time.Minute, time.Since(begun))
	})
}

// TestDrainWithoutRun tells the truth.
func TestDrainWithoutRun(t *testing.T) {
	r := newRig(t)
	var w writer
	r.add("a", nil, &w)
	r.count(1, 3)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errDisk)
	err := r.Drain(ctx)
	wantErr(t, "Drain", err, errDisk)
	if left, ok := errors.AsType[*herald.DrainError](err); !ok || left.Left[0].Queued != 3 {
		t.Errorf("Drain = %v", err)
	}
	r.finish()
	wantErr(t, "Drain", r.Drain(ctx), nil)
	wantWritten(t, &w, "1, 2, 3")
}

// TestDrainWaitsForTheLastLine, and for the return of Run: after it a file may
// be closed.
func TestDrainWaitsForTheLastLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		slow := slowly(time.Second)
		r.add("a", nil, slow, herald.WithCapacity(1), herald.WithOverflow(policy.DropNewest()))
		r.count(1, 3)
		result := r.start(t.Context())
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		err := r.Drain(ctx)
		wantErr(t, "Drain during the last line", err, context.DeadlineExceeded)
		wantErr(t, "Drain", r.Drain(t.Context()), nil)
		wantWritten(t, slow, "1, 2 records lost")
		wantErr(t, "Run", result(), nil)
	})
}

// TestAfterClose: what is logged is counted, with an error; what waits is written.
func TestAfterClose(t *testing.T) {
	r := newRig(t)
	var w writer
	r.add("a", nil, &w)
	with := r.log.With("a", 1)
	r.count(1, 2)
	for range 3 {
		wantErr(t, "Close", r.Close(), nil)
	}
	r.count(3, 4)
	with.Info("5")
	wantErr(t, "Handle", r.Handle(t.Context(), slog.Record{}), herald.ErrClosed)
	r.finish()
	wantWritten(t, &w, "1, 2")
	s := r.Stats()
	if s.Logged != 6 || s.Late != 4 {
		t.Errorf("logged %d, late %d", s.Logged, s.Late)
	}
	wantAccounts(t, r.of("a"), "wanted 2, written 2, lost 0, waiting 0")
	wantErr(t, "Flush", r.Flush(t.Context()), nil)
	wantErr(t, "Run", r.Run(t.Context()), nil)
}

// TestCloseReleasesWhoWaits: a call under Block that waits for room gives up,
// and the record is counted lost. (G9, G32)
func TestCloseReleasesWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		var w writer
		r.add("audit", nil, &w, herald.WithCapacity(1), herald.WithOverflow(policy.Block(0)))
		ctx, cancel := context.WithCancel(t.Context())
		r.count(1, 1)
		returned := make(chan error, 1)
		go func() {
			record := slog.NewRecord(time.Now(), slog.LevelInfo, "2", 0)
			returned <- r.Handle(ctx, record)
		}()
		synctest.Wait()
		cancel() // means nothing to a log
		synctest.Wait()
		select {
		case err := <-returned:
			t.Fatalf("Handle = %v", err)
		default:
		}
		r.Close()
		wantErr(t, "Handle", <-returned, herald.ErrClosed)
		r.finish()
		wantWritten(t, &w, "1, 1 record lost")
		wantAccounts(t, r.of("audit"), "wanted 2, written 1, lost 1, waiting 0")
		wantDiff(t, uint64(0), r.Stats().Late)
	})
}

// TestBlock: by option the caller waits for room, and nothing is lost.
func TestBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		slow := slowly(time.Second)
		r.add("audit", nil, slow, herald.WithCapacity(1), herald.WithOverflow(policy.Block(time.Minute)))
		result := r.start(t.Context())
		begun := time.Now()
		r.count(1, 5)
		wantDiff(t, 3*time.Second, time.Since(begun)) // 1 to 3 are written, 4 begins, 5 waits
		wantErr(t, "Drain", r.Drain(t.Context()), nil)
		wantErr(t, "Run", result(), nil)
		wantWritten(t, slow, "1, 2, 3, 4, 5")
	})
}

// TestLoggedWithAnEndedContext is logged all the same.
func TestLoggedWithAnEndedContext(t *testing.T) {
	r := newRig(t)
	var w writer
	r.add("a", nil, &w)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r.log.InfoContext(ctx, "why it ended")
	wantErr(t, "Handle", r.Handle(nil, slog.NewRecord(time.Time{}, 0, "no context", 0)), nil) //lint:ignore SA1012 slog.Logger forgives it too
	r.finish()
	wantWritten(t, &w, "why it ended, no context")
}

// TestCloseRacesWithHandle: a nil from Handle is the truth, whatever Close does
// meanwhile: each such record was offered to all appenders, and is accounted for.
func TestCloseRacesWithHandle(t *testing.T) {
	for range 200 {
		r := newRig(t)
		r.add("a", nil, &writer{}, herald.WithCapacity(3))
		r.add("b", nil, &writer{}, herald.WithCapacity(2), herald.WithOverflow(policy.Block(0)))
		r.add("c", nil, &writer{}, herald.WithCapacity(2), herald.WithOverflow(policy.DropNewest()))
		result := r.start(t.Context())
		var calls, accepted, offered [4]uint64
		var wg sync.WaitGroup
		for p := range calls {
			wg.Go(func() {
				for err := error(nil); err == nil; {
					err = r.Handle(t.Context(), slog.NewRecord(time.Time{}, 0, "m", 0))
					calls[p]++
					if err == nil {
						accepted[p]++
					}
					if _, refused := errors.AsType[*herald.PublishError](err); refused || err == nil {
						offered[p]++
					}
				}
			})
		}
		r.Close()
		wantErr(t, "Drain", r.Drain(t.Context()), nil)
		wantErr(t, "Run", result(), nil)
		wg.Wait()
		s := r.Stats()
		if s.Logged != sum(calls) || s.Late != sum(calls)-sum(offered) {
			t.Fatalf("logged %d of %d, late %d of %d", s.Logged, sum(calls), s.Late, sum(calls)-sum(offered))
		}
		for _, a := range s.Appenders {
			if a.Wanted != sum(offered) || a.Wanted != a.Written+a.Lost || a.Waiting != 0 {
				t.Fatalf("%s: %s; %d were offered", a.Name, accounts(a), sum(offered))
			}
		}
		wantDiff(t, sum(accepted), r.of("b").Written)
	}
}

func sum(ns [4]uint64) (sum uint64) {
	for _, n := range ns {
		sum += n
	}
	return sum
}
