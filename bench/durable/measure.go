package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/heraldbus/herald/boltlog"
	"github.com/heraldbus/herald/store"
)

var publishers = []int{1, 64, 256}

// A report is all that was measured.
type report struct {
	config config
	rates  map[string]map[int][]float64 // by system and publishers: records a second, one a round
	read   []float64                    // records a second
	open   []time.Duration              // of a million records
	heap   []int64                      // bytes, of the store that is open then
	size   int64                        // bytes of that file
}

func (r *report) measure(root string, progress io.Writer) error {
	r.rates = map[string]map[int][]float64{}
	for _, s := range systems {
		r.rates[s.name] = map[int][]float64{}
	}
	for round := range r.config.rounds {
		for _, n := range publishers {
			for i, s := range systems {
				dir := filepath.Join(root, fmt.Sprint(round, "-", n, "-", i))
				rate, err := slice(s, dir, n, r.config.slice)
				if err != nil {
					return fmt.Errorf("%s with %d publishers: %w", s.name, n, err)
				}
				fmt.Fprintf(progress, "round %d of %d: %d publishers, %s: %.0f/s\n", round+1, r.config.rounds, n, s.name, rate)
				r.rates[s.name][n] = append(r.rates[s.name][n], rate)
			}
		}
	}
	return r.million(filepath.Join(root, "million.db"))
}

// slice publishes with n publishers for a time, and returns how many records a
// second became durable.
func slice(s system, dir string, n int, span time.Duration) (rate float64, err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	run, err := s.start(dir, n)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, run.stop()) }()
	callers := n
	if run.alone {
		callers = 1
	}
	began := time.Now()
	done, err := publish(run, callers, began.Add(span))
	took := time.Since(began)
	if err != nil {
		return 0, err
	}
	have, err := run.count()
	if want := done * int64(run.each); err == nil && have != want {
		err = fmt.Errorf("%d records were acknowledged, and %d are there", want, have)
	}
	return float64(have) / took.Seconds(), err
}

// publish has callers publish until the time is over; each stops at its first
// error.
func publish(run running, callers int, until time.Time) (int64, error) {
	var next, done atomic.Int64
	errs := make([]error, callers)
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			for errs[c] == nil && time.Now().Before(until) {
				if errs[c] = run.publish(next.Add(1)); errs[c] == nil {
					done.Add(1)
				}
			}
		})
	}
	wg.Wait()
	return done.Load(), errors.Join(errs...)
}

// million makes a file of a million records, opens it, and reads them all.
func (r *report) million(path string) error {
	const total, batch = 1_000_000, 50_000
	ctx := context.Background()
	err := with(path, func(l store.Log) error {
		at := time.Now()
		for i := range total / batch {
			records := make([]store.Record, batch)
			for j := range records {
				records[j] = store.Record{Time: at, Key: strconv.Itoa(i), Data: make([]byte, payload)}
			}
			if err := l.Append(ctx, records); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	r.size = info.Size()
	for range r.config.rounds {
		before := heap()
		began := time.Now()
		err := with(path, func(l store.Log) error {
			r.open = append(r.open, time.Since(began))
			r.heap = append(r.heap, heap()-before)
			began = time.Now()
			n, err := readAll(ctx, l)
			if err == nil && n != total {
				err = fmt.Errorf("%d records read", n)
			}
			r.read = append(r.read, float64(n)/time.Since(began).Seconds())
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func with(path string, fn func(store.Log) error) (err error) {
	s, err := boltlog.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	l, err := s.Open(context.Background(), "bench", store.Settings{})
	if err != nil {
		return err
	}
	return fn(l)
}

func readAll(ctx context.Context, l store.Log) (n int, err error) {
	for next := l.Bounds().First; ; {
		records, err := l.Read(ctx, next, 1000)
		if err != nil || len(records) == 0 {
			return n, err
		}
		n += len(records)
		next += uint64(len(records))
	}
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
