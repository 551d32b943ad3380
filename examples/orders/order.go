package main

import "fmt"

// An Order is the event that everything here is about. It's published by
// value, so no subscription can change what another one sees.
type Order struct {
	ID       int
	Customer string
	Item     string
	Total    Money
	Card     Card
	Express  bool
}

// A Card is what a customer pays with.
type Card string

// Money is an amount in cents.
type Money int64

// Unit is one unit of the shop's currency.
const Unit Money = 100

func (m Money) String() string { return fmt.Sprintf("%d.%02d", m/Unit, m%Unit) }

// The two cards that make trouble today; see newProvider.
const (
	oldCard   Card = "ben's old card"
	emptyCard Card = "finn's empty card"
)

func todaysOrders() []Order {
	return []Order{
		{ID: 1, Customer: "ada", Item: "keyboard", Total: 89 * Unit, Card: "ada's card"},
		{ID: 2, Customer: "ben", Item: "radio", Total: 45*Unit + 50, Card: oldCard},
		{ID: 3, Customer: "cleo", Item: "server", Total: 2400 * Unit, Card: "cleo's card"},
		{ID: 4, Customer: "dan", Item: "desk lamp", Total: 39*Unit + 90, Card: "dan's card", Express: true},
		{ID: 5, Customer: "eve", Item: "telescope", Total: 1250 * Unit, Card: "eve's card"},
		{ID: 6, Customer: "finn", Item: "coffee", Total: 18 * Unit, Card: emptyCard},
		{ID: 7, Customer: "gina", Item: "camera", Total: 310 * Unit, Card: "gina's card", Express: true},
		{ID: 8, Customer: "hugo", Item: "pen", Total: 75 * Unit, Card: "hugo's card"},
	}
}
