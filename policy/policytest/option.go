package policytest

import "time"

// An Option says what a policy does on purpose that would be a fault otherwise. The zero Option says nothing.
type Option struct {
	apply func(*claims)
}

// Randomised says that answers are drawn at random. For a Retry that means its delays: whether it goes on may not be a
// matter of chance, or attempts would not be bounded. For an Overflow it means the whole Action.
func Randomised() Option {
	return Option{func(c *claims) { c.randomised = true }}
}

// Unbounded says that a Retry never gives up, save on some errors; then it is a fault if it always does. Of an Overflow it
// says that it may go on answering Block, so that only the publisher's context ends the wait.
func Unbounded() Option {
	return Option{func(c *claims) { c.unbounded = true }}
}

// within bounds how long one pass over all the questions may take, so that the kit's own tests need not wait long for a
// stuck policy.
func within(d time.Duration) Option {
	return Option{func(c *claims) { c.patience = d }}
}

// claims is what the options said.
type claims struct {
	randomised bool
	unbounded  bool
	patience   time.Duration
}

// claimsOf collects opts over the defaults.
func claimsOf(opts []Option) claims {
	c := claims{patience: 10 * time.Second}
	for _, o := range opts {
		if o.apply != nil {
			o.apply(&c)
		}
	}
	return c
}
