package storetest

import (
	"fmt"
	"time"

	"github.com/heraldbus/herald/store"
)

func delay(k *kit) {
	l := k.log(store.Settings{})
	ctx := k.Context()
	later := func(id string, due int) store.Record {
		return store.Record{Time: start, ID: id, Due: second(due)}
	}
	k.wants("delay without due", l.Delay(ctx, []store.Record{{Time: start}}), store.ErrInvalid)
	k.must(l.Delay(ctx, []store.Record{later("d", 20), later("a", 10)}))
	k.must(l.Delay(ctx, []store.Record{later("b", 10), later("c", 11)}))
	k.equal("bounds", l.Bounds(), store.Bounds{First: 1, Next: 1})
	k.equal("early release", k.release(l, second(9)), store.Released{Next: second(10)})
	k.reopen()
	l = k.log(store.Settings{})
	k.equal("release", k.release(l, second(12)), store.Released{Count: 3, Next: second(20)})
	var got []string
	for _, r := range k.all(l) {
		got = append(got, r.ID)
		k.equal("time", r.Time, second(12))
	}
	k.equal("order", got, []string{"a", "b", "c"})
	k.equal("last release", k.release(l, second(30)), store.Released{Count: 1})
	k.equal("release of nothing", k.release(l, second(30)), store.Released{})
}

// release releases all that is due; a store may do it bit by bit.
func (k *kit) release(l store.Log, now time.Time) store.Released {
	k.Helper()
	total := 0
	for {
		r, err := l.Release(k.Context(), now)
		k.must(err)
		total += r.Count
		if r.Next.IsZero() || r.Next.After(now) {
			if !r.Next.IsZero() {
				r.Next = plainTime(r.Next)
			}
			return store.Released{Count: total, Next: r.Next}
		}
	}
}

func dedupe(k *kit) {
	settings := store.Settings{Dedupe: 3}
	l := k.log(settings)
	put := func(ids ...string) []uint64 {
		var records []store.Record
		for _, id := range ids {
			records = append(records, store.Record{Time: start, ID: id})
		}
		var offsets []uint64
		for _, r := range k.append(l, records...) {
			offsets = append(offsets, r.Offset)
		}
		return offsets
	}
	k.equal("new ones", put("a", "b", "a", "", ""), []uint64{1, 2, 1, 3, 4})
	k.equal("one known, one forgotten", put("b", "a"), []uint64{2, 5})
	k.reopen()
	l = k.log(settings)
	k.equal("known after a restart", put("a"), []uint64{5})
	k.equal("three others", put("x", "y", "z"), []uint64{6, 7, 8})
	k.equal("known three back, forgotten four back", put("x", "a"), []uint64{6, 9})
	k.equal("records", len(k.all(l)), 9)
	k.must(l.Delay(k.Context(), []store.Record{{Time: start, ID: "z", Due: start}, {Time: start, ID: "new", Due: start}}))
	k.equal("release with a known one", k.release(l, start), store.Released{Count: 1})
	k.equal("known from release", put("new"), []uint64{10})
}

func retentionByCount(k *kit) {
	l := k.log(store.Settings{Retention: store.Retention{Count: 10}})
	k.endsWith(l, 10)
	_, err := l.Read(k.Context(), 1, 1)
	k.wants("read what is trimmed", err, store.ErrTrimmed)
	trimmed, ok := err.(*store.TrimmedError)
	if !ok {
		k.Fatalf("a %T, want a *TrimmedError", err)
	}
	k.equal("lost", trimmed.Lost(), l.Bounds().First-1)
	b := l.Bounds()
	k.reopen()
	k.equal("bounds after a restart", k.log(store.Settings{}).Bounds(), b)
}

func retentionByBytes(k *kit) {
	size := record(1000).Size() // of each from 1000 to 9999
	l := k.log(store.Settings{Retention: store.Retention{Bytes: 10 * size}})
	k.endsWith(l, 10)
}

func retentionByAge(k *kit) {
	l := k.log(store.Settings{Retention: store.Retention{Age: 9 * time.Second}})
	k.endsWith(l, 10)
}

// endsWith fills a log whose retention keeps the last n records, until the store must have
// trimmed, and checks that those are always there.
func (k *kit) endsWith(l store.Log, n int) {
	k.Helper()
	slack := k.store.Capabilities().Slack
	total := 1000 + 2*(n+slack) // those from 1000 on are of equal size
	for i := 1; i <= total; {
		var batch []store.Record
		for ; i <= total && len(batch) < 500; i++ {
			batch = append(batch, record(i))
		}
		k.append(l, batch...)
	}
	b := l.Bounds()
	if kept := int(b.Next - b.First); kept < n || kept > n+slack {
		k.Fatalf("%d records, want %d and at most %d more", kept, n, slack)
	}
	k.equal("records read", len(k.all(l)), int(b.Next-b.First))
}

func retentionOfTheConsumed(k *kit) {
	slack := k.store.Capabilities().Slack
	total := 10 + 2*slack
	l := k.log(store.Settings{Retention: store.Retention{Consumed: true, Count: 10 * total}})
	k.fillFast(l, total)
	k.equal("bounds without cursors", l.Bounds().First, uint64(1))
	to := func(sub string, offset int) {
		k.Helper()
		k.must(l.Commit(k.Context(), sub, store.Commit{Cursor: store.Cursor{Committed: uint64(offset)}}))
	}
	to("slow", 5)
	to("fast", total)
	if first := l.Bounds().First; first > 6 {
		k.Fatalf("first is %d, and 6 wasn't consumed", first)
	}
	k.must(l.Forget(k.Context(), "slow"))
	to("fast", total)
	if b := l.Bounds(); int(b.Next-b.First) > slack {
		k.Fatalf("%d records that nobody needs, at most %d are allowed", b.Next-b.First, slack)
	}
	k.fillFast(l, 1)
	k.equal("records nobody has read", k.all(l)[len(k.all(l))-1].Offset, uint64(total+1))
}

func (k *kit) fillFast(l store.Log, n int) {
	k.Helper()
	for n > 0 {
		batch := make([]store.Record, min(n, 500))
		for i := range batch {
			batch[i] = store.Record{Time: start, Key: fmt.Sprint(i)}
		}
		k.append(l, batch...)
		n -= len(batch)
	}
}
