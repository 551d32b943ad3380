package storetest

import (
	"context"
	"errors"

	"github.com/heraldbus/herald/store"
)

func restart(k *kit) {
	l := k.log(store.Settings{})
	want := k.fill(l, 3)
	cursor := store.Cursor{Committed: 1, Ahead: []uint64{3}, Attempts: map[uint64]int{2: 4}}
	k.must(l.Commit(k.Context(), "sub", store.Commit{Cursor: cursor}))
	k.reopen()
	l = k.log(store.Settings{})
	k.equal("records", k.all(l), want)
	got, err := l.Cursor(k.Context(), "sub")
	k.must(err)
	k.equal("cursor", got, cursor)
	k.equal("next offset", k.fill(l, 1)[0].Offset, uint64(4))
}

func openOnce(k *kit) {
	l := k.log(store.Settings{})
	_, err := k.store.Open(k.Context(), "topic", store.Settings{})
	k.wants("open twice", err, store.ErrLocked)
	_, err = k.open()
	k.wants("open the store twice", err, store.ErrLocked)
	k.must(l.Close())
	k.must(l.Close())
	again := k.log(store.Settings{})
	_, err = l.Read(k.Context(), 1, 1)
	k.wants("read of a log that was opened anew by others", err, store.ErrClosed)
	k.fill(again, 1)
}

func closedIsClosed(k *kit) {
	l := k.log(store.Settings{})
	k.must(l.Close())
	k.everyCall(k.Context(), l, store.ErrClosed)
	k.must(k.store.Close())
	k.must(k.store.Close())
	_, err := k.store.Open(k.Context(), "topic", store.Settings{})
	k.wants("open", err, store.ErrClosed)
}

func endedContext(k *kit) {
	cause := errors.New("the cause")
	ctx, cancel := context.WithCancelCause(k.Context())
	cancel(cause)
	l := k.log(store.Settings{})
	k.everyCall(ctx, l, cause)
	_, err := k.store.Open(ctx, "other", store.Settings{})
	k.wants("open", err, cause)
	k.equal("bounds", l.Bounds(), store.Bounds{First: 1, Next: 1})
	k.equal("first offset", k.fill(l, 1)[0].Offset, uint64(1))
}

// everyCall makes each call of a log that can fail, and wants the same of all.
func (k *kit) everyCall(ctx context.Context, l store.Log, target error) {
	k.Helper()
	c := k.store.Capabilities()
	k.wants("append", l.Append(ctx, []store.Record{record(1)}), target)
	_, err := l.Read(ctx, 1, 1)
	k.wants("read", err, target)
	_, err = l.At(ctx, start)
	k.wants("at", err, target)
	_, err = l.Cursor(ctx, "sub")
	k.wants("cursor", err, target)
	k.wants("commit", l.Commit(ctx, "sub", store.Commit{}), target)
	k.wants("forget", l.Forget(ctx, "sub"), target)
	if c.Dead {
		_, err = l.Dead(ctx, 0, 1)
		k.wants("dead", err, target)
		_, err = l.Replay(ctx, start, 1)
		k.wants("replay", err, target)
		k.wants("purge", l.Purge(ctx, 1), target)
	}
	if c.Delay {
		k.wants("delay", l.Delay(ctx, []store.Record{record(1)}), target)
		_, err = l.Release(ctx, start)
		k.wants("release", err, target)
	}
}

func topicsAreApart(k *kit) {
	one := k.log(store.Settings{})
	two, err := k.store.Open(k.Context(), "topic2", store.Settings{})
	k.must(err)
	k.fill(one, 2)
	k.must(one.Commit(k.Context(), "sub", store.Commit{Cursor: store.Cursor{Committed: 2}}))
	k.equal("bounds of the other", two.Bounds(), store.Bounds{First: 1, Next: 1})
	_, err = two.Cursor(k.Context(), "sub")
	k.wants("cursor of the other", err, store.ErrNotFound)
}
