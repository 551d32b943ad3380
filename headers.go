package herald

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Limits of the headers of one message: entries, and bytes of all keys and
// values together.
const (
	maxHeaders     = 64
	maxHeaderBytes = 8 << 10
)

// Headers are the key-value pairs that travel with a message. They never
// change once made, so all subscriptions and attempts of a message share one
// copy. The zero value is empty. At most 64 entries and 8 KiB of keys and
// values are allowed; [Topic.Publish] refuses a message beyond that, or one
// with an empty key.
type Headers struct {
	pairs []pair // sorted by key, keys unique, never written after creation
}

type pair struct{ key, value string }

// NewHeaders copies kv, which the caller may change afterwards.
func NewHeaders(kv map[string]string) Headers {
	if len(kv) == 0 {
		return Headers{}
	}
	pairs := make([]pair, 0, len(kv))
	for k, v := range kv {
		pairs = append(pairs, pair{k, v})
	}
	slices.SortFunc(pairs, func(a, b pair) int { return strings.Compare(a.key, b.key) })
	return Headers{pairs}
}

// Get returns the value of key, or "" if there is none.
func (h Headers) Get(key string) string {
	v, _ := h.Lookup(key)
	return v
}

// Lookup returns the value of key and whether there is one.
func (h Headers) Lookup(key string) (value string, ok bool) {
	i, ok := h.find(key)
	if !ok {
		return "", false
	}
	return h.pairs[i].value, true
}

// Len returns the number of entries.
func (h Headers) Len() int { return len(h.pairs) }

// All yields the entries in order of their keys.
func (h Headers) All() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, p := range h.pairs {
			if !yield(p.key, p.value) {
				return
			}
		}
	}
}

// Equal reports whether h and o have the same entries.
func (h Headers) Equal(o Headers) bool { return slices.Equal(h.pairs, o.pairs) }

// with returns h with key set to value; h itself stays as it is.
func (h Headers) with(key, value string) Headers {
	i, ok := h.find(key)
	pairs := make([]pair, len(h.pairs), len(h.pairs)+1)
	copy(pairs, h.pairs)
	if ok {
		pairs[i].value = value
		return Headers{pairs}
	}
	return Headers{slices.Insert(pairs, i, pair{key, value})}
}

// merge returns h with the entries of o added; where both have a key, o's
// value wins.
func (h Headers) merge(o Headers) Headers {
	if h.Len() == 0 {
		return o
	}
	for k, v := range o.All() {
		h = h.with(k, v)
	}
	return h
}

func (h Headers) find(key string) (int, bool) {
	return slices.BinarySearchFunc(h.pairs, key, func(p pair, k string) int { return strings.Compare(p.key, k) })
}

// check says what is wrong with h as the headers of a message.
func (h Headers) check() error {
	if h.Len() > maxHeaders {
		return fmt.Errorf("%w: %d headers, at most %d are allowed", ErrOption, h.Len(), maxHeaders)
	}
	size := 0
	for k, v := range h.All() {
		if k == "" {
			return fmt.Errorf("%w: a header with an empty key", ErrOption)
		}
		size += len(k) + len(v)
	}
	if size > maxHeaderBytes {
		return fmt.Errorf("%w: headers of %d bytes, at most %d are allowed", ErrOption, size, maxHeaderBytes)
	}
	return nil
}
