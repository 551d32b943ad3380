package boltlog

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/heraldbus/herald/store"
)

// A decoder takes values from the front of b. After the first one that isn't
// there all are zero, and done says so.
type decoder struct {
	b   []byte
	bad bool
}

// done reports whether everything was there, and nothing else.
func (d *decoder) done() bool { return !d.bad && len(d.b) == 0 }

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	return take(d, v, n)
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.b)
	return take(d, v, n)
}

func (d *decoder) time() time.Time { return timeOf(d.varint()) }

// count is a number of things of a byte or more each that follow.
func (d *decoder) count() int {
	n := d.uvarint()
	if n > uint64(len(d.b)) {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *decoder) bytes() []byte {
	n := d.count()
	out := d.b[:n:n]
	d.b = d.b[n:]
	return out
}

func (d *decoder) string() string { return string(d.bytes()) }

func (d *decoder) byte() byte {
	if len(d.b) == 0 {
		d.fail()
		return 0
	}
	v := d.b[0]
	d.b = d.b[1:]
	return v
}

// body takes what appendBody wrote. Its Data is a copy.
func (d *decoder) body() store.Record {
	r := store.Record{
		Priority: int8(d.byte()), Key: d.string(), ID: d.string(), Codec: d.string(), For: d.string(),
		Replays: int(d.uvarint()), Due: d.time(), Expires: d.time(),
	}
	if n := d.count(); n > 0 {
		r.Headers = make([]store.Header, n)
		for i := range r.Headers {
			r.Headers[i] = store.Header{Key: d.string(), Value: d.string()}
		}
	}
	r.Data = slices.Clone(d.bytes())
	return r
}

// take drops the n bytes that v was in; n isn't positive if it wasn't there.
func take[V uint64 | int64](d *decoder, v V, n int) V {
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) fail() { d.b, d.bad = nil, true }
