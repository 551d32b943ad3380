package main

import (
	"context"

	"github.com/heraldbus/herald"
)

// audit keeps the sum of all orders. The fields need no lock: handlers of a
// subscription don't overlap, unless one asks for more concurrency.
type audit struct {
	sub    *herald.Subscription[Order]
	orders int
	sum    Money
}

func (a *audit) record(_ context.Context, m herald.Message[Order]) error {
	a.orders++
	a.sum += m.Payload.Total
	return nil
}
