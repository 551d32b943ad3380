package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/heraldbus/herald/store"
)

func appendAndRead(k *kit) {
	l := k.log(store.Settings{})
	k.equal("empty bounds", l.Bounds(), store.Bounds{First: 1, Next: 1})
	want := k.append(l, record(1), record(2), store.Record{Time: second(3)})
	want = append(want, k.append(l, record(4))...)
	for i, r := range want {
		k.equal("offset", r.Offset, uint64(i+1))
	}
	k.equal("records", k.all(l), want)
	k.equal("bounds", l.Bounds(), store.Bounds{First: 1, Next: 5})
	got, err := l.Read(k.Context(), 2, 2)
	k.must(err)
	k.equal("two records", got[:1], want[1:2])
	if len(got) > 2 {
		k.Fatalf("%d records, limit 2", len(got))
	}
	got, err = l.Read(k.Context(), 5, 1)
	k.must(err)
	k.equal("records at the end", got, []store.Record{})
}

func appendCopies(k *kit) {
	l := k.log(store.Settings{})
	r := k.append(l, record(1))
	r[0].Data[0], r[0].Headers[0].Value = 'X', "changed"
	got := k.all(l)
	k.equal("data", string(got[0].Data), string(record(1).Data))
	k.equal("header", got[0].Headers[0], record(1).Headers[0])
	got[0].Data[0] = 'X'
	k.equal("data read again", string(k.all(l)[0].Data), string(record(1).Data))
}

func refusesNonsense(k *kit) {
	l := k.log(store.Settings{})
	ctx := k.Context()
	long := record(1)
	long.Data = make([]byte, store.MaxRecord+1)
	early := record(1)
	early.Expires = time.Date(math.MaxInt16, 1, 1, 0, 0, 0, 0, time.UTC)
	for what, records := range map[string][]store.Record{
		"nothing": {}, "no time": {{}}, "second has no time": {record(1), {}}, "too long": {long}, "time": {early},
		"an offset": {{Time: start, Offset: 1}}, "for": {{Time: start, For: "x"}}, "replays": {{Time: start, Replays: 1}},
	} {
		k.wants("append "+what, l.Append(ctx, records), store.ErrInvalid)
	}
	_, err := l.Read(ctx, 2, 1)
	k.wants("read beyond the end", err, store.ErrInvalid)
	_, err = l.Read(ctx, 1, 0)
	k.wants("read none", err, store.ErrInvalid)
	_, err = l.Read(ctx, 0, 1)
	k.wants("read zero", err, store.ErrTrimmed)
	_, err = k.store.Open(ctx, "", store.Settings{})
	k.wants("open no name", err, store.ErrInvalid)
	_, err = k.store.Open(ctx, "x", store.Settings{Dedupe: -1})
	k.wants("open negative", err, store.ErrInvalid)
	_, err = k.store.Open(ctx, "x", store.Settings{Retention: store.Retention{Consumed: true}})
	k.wants("open consumed without limit", err, store.ErrInvalid)
	k.equal("bounds", l.Bounds(), store.Bounds{First: 1, Next: 1})
}

func timeNeverGoesBack(k *kit) {
	l := k.log(store.Settings{})
	at := func(n int) time.Time { return k.append(l, store.Record{Time: second(n)})[0].Time }
	k.equal("first", at(10), second(10))
	k.equal("earlier", at(5), second(10))
	k.equal("later", at(11), second(11))
	k.reopen()
	l = k.log(store.Settings{})
	k.equal("earlier after restart", at(1), second(11))
	k.equal("read", k.all(l)[3].Time, second(11))
}

func atFindsTheFirst(k *kit) {
	l := k.log(store.Settings{})
	for _, n := range []int{1, 3, 3, 3, 5} {
		k.append(l, store.Record{Time: second(n)})
	}
	for n, want := range []uint64{1, 1, 2, 2, 5, 5, 6} {
		got, err := l.At(k.Context(), second(n))
		k.must(err)
		k.equal(fmt.Sprint("at second ", n), got, want)
	}
}

func concurrentAppends(k *kit) {
	const publishers, rounds, batch = 8, 20, 3
	l := k.log(store.Settings{})
	var wg sync.WaitGroup
	for p := range publishers {
		wg.Go(func() {
			for range rounds {
				if err := appendNumbered(k.Context(), l, p, batch); err != nil {
					k.Error(err)
				}
			}
		})
	}
	wg.Wait()
	all := k.all(l)
	k.equal("records", len(all), publishers*rounds*batch)
	for i, r := range all {
		k.equal("offset", r.Offset, uint64(i+1))
		k.equal("place in its batch", r.Priority, int8(i%batch))
		k.equal("neighbour in its batch", r.Key, all[i-i%batch].Key)
	}
}

// appendNumbered appends one batch whose records say their publisher and place, and checks their offsets.
func appendNumbered(ctx context.Context, l store.Log, publisher, batch int) error {
	records := make([]store.Record, batch)
	for i := range records {
		records[i] = store.Record{Time: start, Key: fmt.Sprint(publisher), Priority: int8(i)}
	}
	if err := l.Append(ctx, records); err != nil {
		return err
	}
	for i, r := range records {
		if r.Offset != records[0].Offset+uint64(i) {
			return errors.New("a batch isn't in one piece")
		}
	}
	got, err := l.Read(ctx, records[0].Offset, 1)
	if err == nil && (len(got) != 1 || got[0].Key != records[0].Key) {
		return fmt.Errorf("read %d after append: %+v", records[0].Offset, got)
	}
	return err
}
