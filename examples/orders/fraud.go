package main

import (
	"context"

	"github.com/heraldbus/herald"
)

// fraud inspects large orders. Its subscription's filter knows which those
// are, so its handler needn't.
type fraud struct {
	sub     *herald.Subscription[Order]
	journal journal
}

func (f *fraud) inspect(_ context.Context, m herald.Message[Order]) error {
	f.journal.note(m, "inspected")
	return nil
}
