package boltlog

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"reflect"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/heraldbus/herald/store"
)

// delayed reads the delayed records.
func (l *Log) delayed() (out []store.Record, err error) {
	err = l.view(delayedBucket, func(_, b *bbolt.Bucket) error {
		return b.ForEach(func(key, value []byte) error {
			r, ok := decodeRecord(0, value[sealSize:])
			if !ok {
				return errors.New("encoding")
			}
			out = append(out, r)
			return nil
		})
	})
	return out, err
}

// A victim is a small file that gets damaged, and what was in it.
type victim struct {
	path string
	file []byte // without what isn't in use
	want content

	handle *os.File
	there  []byte // what is in the file now
}

func newVictim(t *testing.T) *victim {
	t.Helper()
	v := &victim{path: tempPath(t)}
	writeAll(t, v.path)
	s := open(t, v.path)
	var err error
	v.want, err = contentOf(t.Context(), s)
	must(t, err)
	must(t, s.Close())
	v.file, err = os.ReadFile(v.path)
	must(t, err)
	m, err := newestMeta(bytes.NewReader(v.file), int64(len(v.file)))
	must(t, err)
	v.file = v.file[:m.high*uint64(m.pageSize)]
	v.handle, err = os.OpenFile(v.path, os.O_RDWR, 0)
	must(t, err)
	t.Cleanup(func() { must(t, v.handle.Close()) })
	return v
}

// damaged opens the file with other bytes in it and reports how it was noticed: at
// Open, when reading, or not because nothing has changed.
func (v *victim) damaged(t *testing.T, file []byte) (seen string) {
	t.Helper()
	if _, err := inspect(bytes.NewReader(file), int64(len(file))); err != nil {
		if !errors.Is(err, store.ErrCorrupt) {
			t.Fatalf("got %v, want %v", err, store.ErrCorrupt)
		}
		return "structure"
	}
	must(t, v.write(file))
	s, err := Open(v.path)
	if err != nil {
		return damage(t, "open", err)
	}
	defer func() { must(t, s.Close()) }()
	got, err := contentOf(t.Context(), s)
	if err != nil {
		return damage(t, "read", err)
	}
	if !reflect.DeepEqual(got, v.want) { // cmp is far slower
		t.Fatalf("other data: (-want +got)\n%s", diff(got, v.want))
	}
	return "unused"
}

// write makes the file these bytes, of which few differ from what is there.
func (v *victim) write(file []byte) error {
	const piece = 256
	for at := 0; at < len(file); at += piece {
		end := min(at+piece, len(file))
		if end <= len(v.there) && bytes.Equal(file[at:end], v.there[at:end]) {
			continue
		}
		if _, err := v.handle.WriteAt(file[at:end], int64(at)); err != nil {
			return err
		}
	}
	if len(file) != len(v.there) {
		if err := v.handle.Truncate(int64(len(file))); err != nil {
			return err
		}
	}
	v.there = append(v.there[:0], file...)
	return nil
}

func damage(t *testing.T, seen string, err error) string {
	t.Helper()
	if !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, store.ErrFormat) {
		t.Fatalf("%s: got %v, want ErrCorrupt or ErrFormat", seen, err)
	}
	return seen
}

var everyBit = flag.Bool("every-bit", false, "flip all bits of each byte, one after the other")

// TestFlippedBits_G42 flips a bit of every byte of a file at volume, else of every seventh, and shows
// that each is an error or changes nothing that anybody reads (G42).
func TestFlippedBits_G42(t *testing.T) {
	t.Parallel() // it waits for the disk most of the time
	v := newVictim(t)
	seen := map[string]int{}
	step := 7
	if volume {
		step = 1
	}
	flips := 0
	for i := 0; i < len(v.file); i += step {
		for bit := range 8 {
			if !*everyBit && bit != i%8 {
				continue
			}
			flips++
			v.file[i] ^= 1 << bit
			seen[v.damaged(t, v.file)]++
			v.file[i] ^= 1 << bit
		}
	}
	fmt.Printf("proof: layer=flips bytes=%d flips=%d structure=%d open=%d read=%d unused=%d other=0\n",
		len(v.file), flips, seen["structure"], seen["open"], seen["read"], seen["unused"])
	if seen["structure"] == 0 || seen["read"] == 0 || seen["open"] == 0 {
		t.Errorf("a layer never noticed anything: %v", seen)
	}
}

// TestTruncation_G42 cuts a file off at every length, at volume, else at every 64th byte, and
// shows that each is an error (G42).
func TestTruncation_G42(t *testing.T) {
	v := newVictim(t)
	step := 64
	if volume {
		step = 1
	}
	seen := map[string]int{}
	for n := 0; n < len(v.file); n += step {
		how := v.damaged(t, v.file[:n])
		seen[how]++
		if how == "unused" {
			t.Fatalf("nobody noticed that of %d bytes only %d are there", len(v.file), n)
		}
	}
	fmt.Printf("proof: layer=truncation lengths=%d noticed=%d\n", (len(v.file)+step-1)/step, seen["structure"]+seen["open"]+seen["read"])
}

// TestDamageWhileOpen_G42 damages a file under an open store: what is read is
// an error or right, and the process lives (G42).
func TestDamageWhileOpen_G42(t *testing.T) {
	path := tempPath(t)
	writeAll(t, path)
	s := open(t, path)
	l := openLog(t, s, "orders")
	want, err := readAll(t.Context(), l)
	must(t, err)
	must(t, os.Truncate(path, 3*1024)) // reads of mapped memory behind it fault
	got, err := readAll(t.Context(), l)
	if err == nil && diff(got, want) != "" || err != nil && !errors.Is(err, store.ErrCorrupt) {
		t.Fatalf("%d records and %v", len(got), err)
	}
	if err := l.Append(t.Context(), records(60, 1)); err == nil {
		t.Error("appended to a file without an end")
	}
	_ = s.Close()
}

// TestSkipDamage_G42 shows that reading may go on behind a damaged record, by choice (G42).
func TestSkipDamage_G42(t *testing.T) {
	path := tempPath(t)
	writeAll(t, path)
	file, err := os.ReadFile(path)
	must(t, err)
	old := []byte(`{"number":9,`)
	if n := bytes.Count(file, old); n == 0 {
		t.Fatal("record 9 isn't in the file")
	}
	must(t, os.WriteFile(path, bytes.ReplaceAll(file, old, []byte(`{"number":8,`)), 0o600))
	s := open(t, path)
	defer s.Close()
	l := openLog(t, s, "orders")
	got, err := l.Read(t.Context(), 1, 100)
	must(t, err)
	if len(got) != 8 {
		t.Fatalf("%d records before the damage, want 8", len(got))
	}
	_, err = l.Read(t.Context(), 9, 100)
	if c, ok := errors.AsType[*store.CorruptError](err); !ok || c.Seq != 9 || c.Topic != "orders" {
		t.Fatalf("got %v, want a CorruptError of record 9", err)
	}
	got, err = l.Read(t.Context(), 10, 1)
	must(t, err)
	if d := diff(got[0].Data, record(10).Data); d != "" {
		t.Error(d)
	}
}

// change changes a closed file through bbolt, as damage that the structure doesn't show.
func change(t *testing.T, path string, fn func(topic *bbolt.Bucket) error) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	must(t, err)
	must(t, db.Update(func(tx *bbolt.Tx) error { return fn(tx.Bucket(topicsBucket).Bucket([]byte("orders"))) }))
	must(t, db.Close())
}

// TestMissed_G42 shows that opening a topic notices what nobody would miss: a cursor, letter or delayed record under
// another key (G42).
func TestMissed_G42(t *testing.T) {
	for _, name := range [][]byte{cursorsBucket, deadBucket, delayedBucket, idsBucket} {
		path := tempPath(t)
		writeAll(t, path)
		change(t, path, func(topic *bbolt.Bucket) error {
			b := topic.Bucket(name)
			key, value := b.Cursor().First()
			key, value = bytes.Clone(key), bytes.Clone(value)
			other := bytes.Clone(key)
			other[len(other)-1] ^= 0x40
			return errors.Join(b.Delete(key), b.Put(other, value))
		})
		s := open(t, path)
		if _, err := s.Open(t.Context(), "orders", store.Settings{}); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%s: got %v, want %v", name, err, store.ErrCorrupt)
		}
		must(t, s.Close())
	}
}

// TestDamagedTopic_G42 shows that a topic that can't be written is an error to its publishers, and nobody
// else's (G42).
func TestDamagedTopic_G42(t *testing.T) {
	path := tempPath(t)
	writeAll(t, path)
	change(t, path, func(topic *bbolt.Bucket) error {
		segments := topic.Bucket(segmentsBucket)
		c := segments.Cursor()
		c.First()
		second, _ := c.Next()
		return segments.Bucket(second).Put(beforeKey, []byte("nonsense"))
	})
	s := open(t, path)
	defer func() { must(t, s.Close()) }()
	opened, err := s.Open(t.Context(), "orders", store.Settings{Retention: store.Retention{Bytes: 1}})
	if !errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrFailed) {
		t.Fatalf("got %v and %v, want ErrCorrupt alone", opened, err)
	}
	must(t, openLog(t, s, "users").Append(t.Context(), records(4, 1)))
}
