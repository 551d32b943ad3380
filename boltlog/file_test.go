package boltlog

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/heraldbus/herald/store"
)

// TestFileMode_G42 shows that a file is its owner's alone, and that nothing else is left behind (G42).
func TestFileMode_G42(t *testing.T) {
	path := tempPath(t)
	must(t, os.WriteFile(path+newSuffix+"123", nil, 0o600)) // of a process that was killed
	must(t, os.WriteFile(path+compactSuffix, nil, 0o600))
	must(t, open(t, path).Close())
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode())
	}
	files, err := filepath.Glob(path + "*")
	must(t, err)
	if d := diff(files, []string{path}); d != "" {
		t.Error(d)
	}
}

// TestLocked_G42 shows that a file that is open is ErrLocked, in time, and free again afterwards (G42).
func TestLocked_G42(t *testing.T) {
	path := tempPath(t)
	s := open(t, path)
	if _, err := Open(path, WithLockTimeout(0)); !errors.Is(err, store.ErrLocked) {
		t.Fatalf("got %v, want %v", err, store.ErrLocked)
	}
	must(t, s.Compact(t.Context(), nil)) // the lock moves to the new file
	if _, err := Open(path, WithLockTimeout(0)); !errors.Is(err, store.ErrLocked) {
		t.Fatalf("after a compaction: got %v, want %v", err, store.ErrLocked)
	}
	must(t, s.Close())
	must(t, open(t, path, WithLockTimeout(0)).Close())
}

// TestConcurrentCreation_G42 shows that of many that make the same file all find one, whole (G42).
func TestConcurrentCreation_G42(t *testing.T) {
	path := tempPath(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := Open(path, small)
			if err != nil {
				t.Error(err)
				return
			}
			l, err := s.Open(context.Background(), "orders", store.Settings{})
			if err == nil {
				err = l.Append(context.Background(), records(1, 1))
			}
			if err := errors.Join(err, s.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s := open(t, path)
	defer s.Close()
	if got := openLog(t, s, "orders").Bounds(); got != (store.Bounds{First: 1, Next: 9}) {
		t.Errorf("bounds %+v, want 8 records", got)
	}
}

// TestFormat_G42 shows that a newer format, another program's file and an empty one are refused (G42).
func TestFormat_G42(t *testing.T) {
	path := tempPath(t)
	must(t, open(t, path).Close())
	change := func(fn func(tx *bbolt.Tx) error) {
		db, err := bbolt.Open(path, 0o600, nil)
		must(t, err)
		must(t, db.Update(fn))
		must(t, db.Close())
	}
	change(func(tx *bbolt.Tx) error {
		value := binary.BigEndian.AppendUint32(make([]byte, sealSize), formatVersion+1)
		return tx.Bucket(heraldBucket).Put(formatKey, formatScope.seal(formatKey, value))
	})
	if _, err := Open(path); !errors.Is(err, store.ErrFormat) {
		t.Errorf("newer: got %v, want %v", err, store.ErrFormat)
	}
	change(func(tx *bbolt.Tx) error { return tx.DeleteBucket(heraldBucket) })
	if _, err := Open(path); !errors.Is(err, store.ErrFormat) {
		t.Errorf("not herald's: got %v, want %v", err, store.ErrFormat)
	}
	must(t, os.WriteFile(path, make([]byte, 1<<16), 0o600))
	if _, err := Open(path); !errors.Is(err, store.ErrFormat) {
		t.Errorf("not bbolt's: got %v, want %v", err, store.ErrFormat)
	}
	must(t, os.WriteFile(path, nil, 0o600))
	if _, err := Open(path); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("empty: got %v, want %v", err, store.ErrCorrupt)
	}
	if _, err := Open(path+".none", ReadOnly()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: got %v, want %v", err, fs.ErrNotExist)
	}
}

var updateGolden = flag.Bool("golden", false, "write testdata/v1.db anew; only for a format that nobody has yet")

// TestGolden_G42 shows that the file that was written when its version was new is still read, and says the same (G42).
func TestGolden_G42(t *testing.T) {
	golden := filepath.Join("testdata", fmt.Sprintf("v%d.db", formatVersion))
	if *updateGolden {
		_ = os.Remove(golden)
		writeAll(t, golden)
	}
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("bbolt files are in the machine's byte order, and the golden one in little endian")
	}
	file, err := os.ReadFile(golden)
	must(t, err)
	old, fresh := tempPath(t), tempPath(t)
	must(t, os.WriteFile(old, file, 0o600))
	writeAll(t, fresh)
	a, b := open(t, old), open(t, fresh)
	defer func() { must(t, errors.Join(a.Close(), b.Close())) }()
	if d := diff(mustContent(t, a), mustContent(t, b)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	must(t, openLog(t, a, "orders").Append(t.Context(), records(90, 2)))
}

// TestCompact_G40 shows that the space of what is gone comes back, at Open and by
// command, and that all else stays as it was (G40).
func TestCompact_G40(t *testing.T) {
	path := tempPath(t)
	s := open(t, path)
	settings := store.Settings{Retention: store.Retention{Count: 10}}
	l, err := s.Open(t.Context(), "orders", store.Settings{})
	must(t, err)
	for i := range 40 {
		must(t, l.Append(t.Context(), records(1+100*i, 100)))
	}
	must(t, l.Commit(t.Context(), "billing", store.Commit{Cursor: store.Cursor{Committed: 3990}}))
	must(t, l.Close())
	_, err = s.Open(t.Context(), "orders", settings) // trims
	must(t, err)
	before, size := mustContent(t, s), sizeOf(t, path)
	must(t, s.Close())
	s = open(t, path) // compacts
	if got := sizeOf(t, path); got > size/4 {
		t.Errorf("%d bytes, were %d", got, size)
	}
	if d := diff(mustContent(t, s), before); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must(t, s.Compact(ctx, nil)) // so small that it's one piece
	if d := diff(mustContent(t, s), before); d != "" {
		t.Errorf("after another one: (-want +got)\n%s", d)
	}
	must(t, s.Close())
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	return info.Size()
}
