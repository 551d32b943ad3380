// Package storetest checks stores: [Run] holds one to what package store
// promises. [Memory] is a store that passes.
package storetest

import (
	"testing"

	"github.com/heraldbus/herald/store"
)

// An Opener opens the same store again and again, like a program that is started anew:
// what was there when it was closed is there again.
type Opener func() (store.Store, error)

// Run checks a store. fresh returns an Opener over nothing yet; it's called
// once a test. What the store's Capabilities lack isn't checked.
func Run(t *testing.T, fresh func(t *testing.T) Opener) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			k := &kit{T: t, open: fresh(t)}
			k.reopen()
			t.Cleanup(k.close)
			if !c.needs(k.store.Capabilities()) {
				t.Skip("the store can't, by its capabilities")
			}
			c.run(k)
		})
	}
}

var cases = []struct {
	name  string
	needs func(store.Capabilities) bool
	run   func(*kit)
}{
	{"append and read", always, appendAndRead},
	{"append copies", always, appendCopies},
	{"refuses nonsense", always, refusesNonsense},
	{"time never goes back", always, timeNeverGoesBack},
	{"at", always, atFindsTheFirst},
	{"concurrent", always, concurrentAppends},
	{"restart", always, restart},
	{"open once", always, openOnce},
	{"closed", always, closedIsClosed},
	{"context", always, endedContext},
	{"topics are apart", always, topicsAreApart},
	{"commit", always, commit},
	{"commit refused", always, commitRefused},
	{"dead letters", canBury, deadLetters},
	{"replay", canBury, replay},
	{"delay", canDelay, delay},
	{"dedupe", canDedupe, dedupe},
	{"retention by count", canTrim, retentionByCount},
	{"retention by bytes", canTrim, retentionByBytes},
	{"retention by age", canTrim, retentionByAge},
	{"retention of the consumed", canTrim, retentionOfTheConsumed},
	{"model", canAll, model},
}

func always(store.Capabilities) bool      { return true }
func canBury(c store.Capabilities) bool   { return c.Dead }
func canDelay(c store.Capabilities) bool  { return c.Delay }
func canDedupe(c store.Capabilities) bool { return c.Dedupe }
func canTrim(c store.Capabilities) bool   { return c.Retention }
func canAll(c store.Capabilities) bool    { return c.Dead && c.Delay && c.Dedupe }
