package boltlog

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/heraldbus/herald/store"
)

// This file reads the structure of a bbolt file, before bbolt does, and trusts
// none of it: bbolt follows what it finds, in memory that is mapped from the file.
// Afterwards every page that can be reached is what it should be, keys are where a search
// looks for them, and a page is either in use once or free.
//
// A page is a header (id 8, flags 2, count 2, overflow 4 bytes), count
// elements, and keys and values, without gaps. All numbers are in the order of the machine.

// A usage is how many pages a file has, and how many of them are free.
type usage struct{ pages, free int }

// much reports whether a compaction is worth it.
func (u usage) much() bool { return u.pages > 256 && u.free > u.pages/4 }

const (
	pageHead   = 16
	elementLen = 16
	metaLen    = 64

	branchFlag   = 0x01
	leafFlag     = 0x02
	freelistFlag = 0x10
	bucketFlag   = 0x01

	noFreelist = ^uint64(0)
	maxDepth   = 64
)

var order = binary.NativeEndian

// An inspection is one reading of a file.
type inspection struct {
	file     io.ReaderAt
	pageSize int
	high     uint64 // pages from here on aren't in use
	seen     []bool // by page, below high
	left     uint64 // not seen
}

// inspect reads the structure of a file of that size.
func inspect(file io.ReaderAt, size int64) (usage, error) {
	m, err := newestMeta(file, size)
	if err != nil {
		return usage{}, err
	}
	if m.high < 4 || m.high > uint64(size)/uint64(m.pageSize) {
		return usage{}, broken("%d pages in %d bytes: the file is too short", m.high, size)
	}
	x := &inspection{file: file, pageSize: int(m.pageSize), high: m.high, seen: make([]bool, m.high), left: m.high - 2}
	if err := x.tree(m.root, nil, nil, 0); err != nil {
		return usage{}, err
	}
	free, err := x.freelist(m.freelist)
	if err != nil {
		return usage{}, err
	}
	if x.left != 0 {
		return usage{}, broken("%d pages are neither in use nor free", x.left)
	}
	return usage{int(m.high), free}, nil
}

func broken(format string, args ...any) error {
	return &store.CorruptError{What: fmt.Sprintf(format, args...)}
}

// tree reads a page and all below it. Its keys are low <= key < high; nil: any.
func (x *inspection) tree(id uint64, low, high []byte, depth int) error {
	if depth > maxDepth {
		return broken("page %d is too deep", id)
	}
	page, err := x.read(id)
	if err != nil {
		return err
	}
	switch flags := order.Uint16(page[8:]); flags {
	case branchFlag:
		return x.branch(id, page, low, high, depth)
	case leafFlag:
		_, err := x.leaf(id, page, low, high, depth)
		return err
	default:
		return broken("page %d has flags %#x", id, flags)
	}
}

// read reads a page, with those that it runs over, and counts them as seen.
func (x *inspection) read(id uint64) ([]byte, error) {
	if err := x.see(id); err != nil {
		return nil, err
	}
	var head [pageHead]byte
	at := int64(id) * int64(x.pageSize)
	if _, err := x.file.ReadAt(head[:], at); err != nil {
		return nil, broken("page %d: %v", id, err)
	}
	if got := order.Uint64(head[:]); got != id {
		return nil, broken("page %d says that it's %d", id, got)
	}
	overflow := uint64(order.Uint32(head[12:]))
	if overflow > x.left {
		return nil, broken("page %d runs over %d pages", id, overflow)
	}
	for i := range overflow {
		if err := x.see(id + 1 + i); err != nil {
			return nil, err
		}
	}
	page := make([]byte, (1+overflow)*uint64(x.pageSize))
	if _, err := x.file.ReadAt(page, at); err != nil {
		return nil, broken("page %d: %v", id, err)
	}
	return page, nil
}

func (x *inspection) see(id uint64) error {
	if id < 2 || id >= x.high {
		return broken("page %d is outside of the file", id)
	}
	if x.seen[id] {
		return broken("page %d is used twice", id)
	}
	x.seen[id] = true
	x.left--
	return nil
}

// branch reads a page of keys and children: (position 4, key size 4, child 8).
func (x *inspection) branch(id uint64, page, low, high []byte, depth int) error {
	keys, err := packed(id, page, func(e []byte) (pos, key, value uint32) {
		return order.Uint32(e), order.Uint32(e[4:]), 0
	})
	if err != nil {
		return err
	}
	if len(keys) == 0 {
		return broken("page %d has no children", id)
	}
	if err := ordered(id, keys, low, high); err != nil {
		return err
	}
	for i := range keys {
		below, above := low, high
		if i > 0 {
			below = keys[i].key
		}
		if i+1 < len(keys) {
			above = keys[i+1].key
		}
		child := order.Uint64(page[pageHead+i*elementLen+8:])
		if err := x.tree(child, below, above, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// leaf reads a page of keys and values, (flags 4, position 4, key size 4, value
// size 4), and returns where the last value ends.
func (x *inspection) leaf(id uint64, page, low, high []byte, depth int) (end int, err error) {
	items, err := packed(id, page, func(e []byte) (pos, key, value uint32) {
		return order.Uint32(e[4:]), order.Uint32(e[8:]), order.Uint32(e[12:])
	})
	if err != nil {
		return 0, err
	}
	if err := ordered(id, items, low, high); err != nil {
		return 0, err
	}
	end = pageHead
	for i, item := range items {
		end = item.end
		switch flags := order.Uint32(page[pageHead+i*elementLen:]); flags {
		case 0:
		case bucketFlag:
			if err := x.bucket(id, item.value, depth); err != nil {
				return 0, err
			}
		default:
			return 0, broken("page %d: element %d has flags %#x", id, i, flags)
		}
	}
	return end, nil
}

// bucket reads a bucket: (root 8, sequence 8), and if root is 0 a leaf page right behind.
func (x *inspection) bucket(id uint64, value []byte, depth int) error {
	if len(value) < 16 {
		return broken("page %d: a bucket of %d bytes", id, len(value))
	}
	root, inline := order.Uint64(value), value[16:]
	if root != 0 {
		if len(inline) != 0 {
			return broken("page %d: a bucket with %d bytes too many", id, len(inline))
		}
		return x.tree(root, nil, nil, depth+1)
	}
	if len(inline) < pageHead || order.Uint64(inline) != 0 || order.Uint16(inline[8:]) != leafFlag || order.Uint32(inline[12:]) != 0 || depth > maxDepth {
		return broken("page %d: a bucket that isn't one", id)
	}
	end, err := x.leaf(id, inline, nil, nil, depth+1)
	if err == nil && end != len(inline) {
		return broken("page %d: a bucket of %d bytes in %d", id, end, len(inline))
	}
	return err
}

// An item is one element's key and value, and where they end.
type item struct {
	key, value []byte
	end        int
}

// packed returns the elements of a page, which must lie right behind each other.
func packed(id uint64, page []byte, element func([]byte) (pos, key, value uint32)) ([]item, error) {
	count := int(order.Uint16(page[10:]))
	end := pageHead + count*elementLen
	if end > len(page) {
		return nil, broken("page %d has %d elements", id, count)
	}
	if count == 0 && len(page) > pageHead && !bytes.Equal(page[pageHead:2*pageHead], make([]byte, pageHead)) {
		return nil, broken("page %d has no elements, but had", id)
	}
	items := make([]item, count)
	for i := range items {
		at := pageHead + i*elementLen
		pos, keyLen, valueLen := element(page[at : at+elementLen])
		if at+int(pos) != end {
			return nil, broken("page %d: element %d isn't where it should be", id, i)
		}
		middle := end + int(keyLen)
		last := middle + int(valueLen)
		if keyLen > maxKey || last > len(page) {
			return nil, broken("page %d: element %d is too long", id, i)
		}
		items[i] = item{page[end:middle], page[middle:last], last}
		end = last
	}
	return items, nil
}

const maxKey = 1 << 15

// ordered checks that keys ascend within their bounds.
func ordered(id uint64, items []item, low, high []byte) error {
	for i, it := range items {
		if i > 0 && bytes.Compare(items[i-1].key, it.key) >= 0 {
			return broken("page %d: keys out of order", id)
		}
	}
	if len(items) == 0 {
		return nil
	}
	if low != nil && bytes.Compare(items[0].key, low) < 0 || high != nil && bytes.Compare(items[len(items)-1].key, high) >= 0 {
		return broken("page %d: keys of another page", id)
	}
	return nil
}

// freelist reads the list of free pages. A count of 0xffff stands for the first
// number of the list.
func (x *inspection) freelist(id uint64) (free int, err error) {
	if id == noFreelist {
		return 0, broken("no list of free pages")
	}
	page, err := x.read(id)
	if err != nil {
		return 0, err
	}
	if flags := order.Uint16(page[8:]); flags != freelistFlag {
		return 0, broken("page %d has flags %#x", id, flags)
	}
	list := page[pageHead:]
	count := uint64(order.Uint16(page[10:]))
	if count == 0xffff {
		count, list = order.Uint64(list), list[8:]
	}
	if count > uint64(len(list)/8) {
		return 0, broken("page %d lists %d pages", id, count)
	}
	var last uint64
	for i := range count {
		n := order.Uint64(list[8*i:])
		if n <= last {
			return 0, broken("page %d isn't in order", id)
		}
		if err := x.see(n); err != nil {
			return 0, err
		}
		last = n
	}
	return int(count), nil
}
