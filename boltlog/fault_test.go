package boltlog

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/heraldbus/herald/store"
)

// A fault makes one write of one step fail.
type fault struct {
	name  string
	write func(real writeFunc, b []byte, at int64) (int, error)
	sync  bool // instead, the sync after the write fails
	also  error
}

var faults = []fault{
	{name: "nothing written", write: func(writeFunc, []byte, int64) (int, error) { return 0, syscall.EIO }, also: syscall.EIO},
	{name: "half written", write: func(real writeFunc, b []byte, at int64) (int, error) {
		n, _ := real(b[:len(b)/2], at)
		return n, syscall.EIO
	}, also: syscall.EIO},
	{name: "disk full", write: func(writeFunc, []byte, int64) (int, error) { return 0, syscall.ENOSPC }, also: store.ErrFull},
	{name: "sync", sync: true},
}

// TestFailingDisk_G41 lets every write and every sync of a small history fail. Whoever waits hears it, nothing is written
// afterwards, what was durable is read on, and what opens later is the state
// before the step or after it (G41).
func TestFailingDisk_G41(t *testing.T) {
	t.Parallel() // it waits for the disk most of the time
	want := contents(t)
	tried := 0
	for _, f := range faults {
		for step := range history {
			for nth := 0; ; nth++ {
				if !f.try(t, want, step, nth) {
					break // the step has no more writes
				}
				tried++
			}
		}
	}
	fmt.Printf("proof: layer=faults faults=%d steps=%d silent=0 damaged=0\n", tried, len(history))
	if tried < len(faults)*len(history)*2 {
		t.Errorf("%d faults only", tried)
	}
}

// try lets the nth write of a step fail, and reports whether there is one.
func (f *fault) try(t *testing.T, want []content, step, nth int) bool {
	t.Helper()
	path := tempPath(t)
	s, l := begin(t, path)
	for _, before := range history[:step] {
		must(t, before(t, l))
	}
	records, err := readAll(t.Context(), l)
	must(t, err)
	hit := f.arm(t, s, nth)
	err = history[step](t, l)
	hit.restore()
	if !hit.done {
		must(t, err)
		must(t, s.Close())
		return false
	}
	what := fmt.Sprintf("%s, step %d, write %d", f.name, step, nth)
	f.failed(t, what, err)
	again := l.Append(t.Context(), []store.Record{record(70)})
	if !errors.Is(again, store.ErrFailed) || errors.Is(again, store.ErrUncertain) {
		t.Fatalf("%s: append afterwards: %v", what, again)
	}
	got, err := readAll(t.Context(), l)
	if d := diff(got, records); err != nil && !errors.Is(err, store.ErrTrimmed) || err == nil && d != "" {
		t.Fatalf("%s: read afterwards: %v (-want +got)\n%s", what, err, d)
	}
	_ = s.Close() // says that it has failed
	s = open(t, path)
	isOne(t, what, mustContent(t, s), want, step, step+2)
	must(t, s.Close())
	return true
}

func (f *fault) failed(t *testing.T, what string, err error) {
	t.Helper()
	for _, target := range []error{store.ErrFailed, store.ErrUncertain, f.also} {
		if target != nil && !errors.Is(err, target) {
			t.Fatalf("%s: got %v, want %v", what, err, target)
		}
	}
	if err == nil {
		t.Fatalf("%s: nobody noticed", what)
	}
}

// A hit is a fault that waits for its write.
type hit struct {
	done    bool
	restore func()
}

// arm puts the fault in the way of the nth write from now on.
func (f *fault) arm(t *testing.T, s *Store, nth int) *hit {
	file := fileOf(s.writer.db)
	real := *file
	h := &hit{restore: func() { *file = real }}
	onWrite(s.writer.db, func(write writeFunc, b []byte, at int64) (int, error) {
		nth--
		if nth != -1 {
			return write(b, at)
		}
		h.done = true
		if f.sync {
			*file = unsyncable(t)
			return write(b, at)
		}
		return f.write(write, b, at)
	})
	return h
}

// unsyncable is a file that can't be synced.
func unsyncable(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	must(t, err)
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return w
}

// TestFull_G41 shows that at the size limit it's ErrFull, that nothing changes and
// reads go on, and that a higher limit is all it takes (G41).
func TestFull_G41(t *testing.T) {
	s := open(t, tempPath(t), WithMaxSize(1<<20))
	defer func() { must(t, s.Close()) }()
	l := openLog(t, s, "orders")
	large := store.Record{Time: began, Data: make([]byte, 100<<10)}
	var err error
	n := 0
	for ; err == nil && n < 100; n++ {
		err = l.Append(t.Context(), []store.Record{large})
	}
	if !errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrUncertain) || errors.Is(err, store.ErrFailed) {
		t.Fatalf("got %v, want ErrFull alone", err)
	}
	if got := l.Bounds().Next; got != uint64(n) {
		t.Errorf("next is %d after %d records", got, n-1)
	}
	got, err := readAll(t.Context(), l)
	must(t, err)
	if len(got) != n-1 {
		t.Errorf("%d records, want %d", len(got), n-1)
	}
	must(t, s.Close())
	s = open(t, s.path, WithMaxSize(4<<20))
	must(t, openLog(t, s, "orders").Append(t.Context(), records(1, 1)))
}
