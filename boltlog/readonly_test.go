package boltlog

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/heraldbus/herald/store"
)

// TestReadOnly_G42 shows that a file can be read by several at once and isn't
// changed: neither by what fails nor by an Open that would trim or forget.
func TestReadOnly_G42(t *testing.T) {
	path := tempPath(t)
	writeAll(t, path)
	before, err := os.ReadFile(path)
	must(t, err)
	one, two := open(t, path, ReadOnly()), open(t, path, ReadOnly())
	if _, err := Open(path, WithLockTimeout(0)); !errors.Is(err, store.ErrLocked) {
		t.Errorf("open to write while others read: %v", err)
	}
	l, err := one.Open(t.Context(), "orders", store.Settings{Retention: store.Retention{Count: 1}})
	must(t, err)
	refused(t, one, l)
	got, err := readAll(t.Context(), l)
	must(t, err)
	if len(got) != 41 {
		t.Errorf("%d records", len(got))
	}
	must(t, one.Close())
	must(t, two.Close())
	after, err := os.ReadFile(path)
	must(t, err)
	if string(after) != string(before) {
		t.Error("the file has changed")
	}
}

// refused checks that nothing can be changed.
func refused(t *testing.T, s *Store, l store.Log) {
	t.Helper()
	ctx := t.Context()
	_, opened := s.Open(ctx, "nobody", store.Settings{})
	if !errors.Is(opened, store.ErrNotFound) {
		t.Errorf("open of a topic that isn't there: %v", opened)
	}
	_, replayed := l.Replay(ctx, began, 1)
	_, released := l.Release(ctx, began)
	for what, err := range map[string]error{
		"append": l.Append(ctx, records(1, 1)), "commit": l.Commit(ctx, "billing", store.Commit{Seek: true}),
		"forget": l.Forget(ctx, "billing"), "replay": replayed, "purge": l.Purge(ctx, 1),
		"delay": l.Delay(ctx, records(1, 1)), "release": released, "compact": s.Compact(ctx, nil),
	} {
		if !errors.Is(err, store.ErrUnsupported) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestReadOnlyMakesNoFile shows that looking for a file doesn't make it.
func TestReadOnlyMakesNoFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(filepath.Join(dir, "gone.db"), ReadOnly()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open: %v", err)
	}
	left, err := os.ReadDir(dir)
	must(t, err)
	if len(left) != 0 {
		t.Errorf("there is %v", left)
	}
}
