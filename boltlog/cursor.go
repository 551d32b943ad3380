package boltlog

import (
	"context"

	"go.etcd.io/bbolt"

	"github.com/heraldbus/herald/store"
)

// Cursor implements [store.Log].
func (l *Log) Cursor(ctx context.Context, subscription string) (c store.Cursor, err error) {
	if err := l.enter(ctx); err != nil {
		return c, err
	}
	defer l.leave()
	if err := store.CheckName(subscription); err != nil {
		return c, err
	}
	err = l.view(cursorsBucket, func(_, b *bbolt.Bucket) error {
		key := []byte(subscription)
		value := b.Get(key)
		if value == nil {
			return store.ErrNotFound
		}
		c, err = l.readCursor(key, value)
		return err
	})
	return c, err
}

func (l *Log) readCursor(key, value []byte) (store.Cursor, error) {
	content, ok := l.scopes.cursors.open(key, value)
	if !ok {
		return store.Cursor{}, l.corrupt(0, "cursor")
	}
	c, ok := decodeCursor(content)
	if !ok {
		return store.Cursor{}, l.corrupt(0, "cursor's encoding")
	}
	return c, nil
}

// Commit implements [store.Log].
func (l *Log) Commit(ctx context.Context, subscription string, c store.Commit) error {
	if err := l.enter(ctx); err != nil {
		return err
	}
	defer l.leave()
	if err := store.CheckName(subscription); err != nil {
		return err
	}
	c.Cursor = c.Cursor.Clone()
	cursor, letters, size := encodeCommit(subscription, &c)
	c.Dead = make([]store.DeadLetter, len(letters)) // only their number is asked for
	return l.change(ctx, newOp(l, size, l.edits(func(e *edit) error {
		if err := e.checkCommit(subscription, &c); err != nil {
			return err
		}
		if err := e.putCursor(subscription, cursor); err != nil {
			return err
		}
		return e.bury(letters)
	})))
}

func encodeCommit(subscription string, c *store.Commit) (cursor []byte, letters [][]byte, size int) {
	cursor = encodeCursor(&c.Cursor)
	size = len(cursor)
	for _, d := range c.Dead {
		d.Subscription = subscription
		b := encodeLetter(&d)
		letters = append(letters, b)
		size += len(b)
	}
	return cursor, letters, size
}

func (e *edit) checkCommit(subscription string, c *store.Commit) error {
	b, err := e.log.child(e.topic, cursorsBucket)
	if err != nil {
		return err
	}
	var old store.Cursor
	key := []byte(subscription)
	if value := b.Get(key); value != nil {
		if old, err = e.log.readCursor(key, value); err != nil {
			return err
		}
	}
	return c.Check(old, store.Bounds{First: e.state.first, Next: e.state.next})
}

func (e *edit) putCursor(subscription string, value []byte) error {
	b, err := e.log.child(e.topic, cursorsBucket)
	if err != nil {
		return err
	}
	key := []byte(subscription)
	return b.Put(key, e.log.scopes.cursors.seal(key, value))
}

// Forget implements [store.Log].
func (l *Log) Forget(ctx context.Context, subscription string) error {
	if err := l.enter(ctx); err != nil {
		return err
	}
	defer l.leave()
	return l.change(ctx, newOp(l, 0, l.edits(func(e *edit) error {
		b, err := l.child(e.topic, cursorsBucket)
		if err != nil {
			return err
		}
		key := []byte(subscription)
		if len(key) == 0 || b.Get(key) == nil {
			return store.ErrNotFound
		}
		return b.Delete(key)
	})))
}
