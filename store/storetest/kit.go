package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/heraldbus/herald/store"
)

// A kit is a store under test and the steps that the tests are made of.
// A step that fails ends the test.
type kit struct {
	*testing.T
	open  Opener
	store store.Store
}

// reopen closes the store, if it's open, and opens it anew.
func (k *kit) reopen() {
	k.Helper()
	k.close()
	s, err := k.open()
	k.must(err)
	k.store = s
}

func (k *kit) close() {
	k.Helper()
	if k.store != nil {
		k.must(k.store.Close())
	}
}

func (k *kit) log(s store.Settings) store.Log {
	k.Helper()
	l, err := k.store.Open(k.Context(), "topic", s)
	k.must(err)
	return l
}

func (k *kit) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}

// wants fails the test unless err is target.
func (k *kit) wants(what string, err, target error) {
	k.Helper()
	if !errors.Is(err, target) {
		k.Fatalf("%s: got %v, want %v", what, err, target)
	}
}

// equal fails the test unless got and want say the same.
func (k *kit) equal(what string, got, want any) {
	k.Helper()
	if got, want := canonical(got), canonical(want); !reflect.DeepEqual(got, want) {
		k.Fatalf("%s:\ngot  %+v\nwant %+v", what, got, want)
	}
}

// append appends and checks that offsets and times come back.
func (k *kit) append(l store.Log, records ...store.Record) []store.Record {
	k.Helper()
	k.must(l.Append(k.Context(), records))
	return records
}

// fill appends n records, one by one, and returns them.
func (k *kit) fill(l store.Log, n int) []store.Record {
	k.Helper()
	var out []store.Record
	for range n {
		i := int(l.Bounds().Next)
		out = append(out, k.append(l, record(i))...)
	}
	return out
}

// all reads the whole log.
func (k *kit) all(l store.Log) []store.Record {
	k.Helper()
	return k.from(l, l.Bounds().First)
}

func (k *kit) from(l store.Log, offset uint64) []store.Record {
	k.Helper()
	var out []store.Record
	for {
		got, err := l.Read(k.Context(), offset, 1000)
		k.must(err)
		if len(got) == 0 {
			return out
		}
		out = append(out, got...)
		offset = got[len(got)-1].Offset + 1
	}
}

// letters lists all dead letters, two by two.
func (k *kit) letters(l store.Log) []store.DeadLetter {
	k.Helper()
	var out []store.DeadLetter
	var after uint64
	for {
		got, err := l.Dead(k.Context(), after, 2)
		k.must(err)
		if len(got) == 0 {
			return out
		}
		out = append(out, got...)
		after = got[len(got)-1].Number
	}
}

var start = time.Date(2020, 2, 29, 12, 0, 0, 123456789, time.UTC)

// second is a time so many seconds after the start.
func second(n int) time.Time { return start.Add(time.Duration(n) * time.Second) }

// record is a record that has everything, different for each n.
func record(n int) store.Record {
	return store.Record{
		Time: second(n), Key: fmt.Sprint("key ", n%7), ID: fmt.Sprint("id ", n), Priority: int8(n%4 - 1),
		Headers: []store.Header{{Key: "a", Value: fmt.Sprint(n)}, {Key: "\x00", Value: "ü"}},
		Due:     second(n + 1), Expires: second(n + 3600), Codec: "json", Data: fmt.Appendf(nil, `{"n":%d}`, n),
	}
}

func letter(r store.Record) store.DeadLetter {
	return store.DeadLetter{Record: r, Attempts: 3, Reason: "permanent", Err: "no such thing", At: second(99)}
}

// canonical makes values that say the same deeply equal.
func canonical(v any) any {
	switch v := v.(type) {
	case []store.Record:
		return each(v, plainRecord)
	case []store.DeadLetter:
		return each(v, plainLetter)
	case store.Cursor:
		return plainCursor(v)
	case time.Time:
		return plainTime(v)
	}
	return v
}

func each[T any](in []T, plain func(T) T) []T {
	out := make([]T, 0, len(in))
	for _, v := range in {
		out = append(out, plain(v))
	}
	return out
}

func plainRecord(r store.Record) store.Record {
	r.Time, r.Due, r.Expires = plainTime(r.Time), plainTime(r.Due), plainTime(r.Expires)
	if len(r.Headers) == 0 {
		r.Headers = nil
	}
	if len(r.Data) == 0 {
		r.Data = nil
	}
	return r
}

func plainLetter(d store.DeadLetter) store.DeadLetter {
	d.Record, d.At = plainRecord(d.Record), plainTime(d.At)
	return d
}

func plainCursor(c store.Cursor) store.Cursor {
	if len(c.Ahead) == 0 {
		c.Ahead = nil
	}
	if len(c.Attempts) == 0 {
		c.Attempts = nil
	}
	return c
}

func plainTime(t time.Time) time.Time { return t.UTC().Round(0) }
