package boltlog

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"sort"
	"time"

	"go.etcd.io/bbolt"

	"github.com/heraldbus/herald/store"
)

// readSize is how many bytes a Read returns at most, if that is a record.
const readSize = 4 << 20

// Read implements [store.Log].
func (l *Log) Read(ctx context.Context, from uint64, limit int) ([]store.Record, error) {
	if err := l.enter(ctx); err != nil {
		return nil, err
	}
	defer l.leave()
	next, err := l.settled(ctx, from, limit)
	if err != nil {
		return nil, err
	}
	if from > next || limit < 1 {
		return nil, fmt.Errorf("%w: read %d at %d of a log that ends before %d", store.ErrInvalid, limit, from, next)
	}
	var out []store.Record
	err = l.view(segmentsBucket, func(topic, segments *bbolt.Bucket) error {
		s, err := l.readState(topic)
		if err != nil {
			return err
		}
		if from < s.first {
			return &store.TrimmedError{Topic: l.name, From: from, First: s.first}
		}
		r := reading{log: l, segments: segments, next: from, end: min(next, from+uint64(limit))}
		out, err = r.all()
		return err
	})
	return out, err
}

// settled returns the durable end of the log, after it made durable what such
// a Read would reach.
func (l *Log) settled(ctx context.Context, from uint64, limit int) (uint64, error) {
	next, _ := l.durable()
	if from+uint64(max(limit, 0)) <= next || l.store.config.relaxed == 0 || l.Bounds().Next == next {
		return next, nil
	}
	if err := l.store.writer.do(ctx, newOp(nil, 0, nil)); err != nil {
		return 0, err
	}
	next, _ = l.durable()
	return next, nil
}

// A reading reads the records next <= o < end, segment by segment.
type reading struct {
	log      *Log
	segments *bbolt.Bucket
	next     uint64
	end      uint64
	size     int
	out      []store.Record
}

// all returns what comes before the first damaged record, or says that it's
// the first.
func (r *reading) all() ([]store.Record, error) {
	for r.next < r.end && r.size < readSize {
		err := r.segment()
		if err != nil && len(r.out) > 0 {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return r.out, nil
}

// segment reads from the one segment that next is in.
func (r *reading) segment() error {
	b, err := r.log.segmentOf(r.segments, r.next)
	if err != nil {
		return err
	}
	c := b.Cursor()
	began := r.next
	for key, value := c.Seek(number(r.next)); key != nil && r.next < r.end && r.size < readSize; key, value = c.Next() {
		rec, err := r.log.readRecord(r.next, key, value)
		if err != nil {
			return err
		}
		r.out = append(r.out, rec)
		r.size += len(value)
		r.next++
	}
	if r.next == began {
		return r.log.corrupt(r.next, "the record is missing")
	}
	return nil
}

// segmentOf opens the segment that the record at offset is in.
func (l *Log) segmentOf(segments *bbolt.Bucket, offset uint64) (*bbolt.Bucket, error) {
	c := segments.Cursor()
	want := number(offset)
	key, _ := c.Seek(want)
	if key == nil {
		key, _ = c.Last()
	} else if !bytes.Equal(key, want) {
		key, _ = c.Prev()
	}
	if key == nil {
		return nil, l.corrupt(offset, "the segment is missing")
	}
	b := segments.Bucket(key)
	if b == nil {
		return nil, l.corrupt(offset, "not a segment")
	}
	return b, nil
}

func (l *Log) readRecord(offset uint64, key, value []byte) (store.Record, error) {
	if n, ok := numberOf(key); !ok || n != offset {
		return store.Record{}, l.corrupt(offset, "the record is missing")
	}
	content, ok := l.scopes.records.open(key, value)
	if !ok {
		return store.Record{}, l.corrupt(offset, "checksum")
	}
	rec, ok := decodeRecord(offset, content)
	if !ok {
		return store.Record{}, l.corrupt(offset, "encoding")
	}
	return rec, nil
}

// At implements [store.Log].
func (l *Log) At(ctx context.Context, t time.Time) (uint64, error) {
	if err := l.enter(ctx); err != nil {
		return 0, err
	}
	defer l.leave()
	next, err := l.settled(ctx, 1, math.MaxInt)
	if err != nil {
		return 0, err
	}
	var found uint64
	err = l.view(segmentsBucket, func(topic, segments *bbolt.Bucket) error {
		s, err := l.readState(topic)
		if err != nil {
			return err
		}
		var failed error
		n := sort.Search(int(next-min(s.first, next)), func(i int) bool {
			at, err := l.timeAt(segments, s.first+uint64(i))
			if err != nil {
				failed = err
			}
			return !at.Before(t)
		})
		found = s.first + uint64(n)
		return failed
	})
	return found, err
}

func (l *Log) timeAt(segments *bbolt.Bucket, offset uint64) (time.Time, error) {
	b, err := l.segmentOf(segments, offset)
	if err != nil {
		return time.Time{}, err
	}
	key := number(offset)
	content, ok := l.scopes.records.open(key, b.Get(key))
	if !ok || len(content) < 8 {
		return time.Time{}, l.corrupt(offset, "record")
	}
	return timeOf(int64(binary.BigEndian.Uint64(content))), nil
}
