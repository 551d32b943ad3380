package boltlog

import (
	"encoding/binary"
	"hash/crc32"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sealSize is the length of the checksum before each value.
const sealSize = 4

// A scope is where a value lives: a checksum over the names of its topic and
// bucket, which the checksum of each value there starts from. A value that
// turns up in another place, or under another key, doesn't fit.
type scope uint32

func newScope(names ...string) scope {
	var sum uint32
	for _, n := range names {
		sum = crc32.Update(sum, castagnoli, binary.AppendUvarint(nil, uint64(len(n))))
		sum = crc32.Update(sum, castagnoli, []byte(n))
	}
	return scope(sum)
}

// seal fills in the first sealSize bytes of value.
func (s scope) seal(key, value []byte) []byte {
	binary.BigEndian.PutUint32(value, s.sum(key, value[sealSize:]))
	return value
}

// open returns what seal sealed, in the same memory, and whether it's intact.
func (s scope) open(key, value []byte) ([]byte, bool) {
	if len(value) < sealSize {
		return nil, false
	}
	content := value[sealSize:]
	return content, binary.BigEndian.Uint32(value) == s.sum(key, content)
}

func (s scope) sum(key, content []byte) uint32 {
	sum := crc32.Update(uint32(s), castagnoli, key)
	return crc32.Update(sum, castagnoli, content)
}

// number is an offset, or the number of a letter, as a key: keys sort as their
// numbers do.
func number(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// numberOf is the number of such a key; no key of another length is one.
func numberOf(key []byte) (uint64, bool) {
	if len(key) != 8 {
		return 0, false
	}
	return binary.BigEndian.Uint64(key), true
}
