package main

import (
	"context"

	"github.com/heraldbus/herald"
)

// shipping packs every order's parcel.
type shipping struct {
	sub     *herald.Subscription[Order]
	journal journal
}

func (s *shipping) pack(_ context.Context, m herald.Message[Order]) error {
	s.journal.note(m, m.Payload.Item)
	return nil
}
