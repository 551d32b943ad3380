package boltlog

import (
	"os"
	"reflect"
	"testing"
	"unsafe"

	"go.etcd.io/bbolt"

	"github.com/heraldbus/herald/store"
)

// bbolt has no way to put something between it and its disk: OpenFile must give a real
// file. These tests reach into its unexported fields instead, so that no
// production code has a seam for them. A version of bbolt that has other fields makes them panic.

// A writeFunc writes bytes at an offset of the file.
type writeFunc func(b []byte, at int64) (int, error)

// onWrite puts fn in the place of the function by which bbolt writes pages; fn gets the real one.
func onWrite(db *bbolt.DB, fn func(real writeFunc, b []byte, at int64) (int, error)) {
	field := reflect.ValueOf(db).Elem().FieldByName("ops").FieldByName("writeAt")
	place := (*func([]byte, int64) (int, error))(unsafe.Pointer(field.UnsafeAddr()))
	real := *place
	*place = func(b []byte, at int64) (int, error) { return fn(real, b, at) }
}

// fileOf is the file that bbolt syncs.
func fileOf(db *bbolt.DB) **os.File {
	field := reflect.ValueOf(db).Elem().FieldByName("file")
	return (**os.File)(unsafe.Pointer(field.UnsafeAddr()))
}

// isMeta reports whether a write at an offset is the one that ends a transaction. Before it, and
// after it, bbolt syncs.
func isMeta(at int64) bool { return at < 2*1024 }

// history is a small life of a topic; each step is one transaction.
var history = []func(testing.TB, *Log) error{
	func(t testing.TB, l *Log) error { return l.Append(t.Context(), records(1, 3)) },
	func(t testing.TB, l *Log) error { return l.Append(t.Context(), records(4, 20)) },
	func(t testing.TB, l *Log) error {
		return l.Commit(t.Context(), "billing", store.Commit{
			Cursor: store.Cursor{Committed: 3, Ahead: []uint64{5}},
			Dead:   []store.DeadLetter{{Record: record(2), At: began}, {Record: record(3), At: began}},
		})
	},
	func(t testing.TB, l *Log) error { return l.Delay(t.Context(), records(60, 2)) },
	func(t testing.TB, l *Log) error { _, err := l.Replay(t.Context(), began, 1); return err },
	func(t testing.TB, l *Log) error { _, err := l.Release(t.Context(), began); return err },
	func(t testing.TB, l *Log) error {
		return l.Commit(t.Context(), "billing", store.Commit{Cursor: store.Cursor{Committed: 9}})
	},
	func(t testing.TB, l *Log) error { return l.Append(t.Context(), records(24, 30)) }, // drops a segment
	func(t testing.TB, l *Log) error { return l.Purge(t.Context(), 2) },
	func(t testing.TB, l *Log) error { return l.Forget(t.Context(), "billing") },
	func(t testing.TB, l *Log) error { return l.Append(t.Context(), records(54, 1)) },
}

// settings make the history drop segments and forget IDs.
var historySettings = store.Settings{Dedupe: 10, Retention: store.Retention{Count: 30}}

// begin opens a new store with the topic of the history.
func begin(t testing.TB, path string) (*Store, *Log) {
	t.Helper()
	s := open(t, path)
	l, err := s.Open(t.Context(), "orders", historySettings)
	must(t, err)
	return s, l.(*Log)
}

// contents returns what a store holds before the first step of the history and after each.
func contents(t testing.TB) []content {
	t.Helper()
	s, l := begin(t, tempPath(t))
	defer func() { must(t, s.Close()) }()
	out := []content{mustContent(t, s)}
	for _, step := range history {
		must(t, step(t, l))
		out = append(out, mustContent(t, s))
	}
	return out
}

func mustContent(t testing.TB, s *Store) content {
	t.Helper()
	c, err := contentOf(t.Context(), s)
	must(t, err)
	return c
}

// isOne fails the test unless got is one of want[from:to].
func isOne(t testing.TB, what string, got content, want []content, from, to int) {
	t.Helper()
	for _, w := range want[from:min(to, len(want))] {
		if reflect.DeepEqual(got, w) {
			return
		}
	}
	t.Fatalf("%s: neither the state after step %d nor the next: (-want +got)\n%s", what, from, diff(got, want[from]))
}
