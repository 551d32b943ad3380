package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/heraldbus/herald/store"
)

// A topic is what a Memory holds of one: plain data.
type topic struct {
	name     string
	open     *memoryLog // nil: nobody has it
	settings store.Settings

	first   uint64         // offset of records[0], or the next one
	records []store.Record // nobody else's
	bytes   int64          // of records
	newest  time.Time
	known   []known           // IDs of the last Dedupe records, oldest first
	ids     map[string]uint64 // the same by ID

	cursors map[string]store.Cursor
	letters []store.DeadLetter
	number  uint64         // of the last letter ever
	delayed []store.Record // by Due, equal ones as they came
}

type known struct {
	id     string
	offset uint64
}

func newTopic(name string) *topic {
	return &topic{name: name, first: 1, ids: map[string]uint64{}, cursors: map[string]store.Cursor{}}
}

func (t *topic) bounds() store.Bounds {
	return store.Bounds{First: t.first, Next: t.first + uint64(len(t.records))}
}

// append appends r unless its ID is known, and returns the offset of the one in the log,
// and the time of r.
func (t *topic) append(r store.Record) (offset uint64, at time.Time, isNew bool) {
	if o, ok := t.ids[r.ID]; ok && r.ID != "" {
		return o, r.Time, false
	}
	offset, at = t.add(r)
	t.remember(r.ID, offset)
	return offset, at, true
}

// add appends r whatever its ID is.
func (t *topic) add(r store.Record) (uint64, time.Time) {
	if r.Time.Before(t.newest) {
		r.Time = t.newest
	}
	t.newest = r.Time
	r.Offset = t.bounds().Next
	t.records = append(t.records, r.Clone())
	t.bytes += r.Size()
	return r.Offset, r.Time
}

func (t *topic) remember(id string, offset uint64) {
	if id != "" && t.settings.Dedupe > 0 {
		t.known = append(t.known, known{id, offset})
		t.ids[id] = offset
	}
	t.forgetIDs(offset)
}

// forgetIDs forgets those of records that aren't among the last Dedupe ones up to offset.
func (t *topic) forgetIDs(offset uint64) {
	for len(t.known) > 0 && t.known[0].offset+uint64(t.settings.Dedupe) <= offset {
		delete(t.ids, t.known[0].id)
		t.known = t.known[1:]
	}
}

// trim applies the retention.
func (t *topic) trim() {
	for len(t.records) > 0 && t.superfluous(&t.records[0]) {
		t.bytes -= t.records[0].Size()
		t.records[0] = store.Record{}
		t.records = t.records[1:]
		t.first++
	}
}

func (t *topic) superfluous(r *store.Record) bool {
	k := t.settings.Retention
	return k.Count > 0 && len(t.records) > k.Count ||
		k.Bytes > 0 && t.bytes > k.Bytes ||
		k.Age > 0 && r.Time.Before(t.newest.Add(-k.Age)) ||
		k.Consumed && t.consumed(r.Offset)
}

func (t *topic) consumed(offset uint64) bool {
	for _, c := range t.cursors {
		if c.Committed < offset {
			return false
		}
	}
	return len(t.cursors) > 0
}

func (t *topic) read(from uint64, limit int) ([]store.Record, error) {
	b := t.bounds()
	if from < b.First {
		return nil, &store.TrimmedError{Topic: t.name, From: from, First: b.First}
	}
	if from > b.Next || limit < 1 {
		return nil, fmt.Errorf("%w: read %d at %d", store.ErrInvalid, limit, from)
	}
	rest := t.records[from-b.First:]
	out := slices.Clone(rest[:min(limit, len(rest))])
	for i := range out {
		out[i] = out[i].Clone()
	}
	return out, nil
}

func (t *topic) at(at time.Time) uint64 {
	i := sort.Search(len(t.records), func(i int) bool { return !t.records[i].Time.Before(at) })
	return t.first + uint64(i)
}

func (t *topic) commit(sub string, c store.Commit) error {
	if err := c.Check(t.cursors[sub], t.bounds()); err != nil {
		return err
	}
	t.cursors[sub] = c.Cursor.Clone()
	for _, d := range c.Dead {
		d = d.Clone()
		t.number++
		d.Number, d.Subscription = t.number, sub
		t.letters = append(t.letters, d)
	}
	t.trim()
	return nil
}

func (t *topic) lettersAfter(after uint64, limit int) []store.DeadLetter {
	var out []store.DeadLetter
	for _, d := range t.letters {
		if d.Number > after && len(out) < limit {
			out = append(out, d.Clone())
		}
	}
	return out
}

func (t *topic) replay(now time.Time, numbers []uint64) (uint64, error) {
	numbers = slices.Sorted(slices.Values(numbers))
	for _, n := range numbers {
		if _, ok := t.letter(n); !ok {
			return 0, fmt.Errorf("%w: dead letter %d", store.ErrNotFound, n)
		}
	}
	first := t.bounds().Next
	for _, n := range numbers {
		i, _ := t.letter(n)
		offset, _ := t.add(t.letters[i].Again(now))
		t.forgetIDs(offset)
	}
	t.purge(numbers)
	t.trim()
	return first, nil
}

func (t *topic) purge(numbers []uint64) {
	t.letters = slices.DeleteFunc(t.letters, func(d store.DeadLetter) bool { return slices.Contains(numbers, d.Number) })
}

func (t *topic) letter(number uint64) (int, bool) {
	return slices.BinarySearchFunc(t.letters, number, func(d store.DeadLetter, n uint64) int { return cmp.Compare(d.Number, n) })
}

func (t *topic) delay(records []store.Record) {
	for _, r := range records {
		i := sort.Search(len(t.delayed), func(i int) bool { return t.delayed[i].Due.After(r.Due) })
		t.delayed = slices.Insert(t.delayed, i, r.Clone())
	}
}

func (t *topic) release(now time.Time) store.Released {
	count := 0
	for len(t.delayed) > 0 && !t.delayed[0].Due.After(now) {
		r := t.delayed[0]
		r.Time = now
		if _, _, isNew := t.append(r); isNew {
			count++
		}
		t.delayed = t.delayed[1:]
	}
	t.trim()
	if len(t.delayed) == 0 {
		return store.Released{Count: count}
	}
	return store.Released{Count: count, Next: t.delayed[0].Due}
}
