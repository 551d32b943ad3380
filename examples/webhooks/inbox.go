package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// An inbox is a receiver that does what a receiver should: it checks the signature, takes each event once however often
// it's sent, and watches that they come in order.
type inbox struct {
	secret Secret

	mu       sync.Mutex
	sequence map[string]uint64 // of what was taken, by ID
	last     uint64
	late     []string // IDs of what was sent again, though it had been taken
	twice    []string // IDs of what was published again
	faults   []string // what should not have happened
}

func newInbox(secret Secret) *inbox {
	return &inbox{secret: secret, sequence: map[string]uint64{}}
}

func (b *inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 2*lineLimit))
	if err != nil {
		return // who sent it has gone
	}
	if err := b.secret.verify(r.Header, body); err != nil {
		b.fault("%v", err)
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	var c content
	if err := json.Unmarshal(body, &c); err != nil {
		b.fault("%v", err)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	b.take(r.Header.Get(headerID), c.Sequence)
	w.WriteHeader(http.StatusNoContent)
}

func (b *inbox) take(id string, sequence uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known, ok := b.sequence[id]; ok && known == sequence {
		b.late = append(b.late, id)
		return
	} else if ok {
		b.twice = append(b.twice, id)
		return
	}
	if sequence <= b.last {
		b.faults = append(b.faults, fmt.Sprintf("%s, number %d, came after number %d", id, sequence, b.last))
	}
	b.sequence[id], b.last = sequence, max(b.last, sequence)
}

func (b *inbox) fault(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = append(b.faults, fmt.Sprintf(format, args...))
}

// A testimony is what an inbox has seen.
type testimony struct {
	taken               int
	late, twice, faults []string
}

func (b *inbox) testify() testimony {
	b.mu.Lock()
	defer b.mu.Unlock()
	return testimony{taken: len(b.sequence), late: b.late, twice: b.twice, faults: b.faults}
}
