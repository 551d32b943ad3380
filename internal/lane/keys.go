package lane

import (
	"hash/maphash"
	"math/bits"
)

// A keyLine is one key in use: its items in order of their places. The first is the head, the only one that may run;
// it stays so while it runs and while it waits for a retry, so that a held key needs no mark.
type keyLine struct {
	list
	len  int
	hash uint64
	next *keyLine // in its bucket, or in the list of spare ones
}

func (l *keyLine) key() string { return l.first.Key }

// keys is the table of keys in use, by linear hashing: it grows and shrinks by one bucket at a time, so that no call
// has to move a million keys. Unlike a map it keeps no key but those of the items in it, and costs half as much.
type keys struct {
	buckets []*keyLine // two to four for a line
	n       int        // lines
	seed    maphash.Seed
	spare   *keyLine
	spares  int
}

const (
	minBuckets = 8
	maxSpares  = 1024 // lines kept for reuse while busy
	idleSpares = 8    // and when idle
)

// join puts an item in the line of its key, as the last.
func (k *keys) join(it *Item) *keyLine {
	if k.buckets == nil {
		k.buckets, k.seed = make([]*keyLine, minBuckets), maphash.MakeSeed()
	}
	hash := maphash.String(k.seed, it.Key)
	line := k.find(hash, it.Key)
	if line == nil {
		line = k.make(hash)
	}
	line.push(it, ofKey)
	line.len++
	it.line = line
	return line
}

// leave takes an item out of its line, and returns the head that is left. A line without items ends.
func (k *keys) leave(it *Item) *Item {
	line := it.line
	it.line = nil
	line.remove(it, ofKey)
	line.len--
	if line.first == nil {
		k.free(line)
		return nil
	}
	return line.first
}

// line returns the line of a key, or nil.
func (k *keys) line(key string) *keyLine {
	if k.n == 0 {
		return nil
	}
	return k.find(maphash.String(k.seed, key), key)
}

func (k *keys) find(hash uint64, key string) *keyLine {
	line := *k.bucket(hash)
	for line != nil && (line.hash != hash || line.key() != key) {
		line = line.next
	}
	return line
}

// bucket returns the bucket of a hash: by its last bits, by one bit less where there is no such bucket yet.
func (k *keys) bucket(hash uint64) **keyLine {
	n := uint64(len(k.buckets))
	mask := uint64(1)<<bits.Len64(n-1) - 1
	i := hash & mask
	if i >= n {
		i = hash & (mask >> 1)
	}
	return &k.buckets[i]
}

// make returns a new line for a hash, in its bucket.
func (k *keys) make(hash uint64) *keyLine {
	line := k.spare
	if line == nil {
		line = new(keyLine)
	} else {
		k.spare = line.next
		k.spares--
	}
	b := k.bucket(hash)
	line.hash, line.next = hash, *b
	*b = line
	for k.n++; len(k.buckets) < 2*k.n; {
		k.split()
	}
	return line
}

// free ends a line without items.
func (k *keys) free(line *keyLine) {
	b := k.bucket(line.hash)
	for *b != line {
		b = &(*b).next
	}
	*b = line.next
	for k.n--; len(k.buckets) > max(4*k.n, minBuckets); {
		k.merge()
	}
	*line = keyLine{}
	if k.spares < maxSpares {
		line.next, k.spare = k.spare, line
		k.spares++
	}
}

// split adds a bucket, which takes what is its own from the one that stood in for it.
func (k *keys) split() {
	n := uint64(len(k.buckets))
	old := &k.buckets[n-1<<(bits.Len64(n)-1)]
	line := *old
	*old = nil
	k.buckets = append(k.buckets, nil)
	k.spread(line)
}

// merge takes the last bucket away.
func (k *keys) merge() {
	n := len(k.buckets) - 1
	line := k.buckets[n]
	k.buckets[n] = nil
	k.buckets = k.buckets[:n]
	k.spread(line)
}

// spread puts a chain of lines into the buckets that are theirs now.
func (k *keys) spread(line *keyLine) {
	for line != nil {
		next, b := line.next, k.bucket(line.hash)
		line.next, *b = *b, line
		line = next
	}
}

func (k *keys) trim() {
	for k.spares > idleSpares {
		k.spare = k.spare.next
		k.spares--
	}
	k.buckets = trimmed(k.buckets)
}
