package storetest

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/heraldbus/herald/store"
)

// model makes random calls on the store and on a Memory; both answer the same.
func model(k *kit) {
	for seed := range uint64(8) {
		m := &match{kit: k, rand: rand.New(rand.NewPCG(seed, 0)), topic: fmt.Sprint("model ", seed)}
		for i := range 300 {
			if i%60 == 0 {
				m.restart()
			}
			m.step()
		}
		m.compare()
	}
}

// A match is a store and a Memory that get the same calls.
type match struct {
	*kit
	rand   *rand.Rand
	topic  string
	memory Memory
	mine   store.Store
	log    store.Log // under test
	want   store.Log // of memory
	clock  int
}

func (m *match) restart() {
	m.Helper()
	m.reopen()
	if m.mine != nil {
		m.must(m.mine.Close())
	}
	var err error
	m.mine, err = m.memory.Open()
	m.must(err)
	settings := store.Settings{Dedupe: 20}
	m.log, err = m.store.Open(m.Context(), m.topic, settings)
	m.must(err)
	m.want, err = m.mine.Open(m.Context(), m.topic, settings)
	m.must(err)
	m.compare()
}

func (m *match) step() {
	m.Helper()
	m.clock += m.rand.IntN(3) - 1 // it also goes back
	switch n := m.rand.IntN(100); {
	case n < 50:
		m.append()
	case n < 70:
		m.commit()
	case n < 75:
		m.both(func(l store.Log) error { return l.Forget(m.Context(), m.sub(n)) })
	case n < 82:
		numbers := m.numbers()
		m.both(func(l store.Log) error { _, err := l.Replay(m.Context(), second(m.clock), numbers...); return err })
	case n < 85:
		numbers := m.numbers()
		m.both(func(l store.Log) error { return l.Purge(m.Context(), numbers...) })
	case n < 92:
		r := record(m.clock)
		m.both(func(l store.Log) error { return l.Delay(m.Context(), []store.Record{r}) })
	default:
		m.equal("released", m.release(m.log, second(m.clock)), m.release(m.want, second(m.clock)))
	}
}

// both makes the same call on both and compares what comes of it.
func (m *match) both(call func(store.Log) error) {
	m.Helper()
	got, want := call(m.log), call(m.want)
	for _, target := range []error{nil, store.ErrInvalid, store.ErrNotFound} {
		if errors.Is(got, target) != errors.Is(want, target) {
			m.Fatalf("got %v, want %v", got, want)
		}
	}
	m.equal("bounds", m.log.Bounds(), m.want.Bounds())
}

func (m *match) append() {
	m.Helper()
	records := make([]store.Record, m.rand.IntN(5)) // none is refused
	for i := range records {
		records[i] = record(m.clock + i)
		records[i].ID = []string{"", fmt.Sprint(m.rand.IntN(60))}[m.rand.IntN(2)]
	}
	mirror := slices.Clone(records)
	m.both(func(l store.Log) error {
		if l == m.log {
			return l.Append(m.Context(), records)
		}
		return l.Append(m.Context(), mirror)
	})
	m.equal("appended", records, mirror)
}

func (m *match) sub(n int) string { return fmt.Sprint("sub ", n%3) }

// commit tries a commit, which may well be refused.
func (m *match) commit() {
	m.Helper()
	sub := m.sub(m.rand.IntN(3))
	old, _ := m.want.Cursor(m.Context(), sub)
	c := store.Commit{Seek: m.rand.IntN(10) == 0}
	c.Cursor.Committed = uint64(max(0, int(old.Committed)+m.rand.IntN(8)-1))
	ended := map[uint64]bool{}
	for range m.rand.IntN(4) {
		ended[c.Cursor.Committed+1+uint64(m.rand.IntN(6))] = true
	}
	c.Cursor.Ahead = slices.Sorted(maps.Keys(ended))
	if m.rand.IntN(2) == 0 {
		c.Cursor.Attempts = map[uint64]int{c.Cursor.Committed + 1: 1 + m.rand.IntN(9)}
	}
	for range m.rand.IntN(3) {
		c.Dead = append(c.Dead, letter(record(m.clock)))
	}
	m.both(func(l store.Log) error { return l.Commit(m.Context(), sub, c) })
}

// numbers are those of some letters, and sometimes of one that isn't there.
func (m *match) numbers() []uint64 {
	var out []uint64
	for _, d := range m.letters(m.want) {
		if m.rand.IntN(3) == 0 {
			out = append(out, d.Number)
		}
	}
	if m.rand.IntN(4) == 0 {
		out = append(out, 1<<40)
	}
	return out
}

// compare compares all there is.
func (m *match) compare() {
	m.Helper()
	m.equal("bounds", m.log.Bounds(), m.want.Bounds())
	m.equal("records", m.all(m.log), m.all(m.want))
	m.equal("letters", m.letters(m.log), m.letters(m.want))
	for n := range 3 {
		want, missing := m.want.Cursor(m.Context(), m.sub(n))
		got, err := m.log.Cursor(m.Context(), m.sub(n))
		if !errors.Is(err, missing) {
			m.Fatalf("cursor %d: %v, want %v", n, err, missing)
		}
		m.equal("cursor", got, want)
	}
	for n := range 8 {
		t := second(m.clock - n)
		got, err := m.log.At(m.Context(), t)
		m.must(err)
		want, err := m.want.At(m.Context(), t)
		m.must(err)
		m.equal("at", got, want)
	}
}
