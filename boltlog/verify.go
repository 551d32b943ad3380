package boltlog

import (
	"context"
	"encoding/binary"
	"errors"

	"go.etcd.io/bbolt"
)

// maxDamage is how many errors Verify collects at most.
const maxDamage = 100

// Verify reads every value of the file and says what is damaged: all of it
// joined, up to 100 errors, each a [*store.CorruptError]. progress may be nil; it's told the topic and how many
// records of it were read, now and then.
func (s *Store) Verify(ctx context.Context, progress func(topic string, records uint64)) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	if progress == nil {
		progress = func(string, uint64) {}
	}
	return s.view(func(tx *bbolt.Tx) error {
		return s.eachTopic(ctx, tx, func(l *Log, b *bbolt.Bucket) error {
			v := verifying{ctx: ctx, log: l, progress: progress}
			return v.topic(b)
		})
	})
}

// A verifying is the verification of one topic.
type verifying struct {
	ctx      context.Context
	log      *Log
	progress func(string, uint64)
	damage   []error
}

func (v *verifying) topic(topic *bbolt.Bucket) error {
	s, err := v.log.readState(topic)
	if err != nil {
		return err
	}
	if err := v.records(topic, s); err != nil {
		return err
	}
	for name, read := range map[string]func(key, value []byte) error{
		string(cursorsBucket): func(key, value []byte) error { _, err := v.log.readCursor(key, value); return err },
		string(deadBucket):    v.log.checkLetter,
		string(delayedBucket): v.log.checkDelayed,
		string(idsBucket):     func(key, value []byte) error { _, _, err := v.log.readID(key, value); return err },
	} {
		b, err := v.log.child(topic, []byte(name))
		if err != nil {
			return err
		}
		err = b.ForEach(func(key, value []byte) error {
			v.note(read(key, value))
			return v.full()
		})
		if err != nil {
			return err
		}
	}
	return errors.Join(v.damage...)
}

func (v *verifying) note(err error) {
	if err != nil {
		v.damage = append(v.damage, err)
	}
}

// full ends the verification when there's enough damage, or no time.
func (v *verifying) full() error {
	if len(v.damage) >= maxDamage {
		return errors.Join(v.damage...)
	}
	return context.Cause(v.ctx)
}

// records checks that all of first <= offset < next are there, in segments
// that follow each other.
func (v *verifying) records(topic *bbolt.Bucket, s state) error {
	segments, err := v.log.child(topic, segmentsBucket)
	if err != nil {
		return err
	}
	next := s.first
	c := segments.Cursor()
	for key, _ := c.First(); key != nil; key, _ = c.Next() {
		from, ok := numberOf(key)
		b := segments.Bucket(key)
		if !ok || b == nil || from > next && len(v.damage) == 0 {
			v.note(v.log.corrupt(next, "not a segment, or not the next one"))
			continue
		}
		if next, err = v.segment(b, key, max(from, next)); err != nil {
			return err
		}
	}
	if next != s.next {
		v.note(v.log.corrupt(next, "the last records are missing"))
	}
	return nil
}

func (v *verifying) segment(b *bbolt.Bucket, segment []byte, next uint64) (uint64, error) {
	sizeKey := append(append([]byte(nil), segment...), 0)
	content, ok := v.log.scopes.records.open(sizeKey, b.Get(beforeKey))
	if !ok || len(content) != 8 || binary.BigEndian.Uint64(content) > 1<<62 {
		v.note(v.log.corrupt(0, "size of a segment"))
	}
	c := b.Cursor()
	for key, value := c.Seek(number(0)); key != nil; key, value = c.Next() {
		offset, ok := numberOf(key)
		if !ok || offset != next {
			v.note(v.log.corrupt(next, "the record is missing"))
			next = max(next, offset)
		}
		_, err := v.log.readRecord(offset, key, value)
		v.note(err)
		next++
		if next%1024 == 0 {
			v.progress(v.log.name, next)
		}
		if err := v.full(); err != nil {
			return next, err
		}
	}
	return next, nil
}

func (l *Log) checkLetter(key, value []byte) error {
	_, err := l.readLetter(key, value)
	return err
}

func (l *Log) checkDelayed(key, value []byte) error {
	_, isDue := dueOf(key)
	content, ok := l.scopes.delayed.open(key, value)
	if ok && isDue {
		_, ok = decodeRecord(0, content)
	}
	if !ok || !isDue {
		return l.corrupt(0, "delayed record")
	}
	return nil
}
