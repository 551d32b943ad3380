package boltlog

import (
	"context"
	"encoding/binary"
	"math"
	"time"

	"go.etcd.io/bbolt"

	"github.com/heraldbus/herald/store"
)

// releaseLimit is how many records one Release appends at most.
const releaseLimit = 4096

// Delay implements [store.Log].
func (l *Log) Delay(ctx context.Context, records []store.Record) error {
	if err := l.enter(ctx); err != nil {
		return err
	}
	defer l.leave()
	if err := store.CheckDelay(records); err != nil {
		return err
	}
	dues := make([]int64, len(records))
	for i := range records {
		dues[i] = nanos(records[i].Due)
	}
	a, size := newAppending(records)
	return l.change(ctx, newOp(l, size, l.edits(func(e *edit) error { return e.delay(dues, a) })))
}

func (e *edit) delay(dues []int64, a *appending) error {
	b, err := e.log.child(e.topic, delayedBucket)
	if err != nil {
		return err
	}
	for i, p := range a.records {
		e.state.delays++
		key := dueKey(dues[i], e.state.delays)
		setTime(p.value, p.time)
		if err := b.Put(key, e.log.scopes.delayed.seal(key, p.value)); err != nil {
			return err
		}
	}
	return nil
}

// dueKey sorts by due, times before 1970 first, then by n.
func dueKey(due int64, n uint64) []byte {
	return binary.BigEndian.AppendUint64(number(uint64(due)^1<<63), n)
}

func dueOf(key []byte) (due int64, ok bool) {
	if len(key) != 16 {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(key) ^ 1<<63), true
}

// Release implements [store.Log].
func (l *Log) Release(ctx context.Context, now time.Time) (store.Released, error) {
	if err := l.enter(ctx); err != nil {
		return store.Released{}, err
	}
	defer l.leave()
	if err := store.CheckTime(now); err != nil {
		return store.Released{}, err
	}
	next, err := l.nextDue()
	if err != nil || next > now.UnixNano() {
		return store.Released{Next: dueTime(next)}, err
	}
	var released store.Released // the leader's until the op is over
	o := newOp(l, 0, nil)
	o.odd = true
	o.apply = l.edits(func(e *edit) (err error) {
		released, err = e.release(now.UnixNano())
		return err
	})
	if err := l.change(ctx, o); err != nil {
		return store.Released{}, err
	}
	return released, nil
}

// never is when nothing is due.
const never = math.MaxInt64

func dueTime(due int64) time.Time {
	if due == never {
		return time.Time{}
	}
	return time.Unix(0, due)
}

// nextDue looks without a write whether there's anything to release.
func (l *Log) nextDue() (due int64, err error) {
	err = l.view(delayedBucket, func(_, b *bbolt.Bucket) error {
		due, err = l.firstDue(b)
		return err
	})
	return due, err
}

func (l *Log) firstDue(b *bbolt.Bucket) (int64, error) {
	key, value := b.Cursor().First()
	if key == nil {
		return never, nil
	}
	due, ok := dueOf(key)
	if _, intact := l.scopes.delayed.open(key, value); !ok || !intact {
		return 0, l.corrupt(0, "delayed record")
	}
	return due, nil
}

func (e *edit) release(now int64) (store.Released, error) {
	b, err := e.log.child(e.topic, delayedBucket)
	if err != nil {
		return store.Released{}, err
	}
	before := e.state.next
	for range releaseLimit {
		due, err := e.log.firstDue(b)
		if err != nil || due > now {
			return store.Released{Count: int(e.state.next - before), Next: dueTime(due)}, err
		}
		if err := e.releaseFirst(b, now); err != nil {
			return store.Released{}, err
		}
	}
	due, err := e.log.firstDue(b)
	return store.Released{Count: int(e.state.next - before), Next: dueTime(due)}, err
}

func (e *edit) releaseFirst(b *bbolt.Bucket, now int64) error {
	key, value := b.Cursor().First()
	r, ok := decodeRecord(0, value[sealSize:])
	if !ok {
		return e.log.corrupt(0, "encoding of a delayed record")
	}
	p := pending{value: append([]byte(nil), value...), id: r.ID, size: r.Size(), time: now}
	if err := p.apply(e); err != nil {
		return err
	}
	return b.Delete(append([]byte(nil), key...))
}
