package boltlog

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/heraldbus/herald/store"
)

// The benchmarks below answer: how many records a second become durable, with
// so many publishers, beside bbolt's own way to share transactions and beside the
// limit, an append of the same bytes and one fsync for each time that all have
// come; how fast records are read; and how long a file of a million records takes to open.

const payload = 128 // bytes of Data

var publishers = []int{1, 64, 256}

func BenchmarkDurable(b *testing.B) {
	for _, n := range publishers {
		b.Run("boltlog/publishers="+strconv.Itoa(n), func(b *testing.B) { benchmarkAppend(b, n) })
		b.Run("bbolt-batch/publishers="+strconv.Itoa(n), func(b *testing.B) { benchmarkBatch(b, n) })
		b.Run("fsync/publishers="+strconv.Itoa(n), func(b *testing.B) { benchmarkSync(b, n) })
	}
}

// share calls publish b.N times from n goroutines, and reports the rate.
func share(b *testing.B, n int, publish func(i int) error) {
	var next atomic.Int64
	var wg sync.WaitGroup
	b.ResetTimer()
	for range n {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				if err := publish(int(i)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

func benchmarkAppend(b *testing.B, n int) {
	l := newLogOf(b, filepath.Join(b.TempDir(), "bench.db"))
	at := time.Now()
	share(b, n, func(int) error {
		return l.Append(b.Context(), []store.Record{{Time: at, Data: make([]byte, payload)}})
	})
}

func newLogOf(b *testing.B, path string) store.Log {
	b.Helper()
	s, err := Open(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	l, err := s.Open(b.Context(), "bench", store.Settings{})
	if err != nil {
		b.Fatal(err)
	}
	return l
}

func benchmarkBatch(b *testing.B, n int) {
	db, err := bbolt.Open(filepath.Join(b.TempDir(), "bench.db"), 0o600, &bbolt.Options{FreelistType: bbolt.FreelistMapType})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	name := []byte("bench")
	if err := db.Update(func(tx *bbolt.Tx) error { _, err := tx.CreateBucket(name); return err }); err != nil {
		b.Fatal(err)
	}
	share(b, n, func(i int) error {
		return db.Batch(func(tx *bbolt.Tx) error {
			return tx.Bucket(name).Put(binary.BigEndian.AppendUint64(nil, uint64(i)), make([]byte, payload))
		})
	})
}

// benchmarkSync is the limit: n publishers whose bytes are written at once and
// synced once.
func benchmarkSync(b *testing.B, n int) {
	f, err := os.Create(filepath.Join(b.TempDir(), "bench"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = f.Close() })
	data := make([]byte, n*payload)
	b.ResetTimer()
	for i := 0; i < b.N; i += n {
		if _, err := f.Write(data); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

func BenchmarkRead(b *testing.B) {
	l := newLogOf(b, million(b))
	last := l.Bounds().Next
	next, total := uint64(1), 0
	for b.Loop() {
		records, err := l.Read(b.Context(), next, 1000)
		if err != nil {
			b.Fatal(err)
		}
		total += len(records)
		if next += uint64(len(records)); next == last {
			next = 1
		}
	}
	b.ReportMetric(float64(total)/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkOpen opens a file of a million records, and reports what memory that needs.
func BenchmarkOpen(b *testing.B) {
	path := million(b)
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		s, err := Open(path)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Open(b.Context(), "bench", store.Settings{}); err != nil {
			b.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(int64(after.HeapAlloc)-int64(before.HeapAlloc)), "heap-bytes")
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// million makes a file of a million records.
func million(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "million.db")
	s, err := Open(path)
	if err != nil {
		b.Fatal(err)
	}
	l, err := s.Open(b.Context(), "bench", store.Settings{})
	if err != nil {
		b.Fatal(err)
	}
	at := time.Now()
	for i := range 20 {
		records := make([]store.Record, 50_000)
		for j := range records {
			records[j] = store.Record{Time: at, Key: fmt.Sprint(i), Data: make([]byte, payload)}
		}
		if err := l.Append(b.Context(), records); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}
