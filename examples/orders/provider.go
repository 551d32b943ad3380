package main

import "errors"

// Why a provider does not charge a card.
var (
	errProviderDown = errors.New("provider is down")
	errCardExpired  = errors.New("card expired")
	errNoFunds      = errors.New("insufficient funds")
)

// A provider stands in for the company that charges cards. It needs no lock:
// only billing's handler calls it, of which there's one at a time, and the
// shop changes it while billing is idle.
type provider struct {
	failures int // calls that will fail before it's up again
	refused  map[Card]error
}

func newProvider() *provider {
	return &provider{
		failures: 2,
		refused:  map[Card]error{oldCard: errCardExpired, emptyCard: errNoFunds},
	}
}

func (p *provider) charge(c Card, _ Money) error {
	if p.failures > 0 {
		p.failures--
		return errProviderDown
	}
	return p.refused[c]
}

// renew makes c a card like any other.
func (p *provider) renew(c Card) { delete(p.refused, c) }
