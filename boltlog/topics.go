package boltlog

import (
	"context"

	"go.etcd.io/bbolt"

	"github.com/heraldbus/herald/store"
)

// A Topic is what a file holds of one topic.
type Topic struct {
	Name     string
	Bounds   store.Bounds
	Bytes    uint64 // appended ever: keys, IDs and data
	Segments int
	Dead     int
	Delayed  int
	Cursors  map[string]store.Cursor
}

// Topics returns what is durable of all topics, by name, open or not. It counts: with
// many dead letters it takes its time.
func (s *Store) Topics(ctx context.Context) ([]Topic, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	var out []Topic
	err := s.view(func(tx *bbolt.Tx) error {
		return s.eachTopic(ctx, tx, func(l *Log, b *bbolt.Bucket) error {
			t, err := l.describe(b)
			out = append(out, t)
			return err
		})
	})
	return out, err
}

// eachTopic calls fn with all topics, as logs that are good for reading in
// this transaction only.
func (s *Store) eachTopic(ctx context.Context, tx *bbolt.Tx, fn func(*Log, *bbolt.Bucket) error) error {
	topics := tx.Bucket(topicsBucket)
	if topics == nil {
		return broken("no topics")
	}
	return topics.ForEach(func(name, _ []byte) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		l := &Log{name: string(name), store: s, config: &s.config, scopes: newScopes(string(name))}
		b := topics.Bucket(name)
		if b == nil {
			return l.corrupt(0, "not a topic")
		}
		return fn(l, b)
	})
}

func (l *Log) describe(topic *bbolt.Bucket) (Topic, error) {
	s, err := l.readState(topic)
	if err != nil {
		return Topic{}, err
	}
	t := Topic{
		Name: l.name, Bounds: store.Bounds{First: s.first, Next: s.next}, Bytes: s.bytes,
		Cursors: map[string]store.Cursor{},
	}
	for name, count := range map[string]*int{string(segmentsBucket): &t.Segments, string(deadBucket): &t.Dead, string(delayedBucket): &t.Delayed} {
		b, err := l.child(topic, []byte(name))
		if err != nil {
			return t, err
		}
		c := b.Cursor()
		for key, _ := c.First(); key != nil; key, _ = c.Next() {
			*count++
		}
	}
	b, err := l.child(topic, cursorsBucket)
	if err != nil {
		return t, err
	}
	return t, b.ForEach(func(key, value []byte) error {
		c, err := l.readCursor(key, value)
		t.Cursors[string(key)] = c
		return err
	})
}
