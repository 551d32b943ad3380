package boltlog

import (
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/heraldbus/herald/store"
)

// The buckets of a file, and the keys that aren't names or numbers.
//
//	herald/format               version
//	topics/TOPIC/state          a state
//	topics/TOPIC/segments/N/    records by offset, from N on; key 0: bytes appended before N
//	topics/TOPIC/cursors/       cursors by subscription
//	topics/TOPIC/dead/          letters by number
//	topics/TOPIC/delayed/       records by due and number
//	topics/TOPIC/ids/           IDs by offset
var (
	heraldBucket   = []byte("herald")
	topicsBucket   = []byte("topics")
	segmentsBucket = []byte("segments")
	cursorsBucket  = []byte("cursors")
	deadBucket     = []byte("dead")
	delayedBucket  = []byte("delayed")
	idsBucket      = []byte("ids")
	formatKey      = []byte("format")
	stateKey       = []byte("state")
	beforeKey      = []byte{0} // sorts before all offsets
)

// A state is what a topic knows about itself.
type state struct {
	first, next uint64 // bounds
	time        int64  // of the newest record ever
	bytes       uint64 // appended ever
	letters     uint64 // buried ever
	delays      uint64 // delayed ever
}

func (s *state) encode() []byte {
	b := make([]byte, sealSize)
	for _, v := range []uint64{s.first, s.next, uint64(s.time), s.bytes, s.letters, s.delays} {
		b = binary.BigEndian.AppendUint64(b, v)
	}
	return b
}

func decodeState(b []byte) (s state, ok bool) {
	if len(b) != 6*8 {
		return s, false
	}
	at := func(i int) uint64 { return binary.BigEndian.Uint64(b[8*i:]) }
	s = state{at(0), at(1), int64(at(2)), at(3), at(4), at(5)}
	return s, s.first >= 1 && s.first <= s.next
}

// readState reads the state of a topic from its bucket.
func (l *Log) readState(topic *bbolt.Bucket) (state, error) {
	content, ok := l.scopes.state.open(stateKey, topic.Get(stateKey))
	s, valid := decodeState(content)
	if !ok || !valid {
		return s, l.corrupt(0, "state of the topic")
	}
	return s, nil
}

func (l *Log) corrupt(seq uint64, what string) error {
	return &store.CorruptError{Topic: l.name, Seq: seq, What: what}
}

// An edit is what one transaction changes of one topic.
type edit struct {
	log   *Log
	topic *bbolt.Bucket
	state state

	segments *bbolt.Bucket
	segment  *bbolt.Bucket // the last one; nil: not looked for, or there's none
	from     uint64        // its first offset

	ids       map[string]uint64 // remembered by this transaction
	forgotten []string
}

func newEdit(tx *bbolt.Tx, l *Log) (*edit, error) {
	topic, err := l.bucket(tx)
	if err != nil {
		return nil, err
	}
	s, err := l.readState(topic)
	if err != nil {
		return nil, err
	}
	e := &edit{log: l, topic: topic, state: s}
	e.segments, err = l.child(topic, segmentsBucket)
	return e, err
}

// append appends a record and fills in its value.
func (e *edit) append(value []byte, at int64, size int64) (offset uint64, time int64, err error) {
	if err := e.openSegment(); err != nil {
		return 0, 0, err
	}
	s := &e.state
	offset, time = s.next, max(at, s.time)
	key := number(offset)
	setTime(value, time)
	s.next, s.time, s.bytes = offset+1, time, s.bytes+uint64(size)
	return offset, time, e.segment.Put(key, e.log.scopes.records.seal(key, value))
}

// openSegment makes segment the one that the next record belongs to.
func (e *edit) openSegment() error {
	if e.segment == nil {
		if err := e.findSegment(); err != nil {
			return err
		}
	}
	if e.segment != nil && e.state.next-e.from < e.log.config.segment {
		return nil
	}
	key := number(e.state.next)
	b, err := e.segments.CreateBucket(key)
	if err != nil {
		return err
	}
	b.FillPercent = 1 // keys only grow
	e.segment, e.from = b, e.state.next
	before := binary.BigEndian.AppendUint64(make([]byte, sealSize), e.state.bytes)
	return b.Put(beforeKey, e.log.scopes.records.seal(append(key, 0), before))
}

// findSegment opens the last segment there is, and checks that nothing is missing at its end.
func (e *edit) findSegment() error {
	key, _ := e.segments.Cursor().Last()
	if key == nil {
		if e.state.first != e.state.next {
			return e.log.corrupt(e.state.next-1, "no segment")
		}
		return nil
	}
	from, ok := numberOf(key)
	b := e.segments.Bucket(key)
	if !ok || b == nil {
		return e.log.corrupt(0, "not a segment")
	}
	lastKey, _ := b.Cursor().Last()
	if last, ok := numberOf(lastKey); !ok || last+1 != e.state.next || from > last {
		return e.log.corrupt(e.state.next-1, "the last record is missing")
	}
	b.FillPercent = 1
	e.segment, e.from = b, from
	return nil
}

func (e *edit) finish() error {
	if err := e.forgetIDs(); err != nil {
		return err
	}
	if err := e.trim(); err != nil {
		return err
	}
	return e.topic.Put(stateKey, e.log.scopes.state.seal(stateKey, e.state.encode()))
}

// publish makes what is durable now visible to readers.
func (e *edit) publish() {
	e.log.publish(e.state)
	for _, id := range e.forgotten {
		delete(e.log.ids, id)
	}
	for id, offset := range e.ids {
		e.log.ids[id] = offset
	}
}

// child opens a bucket that every topic has.
func (l *Log) child(topic *bbolt.Bucket, name []byte) (*bbolt.Bucket, error) {
	b := topic.Bucket(name)
	if b == nil {
		return nil, l.corrupt(0, fmt.Sprintf("no bucket %s", name))
	}
	return b, nil
}
