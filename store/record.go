package store

import (
	"maps"
	"slices"
	"time"
)

// A Record is one message as a store keeps it.
type Record struct {
	Offset   uint64
	Time     time.Time // when it was published; a store keeps nanoseconds since 1970, no location
	Key      string
	ID       string
	Priority int8
	Headers  []Header // sorted as they were given
	Due      time.Time
	Expires  time.Time
	Codec    string // how Data was encoded
	Data     []byte

	For     string // the one subscription that it is for; empty: all
	Replays int    // how often it came back from the dead letters
}

// A Header is one of a record's headers.
type Header struct{ Key, Value string }

// A Cursor is how far a subscription has come.
type Cursor struct {
	// Committed is the greatest offset at and below which every record has reached an
	// end. 0: none.
	Committed uint64

	// Ahead are records above Committed that have reached an end, ascending.
	Ahead []uint64

	// Attempts are the attempts made on records that have reached none: offset to
	// count, which is 1 or more.
	Attempts map[uint64]int
}

// A Commit is a step of a subscription.
type Commit struct {
	// Cursor is the new state, as a whole. All its offsets exist, those in
	// Ahead and Attempts are above Committed.
	Cursor Cursor

	// Seek allows Committed to go back. Without it that is [ErrInvalid].
	Seek bool

	// Dead are letters to bury: their Number and Subscription are given by the store.
	Dead []DeadLetter
}

// A DeadLetter is a record that a subscription could not deliver.
type DeadLetter struct {
	Number       uint64 // 1, 2, 3, …, never reused
	Subscription string
	Record       Record
	Attempts     int
	Reason       string
	Err          string
	At           time.Time
}

// Clone returns a copy that shares nothing with r.
func (r Record) Clone() Record {
	r.Headers = slices.Clone(r.Headers)
	r.Data = slices.Clone(r.Data)
	return r
}

// Size is what Retention.Bytes counts.
func (r Record) Size() int64 { return int64(len(r.Key) + len(r.ID) + len(r.Data)) }

// Clone returns a copy that shares nothing with c.
func (c Cursor) Clone() Cursor {
	c.Ahead = slices.Clone(c.Ahead)
	c.Attempts = maps.Clone(c.Attempts)
	return c
}

// Clone returns a copy that shares nothing with d.
func (d DeadLetter) Clone() DeadLetter {
	d.Record = d.Record.Clone()
	return d
}

// Again returns the record of a letter as Log.Replay appends it.
func (d DeadLetter) Again(now time.Time) Record {
	r := d.Record.Clone()
	r.Offset, r.Time, r.Due, r.Expires = 0, now, time.Time{}, time.Time{}
	r.For = d.Subscription
	r.Replays++
	return r
}
