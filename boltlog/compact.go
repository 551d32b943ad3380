package boltlog

import (
	"context"
	"errors"
	"fmt"
	"os"

	"go.etcd.io/bbolt"

	"github.com/heraldbus/herald/store"
)

// Compact writes the file anew, without what is free in it, and puts the new one in the place of the old
// one. All other calls wait. progress may be nil; it's told how many values are
// copied now and then. If ctx ends first the store is as it was.
func (s *Store) Compact(ctx context.Context, progress func(values int)) error {
	s.gate.Lock()
	defer s.gate.Unlock()
	if s.closed {
		return store.ErrClosed
	}
	if s.config.readOnly {
		return s.writer.failed
	}
	if err := s.flush(); err != nil {
		return err
	}
	temp := s.path + compactSuffix
	_ = os.Remove(temp)
	var file *os.File
	fresh, err := bbolt.Open(temp, 0o600, s.boltOptions(func(path string, flag int, mode os.FileMode) (f *os.File, err error) {
		file, err = os.OpenFile(path, flag, mode)
		return file, err
	}))
	if err != nil {
		return err
	}
	if progress == nil {
		progress = func(int) {}
	}
	c := &copying{ctx: ctx, from: s.writer.db, to: fresh, progress: progress}
	err = guard(c.run)
	if err == nil {
		err = os.Rename(temp, s.path) // we have the lock of both
	}
	if err != nil {
		_ = fresh.Close()
		_ = os.Remove(temp)
		return fmt.Errorf("compact %s: %w", s.path, err)
	}
	old := s.writer.db
	s.writer.db, s.writer.file = fresh, file
	err = guard(old.Close)
	if failed := syncDir(s.path); failed != nil {
		// After a loss of power the old file may be there again, without what comes now.
		err = failure(failed)
		s.writer.fail(err)
	}
	return err
}

// A copying copies all buckets of a database, a piece at a time.
type copying struct {
	ctx      context.Context
	from, to *bbolt.DB
	progress func(int)

	tx     *bbolt.Tx
	size   int // bytes put in tx
	values int
}

// copySize is how many bytes are copied in one transaction.
const copySize = 16 << 20

func (c *copying) run() (err error) {
	if c.tx, err = c.to.Begin(true); err != nil {
		return err
	}
	defer func() {
		if c.tx != nil {
			_ = c.tx.Rollback()
		}
	}()
	err = c.from.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error { return c.bucket([][]byte{name}, b) })
	})
	if err == nil {
		err = c.tx.Commit()
		c.tx = nil
	}
	return err
}

func (c *copying) bucket(path [][]byte, b *bbolt.Bucket) error {
	to, err := c.open(path)
	if err != nil {
		return err
	}
	return b.ForEach(func(key, value []byte) error {
		if child := b.Bucket(key); value == nil && child != nil {
			if err := c.bucket(append(path[:len(path):len(path)], key), child); err != nil {
				return err
			}
			to, err = c.open(path)
			return err
		}
		if c.size += len(key) + len(value); c.size > copySize {
			if err := c.next(); err != nil {
				return err
			}
			if to, err = c.open(path); err != nil {
				return err
			}
		}
		c.values++
		return to.Put(key, value)
	})
}

// next commits what is copied and begins the next piece.
func (c *copying) next() (err error) {
	if c.ctx.Err() != nil {
		return context.Cause(c.ctx)
	}
	c.progress(c.values)
	c.size = 0
	if err := c.tx.Commit(); err != nil {
		return err
	}
	c.tx, err = c.to.Begin(true)
	return err
}

// open returns the bucket at a path in the new database; it makes what is
// missing.
func (c *copying) open(path [][]byte) (b *bbolt.Bucket, err error) {
	if c.tx == nil {
		return nil, errors.New("no transaction")
	}
	b, err = c.tx.CreateBucketIfNotExists(path[0])
	for _, name := range path[1:] {
		if err != nil {
			return nil, err
		}
		b, err = b.CreateBucketIfNotExists(name)
	}
	if b != nil {
		b.FillPercent = 1
	}
	return b, err
}
