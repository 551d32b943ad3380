package main

import (
	"context"
	"errors"
	"strconv"
	"sync"

	"github.com/heraldbus/herald"
)

// A journal notes every attempt, for the demonstration to show.
type journal struct {
	mu      sync.Mutex
	entries map[string][]entry // by receiver, in order
}

// An entry is what happened to one event.
type entry struct {
	id       string
	outcomes []string // one for each attempt
}

// middleware is the journal's place in the subscription. It needn't know what a webhook is: the message's key says who,
// and the error of the attempt says what.
func (j *journal) middleware(next herald.Next) herald.Next {
	return func(ctx context.Context, m herald.Meta) error {
		err := next(ctx, m)
		j.note(m, outcome(err))
		return err
	}
}

func (j *journal) note(m herald.Meta, outcome string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.entries == nil {
		j.entries = map[string][]entry{}
	}
	es := j.entries[m.Key]
	if m.Attempt == 1 || len(es) == 0 {
		es = append(es, entry{id: m.ID()})
	}
	last := &es[len(es)-1] // events of one receiver don't mix
	last.outcomes = append(last.outcomes, outcome)
	j.entries[m.Key] = es
}

// take returns the entries since the last take.
func (j *journal) take() map[string][]entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	es := j.entries
	j.entries = nil
	return es
}

// outcome is an attempt in a word or two.
func outcome(err error) string {
	if err == nil {
		return "ok"
	}
	if code, ok := errors.AsType[statusError](err); ok {
		return strconv.Itoa(int(code))
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "timeout"
	}
	if held, ok := errors.AsType[*heldError](err); ok {
		return held.Error()
	}
	return "no answer"
}
