package boltlog

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"github.com/heraldbus/herald/store"
)

// bury stores letters that are encoded.
func (e *edit) bury(letters [][]byte) error {
	if len(letters) == 0 {
		return nil
	}
	b, err := e.log.child(e.topic, deadBucket)
	if err != nil {
		return err
	}
	b.FillPercent = 1 // numbers only grow
	for _, value := range letters {
		e.state.letters++
		key := number(e.state.letters)
		if err := b.Put(key, e.log.scopes.dead.seal(key, value)); err != nil {
			return err
		}
	}
	return nil
}

// Dead implements [store.Log].
func (l *Log) Dead(ctx context.Context, after uint64, limit int) ([]store.DeadLetter, error) {
	if err := l.enter(ctx); err != nil {
		return nil, err
	}
	defer l.leave()
	var out []store.DeadLetter
	err := l.view(deadBucket, func(_, b *bbolt.Bucket) error {
		c, size := b.Cursor(), 0
		for key, value := c.Seek(number(after + 1)); key != nil && len(out) < limit && size < readSize; key, value = c.Next() {
			d, err := l.readLetter(key, value)
			if err != nil {
				return err
			}
			out = append(out, d)
			size += len(value)
		}
		return nil
	})
	return out, err
}

func (l *Log) readLetter(key, value []byte) (store.DeadLetter, error) {
	n, isNumber := numberOf(key)
	content, ok := l.scopes.dead.open(key, value)
	if !ok || !isNumber {
		return store.DeadLetter{}, l.corrupt(0, fmt.Sprintf("dead letter %d", n))
	}
	d, ok := decodeLetter(n, content)
	if !ok {
		return d, l.corrupt(0, fmt.Sprintf("encoding of dead letter %d", n))
	}
	return d, nil
}

// Replay implements [store.Log].
func (l *Log) Replay(ctx context.Context, now time.Time, numbers ...uint64) (first uint64, err error) {
	if err := l.enter(ctx); err != nil {
		return 0, err
	}
	defer l.leave()
	if err := store.CheckReplay(now, numbers); err != nil {
		return 0, err
	}
	numbers = slices.Sorted(slices.Values(numbers))
	o := newOp(l, 0, nil)
	o.odd = true
	var at uint64 // the leader's until the op is over
	o.apply = l.edits(func(e *edit) error {
		at = e.state.next
		return e.replay(now, numbers)
	})
	if err := l.change(ctx, o); err != nil {
		return 0, err
	}
	return at, nil
}

func (e *edit) replay(now time.Time, numbers []uint64) error {
	b, err := e.log.child(e.topic, deadBucket)
	if err != nil {
		return err
	}
	for _, n := range numbers {
		key := number(n)
		value := b.Get(key)
		if value == nil {
			return fmt.Errorf("%w: dead letter %d", store.ErrNotFound, n)
		}
		d, err := e.log.readLetter(key, value)
		if err != nil {
			return err
		}
		r := d.Again(now)
		if _, _, err := e.append(encodeRecord(&r), nanos(now), r.Size()); err != nil {
			return err
		}
		if err := b.Delete(key); err != nil {
			return err
		}
	}
	return nil
}

// Purge implements [store.Log].
func (l *Log) Purge(ctx context.Context, numbers ...uint64) error {
	if err := l.enter(ctx); err != nil {
		return err
	}
	defer l.leave()
	numbers = slices.Clone(numbers)
	return l.change(ctx, newOp(l, 0, l.edits(func(e *edit) error {
		b, err := l.child(e.topic, deadBucket)
		for i := 0; i < len(numbers) && err == nil; i++ {
			err = b.Delete(number(numbers[i]))
		}
		return err
	})))
}
