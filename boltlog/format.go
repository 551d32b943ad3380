package boltlog

import (
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/heraldbus/herald/store"
)

// formatVersion is the version of the buckets and values. Older ones are
// migrated explicitly, once there are any.
const formatVersion = 1

var formatScope = newScope("", string(heraldBucket))

func writeFormat(tx *bbolt.Tx) error {
	b, err := tx.CreateBucket(heraldBucket)
	if err != nil {
		return err
	}
	if _, err := tx.CreateBucket(topicsBucket); err != nil {
		return err
	}
	value := binary.BigEndian.AppendUint32(make([]byte, sealSize), formatVersion)
	return b.Put(formatKey, formatScope.seal(formatKey, value))
}

// checkFormat checks the version, and that each topic is what it's called: one whose
// name has changed would look like a new one.
func (s *Store) checkFormat() error {
	return s.view(func(tx *bbolt.Tx) error {
		herald, topics := tx.Bucket(heraldBucket), tx.Bucket(topicsBucket)
		if herald == nil || topics == nil {
			return fmt.Errorf("%w: a bbolt file, but not herald's", store.ErrFormat)
		}
		content, ok := formatScope.open(formatKey, herald.Get(formatKey))
		if !ok || len(content) != 4 {
			return &store.CorruptError{What: "format version"}
		}
		if v := binary.BigEndian.Uint32(content); v != formatVersion {
			return fmt.Errorf("%w: version %d, this is version %d", store.ErrFormat, v, formatVersion)
		}
		return topics.ForEach(func(name, _ []byte) error {
			b := topics.Bucket(name)
			if b == nil {
				return &store.CorruptError{Topic: string(name), What: "not a topic"}
			}
			l := &Log{name: string(name), scopes: newScopes(string(name))}
			_, err := l.readState(b)
			return err
		})
	})
}
