package boltlog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/heraldbus/herald/store"
)

// volume: the layers run at full size.
var volume = os.Getenv("HERALD_VOLUME") != ""

var began = time.Date(2020, 2, 29, 12, 0, 0, 1, time.UTC)

// record is the n-th record of every test: it says its number in all it has.
func record(n int) store.Record {
	return store.Record{
		Time: began.Add(time.Duration(n) * time.Second), Key: fmt.Sprint("key ", n%5), ID: fmt.Sprint("id ", n),
		Priority: int8(n % 3), Headers: []store.Header{{Key: "n", Value: fmt.Sprint(n)}},
		Due: began, Expires: began.Add(time.Hour), Codec: "json", Data: fmt.Appendf(nil, `{"number":%d,"fill":"%0*d"}`, n, n%97, n),
	}
}

func records(from, n int) []store.Record {
	out := make([]store.Record, n)
	for i := range out {
		out[i] = record(from + i)
	}
	return out
}

// small makes segments of a few records, and pages of 1 KiB.
func small(c *config) error {
	c.segment, c.pageSize = 16, 1024
	return nil
}

// open opens a store, or ends the test.
func open(t testing.TB, path string, opts ...Option) *Store {
	t.Helper()
	s, err := Open(path, append([]Option{small}, opts...)...)
	must(t, err)
	return s
}

func openLog(t testing.TB, s *Store, topic string) *Log {
	t.Helper()
	l, err := s.Open(t.Context(), topic, store.Settings{Dedupe: 5})
	must(t, err)
	return l.(*Log)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// writeAll writes a bit of everything and closes the store.
func writeAll(t testing.TB, path string) {
	t.Helper()
	s := open(t, path)
	l := openLog(t, s, "orders")
	ctx := t.Context()
	rs := records(1, 40)
	must(t, l.Append(ctx, rs))
	big := record(41)
	big.Data = make([]byte, 2500) // runs over several pages
	must(t, l.Append(ctx, []store.Record{big}))
	must(t, l.Commit(ctx, "billing", store.Commit{
		Cursor: store.Cursor{Committed: 12, Ahead: []uint64{14, 20}, Attempts: map[uint64]int{13: 2}},
		Dead:   []store.DeadLetter{{Record: rs[3], Reason: "permanent", Err: "no", Attempts: 3, At: began}, {Record: rs[4], At: began}},
	}))
	must(t, l.Commit(ctx, "audit", store.Commit{Cursor: store.Cursor{Committed: 1}}))
	must(t, l.Delay(ctx, []store.Record{record(50), record(51)}))
	must(t, l.Purge(ctx, 2))
	must(t, openLog(t, s, "users").Append(ctx, records(1, 3)))
	must(t, s.Close())
}

// A content is everything that a store holds, for comparison.
type content struct {
	Topics  []Topic
	Records map[string][]store.Record
	Dead    map[string][]store.DeadLetter
	Delayed map[string][]store.Record
}

// contentOf reads everything in one transaction, without a write.
func contentOf(ctx context.Context, s *Store) (content, error) {
	c := content{Records: map[string][]store.Record{}, Dead: map[string][]store.DeadLetter{}, Delayed: map[string][]store.Record{}}
	var err error
	if c.Topics, err = s.Topics(ctx); err != nil {
		return c, err
	}
	if err := s.Verify(ctx, nil); err != nil {
		return c, err
	}
	for _, topic := range c.Topics {
		l := &Log{name: topic.Name, store: s, config: &s.config, scopes: newScopes(topic.Name)}
		l.known = state{first: topic.Bounds.First, next: topic.Bounds.Next}
		if c.Records[topic.Name], err = readAll(ctx, l); err != nil {
			return c, err
		}
		if c.Dead[topic.Name], err = l.Dead(ctx, 0, 1000); err != nil {
			return c, err
		}
		if c.Delayed[topic.Name], err = l.delayed(); err != nil {
			return c, err
		}
	}
	return c, nil
}

func readAll(ctx context.Context, l store.Log) ([]store.Record, error) {
	var out []store.Record
	next := l.Bounds().First
	for {
		got, err := l.Read(ctx, next, 1000)
		if err != nil || len(got) == 0 {
			return out, err
		}
		out = append(out, got...)
		next += uint64(len(got))
	}
}

func diff(got, want any) string { return cmp.Diff(want, got, cmpopts.EquateEmpty()) }

func tempPath(t testing.TB) string { return filepath.Join(t.TempDir(), "store.db") }
