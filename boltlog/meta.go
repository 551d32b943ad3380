package boltlog

import (
	"errors"
	"hash/fnv"
	"io"

	"github.com/heraldbus/herald/store"
)

// A meta is one of the two pages at the front, which a transaction writes last, in turns.
type meta struct {
	pageSize uint32
	root     uint64
	freelist uint64
	high     uint64
	txid     uint64
}

const (
	boltMagic   = 0xED0CDAED
	boltVersion = 2
)

var errNoMeta = errors.New("not a meta page")

// newestMeta returns the meta page that counts. Both must be intact and follow each other: with one
// of them lost the other would take back the last transaction, and nobody would see
// it. A disk doesn't tear what is in one sector, and a meta page is.
func newestMeta(file io.ReaderAt, size int64) (meta, error) {
	first, err := readMeta(file, 0)
	if err != nil {
		return meta{}, notOurs(file, size, err)
	}
	second, err := readMeta(file, int64(first.pageSize))
	if err != nil {
		return meta{}, broken("second meta page: %v", err)
	}
	if first.pageSize != second.pageSize || first.txid%2 != 0 || second.txid%2 != 1 {
		return meta{}, broken("meta pages that aren't a pair")
	}
	switch {
	case first.txid+1 == second.txid:
		return second, nil
	case second.txid+1 == first.txid:
		return first, nil
	}
	return meta{}, broken("meta pages of transactions %d and %d", first.txid, second.txid)
}

// notOurs tells a damaged file from one that never was ours.
func notOurs(file io.ReaderAt, size int64, err error) error {
	for pageSize := int64(1024); pageSize <= 64<<10 && pageSize < size; pageSize *= 2 {
		if _, err := readMeta(file, pageSize); err == nil {
			return broken("first meta page: %v", err)
		}
	}
	if size < 4*1024 {
		return broken("a file of %d bytes: too short", size)
	}
	return errors.Join(store.ErrFormat, broken("first meta page: %v", err))
}

func readMeta(file io.ReaderAt, at int64) (m meta, err error) {
	b := make([]byte, metaLen)
	if _, err := file.ReadAt(b, at+pageHead); err != nil {
		return m, err
	}
	h := fnv.New64a()
	_, _ = h.Write(b[:metaLen-8])
	u64 := func(i int) uint64 { return order.Uint64(b[i:]) }
	if order.Uint32(b) != boltMagic || order.Uint32(b[4:]) != boltVersion || h.Sum64() != u64(metaLen-8) {
		return m, errNoMeta
	}
	m = meta{order.Uint32(b[8:]), u64(16), u64(32), u64(40), u64(48)}
	if m.pageSize < 1024 || m.pageSize > 1<<24 || m.pageSize&(m.pageSize-1) != 0 {
		return m, errNoMeta
	}
	return m, nil
}
