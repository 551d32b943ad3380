package main

import (
	"context"
	"errors"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// billing charges every order to its customer's card.
type billing struct {
	sub      *herald.Subscription[Order]
	provider *provider
	journal  journal
}

// charge makes one attempt. It returns the error, and leaves it to the
// subscription's retry policy whether there will be another; only where
// another can't help it says so itself.
func (b *billing) charge(_ context.Context, m herald.Message[Order]) error {
	err := b.provider.charge(m.Payload.Card, m.Payload.Total)
	if err != nil {
		b.journal.note(m, err.Error())
	} else {
		b.journal.note(m, "charged")
	}
	if errors.Is(err, errCardExpired) {
		return policy.Permanent(err)
	}
	return err
}
