package main

import "github.com/heraldbus/herald"

// A journal is what one subscription's handler did, in order. It needs no
// lock: the handler's calls don't overlap, and it's read by who has waited for
// the subscription to be idle.
type journal struct {
	entries []entry
}

type entry struct {
	herald.Message[Order]
	what string
}

func (j *journal) note(m herald.Message[Order], what string) {
	j.entries = append(j.entries, entry{m, what})
}

// take returns the entries since the last take.
func (j *journal) take() []entry {
	es := j.entries
	j.entries = nil
	return es
}
