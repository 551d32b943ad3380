package boltlog

import (
	"encoding/binary"
	"math"
	"time"

	"go.etcd.io/bbolt"
)

// trim drops the segments at the front that nobody has to keep, never the last
// one.
func (e *edit) trim() error {
	r := e.log.settings.Retention
	if r.Count == 0 && r.Bytes == 0 && r.Age == 0 {
		return nil
	}
	for {
		c := e.segments.Cursor()
		key, _ := c.First()
		next, _ := c.Next()
		if next == nil {
			return nil
		}
		end, ok := numberOf(next)
		if !ok || end <= e.state.first || end > e.state.next {
			return e.log.corrupt(0, "not a segment")
		}
		drop, err := e.superfluous(key, next, end)
		if err != nil || !drop {
			return err
		}
		if err := e.segments.DeleteBucket(key); err != nil {
			return err
		}
		e.state.first = end
	}
}

// superfluous reports whether all records of the first segment may go; those
// from end on follow.
func (e *edit) superfluous(segment, next []byte, end uint64) (bool, error) {
	r := e.log.settings.Retention
	if r.Count > 0 && e.state.next-end >= uint64(r.Count) {
		return true, nil
	}
	if r.Bytes > 0 {
		before, err := e.bytesBefore(next)
		if err != nil || e.state.bytes-before >= uint64(r.Bytes) {
			return err == nil, err
		}
	}
	if r.Age > 0 {
		at, err := e.timeOfLast(segment)
		if err != nil || time.Duration(e.state.time-at) > r.Age {
			return err == nil, err
		}
	}
	if !r.Consumed {
		return false, nil
	}
	committed, err := e.lowestCommitted()
	return committed >= end-1, err
}

func (e *edit) bytesBefore(segment []byte) (uint64, error) {
	b := e.segments.Bucket(segment)
	if b == nil {
		return 0, e.log.corrupt(0, "not a segment")
	}
	key := append(append([]byte(nil), segment...), 0)
	content, ok := e.log.scopes.records.open(key, b.Get(beforeKey))
	if !ok || len(content) != 8 || binary.BigEndian.Uint64(content) > e.state.bytes {
		return 0, e.log.corrupt(0, "size of a segment")
	}
	return binary.BigEndian.Uint64(content), nil
}

func (e *edit) timeOfLast(segment []byte) (int64, error) {
	b := e.segments.Bucket(segment)
	if b == nil {
		return 0, e.log.corrupt(0, "not a segment")
	}
	key, value := b.Cursor().Last()
	content, ok := e.log.scopes.records.open(key, value)
	if !ok || len(content) < 8 {
		offset, _ := numberOf(key)
		return 0, e.log.corrupt(offset, "record")
	}
	return int64(binary.BigEndian.Uint64(content)), nil
}

// lowestCommitted is what all cursors have committed; without cursors nothing
// is.
func (e *edit) lowestCommitted() (uint64, error) {
	b, err := e.log.child(e.topic, cursorsBucket)
	if err != nil {
		return 0, err
	}
	var lowest uint64 = math.MaxUint64
	err = e.log.eachCursor(b, func(_ string, committed uint64) { lowest = min(lowest, committed) })
	if lowest == math.MaxUint64 {
		lowest = 0
	}
	return lowest, err
}

func (l *Log) eachCursor(b *bbolt.Bucket, fn func(name string, committed uint64)) error {
	return b.ForEach(func(key, value []byte) error {
		c, err := l.readCursor(key, value)
		if err == nil {
			fn(string(key), c.Committed)
		}
		return err
	})
}
