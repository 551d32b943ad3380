package boltlog

import (
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"github.com/heraldbus/herald/store"
)

// A record's value: checksum, time (8 bytes), then the rest as appendBody
// writes it. Checksum and time are filled in when its offset is known.
const recordHead = sealSize + 8

func encodeRecord(r *store.Record) []byte {
	b := make([]byte, recordHead, recordHead+64+len(r.Key)+len(r.ID)+len(r.Data))
	return appendBody(b, r)
}

// setTime writes the time of a record into its value.
func setTime(value []byte, ns int64) { binary.BigEndian.PutUint64(value[sealSize:], uint64(ns)) }

func decodeRecord(offset uint64, content []byte) (store.Record, bool) {
	if len(content) < 8 {
		return store.Record{}, false
	}
	d := decoder{b: content[8:]}
	r := d.body()
	r.Offset, r.Time = offset, timeOf(int64(binary.BigEndian.Uint64(content)))
	return r, d.done()
}

func appendBody(b []byte, r *store.Record) []byte {
	b = append(b, byte(r.Priority))
	b = appendString(b, r.Key)
	b = appendString(b, r.ID)
	b = appendString(b, r.Codec)
	b = appendString(b, r.For)
	b = binary.AppendUvarint(b, uint64(r.Replays))
	b = binary.AppendVarint(b, nanos(r.Due))
	b = binary.AppendVarint(b, nanos(r.Expires))
	b = binary.AppendUvarint(b, uint64(len(r.Headers)))
	for _, h := range r.Headers {
		b = appendString(b, h.Key)
		b = appendString(b, h.Value)
	}
	b = binary.AppendUvarint(b, uint64(len(r.Data)))
	return append(b, r.Data...)
}

func appendString(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

func encodeLetter(d *store.DeadLetter) []byte {
	b := make([]byte, sealSize)
	b = appendString(b, d.Subscription)
	b = binary.AppendUvarint(b, uint64(d.Attempts))
	b = appendString(b, d.Reason)
	b = appendString(b, d.Err)
	b = binary.AppendVarint(b, nanos(d.At))
	b = binary.AppendUvarint(b, d.Record.Offset)
	b = binary.AppendVarint(b, nanos(d.Record.Time))
	return appendBody(b, &d.Record)
}

func decodeLetter(n uint64, content []byte) (store.DeadLetter, bool) {
	d := decoder{b: content}
	l := store.DeadLetter{Number: n, Subscription: d.string(), Attempts: int(d.uvarint()), Reason: d.string(), Err: d.string(), At: d.time()}
	offset, at := d.uvarint(), d.time()
	l.Record = d.body()
	l.Record.Offset, l.Record.Time = offset, at
	return l, d.done()
}

func encodeCursor(c *store.Cursor) []byte {
	b := make([]byte, sealSize)
	b = binary.AppendUvarint(b, c.Committed)
	b = binary.AppendUvarint(b, uint64(len(c.Ahead)))
	last := c.Committed
	for _, o := range c.Ahead {
		b = binary.AppendUvarint(b, o-last)
		last = o
	}
	b = binary.AppendUvarint(b, uint64(len(c.Attempts)))
	for _, o := range slices.Sorted(maps.Keys(c.Attempts)) {
		b = binary.AppendUvarint(b, o)
		b = binary.AppendUvarint(b, uint64(c.Attempts[o]))
	}
	return b
}

func decodeCursor(content []byte) (store.Cursor, bool) {
	d := decoder{b: content}
	c := store.Cursor{Committed: d.uvarint()}
	last := c.Committed
	for range d.count() {
		last += d.uvarint()
		c.Ahead = append(c.Ahead, last)
	}
	if n := d.count(); n > 0 {
		c.Attempts = make(map[uint64]int, n)
		for range n {
			o := d.uvarint()
			c.Attempts[o] = int(d.uvarint())
		}
	}
	return c, d.done()
}

// nanos is how a time is kept: 0 for the zero time.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func timeOf(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns)
}
