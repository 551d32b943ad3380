package main

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/heraldbus/herald"
)

// TestLedgerProperty compares what a ledger says is owed with a set of sequence numbers.
func TestLedgerProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, owed := newLedger(), map[uint64]bool{}
		seq := rapid.Uint64Range(1, 8)
		strike := func(end func(herald.Meta)) func(*rapid.T) {
			return func(t *rapid.T) {
				m := herald.Meta{Key: "crm", Seq: seq.Draw(t, "seq")}
				end(m)
				delete(owed, m.Seq)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"delivered": strike(l.delivered),
			"refused":   strike(l.refused),
			"lost":      strike(l.lost),
			"owes": func(t *rapid.T) {
				m := herald.Meta{Key: "crm", Seq: seq.Draw(t, "seq")}
				l.owes(m)
				owed[m.Seq] = true
			},
			"owes another": func(t *rapid.T) { l.owes(herald.Meta{Key: "audit", Seq: seq.Draw(t, "seq")}) },
			"": func(t *rapid.T) {
				if got := l.of("crm").owed; got != len(owed) {
					t.Fatalf("%d owed, want %d", got, len(owed))
				}
				for s := uint64(1); s <= 9; s++ {
					first, ok := l.owedBefore(herald.Meta{Key: "crm", Seq: s})
					want, before := least(owed), len(owed) > 0 && least(owed) < s
					if ok != before || ok && first.Seq != want {
						t.Fatalf("before %d: %d, %v, want %d, %v", s, first.Seq, ok, want, before)
					}
				}
			},
		})
	})
}

func least(set map[uint64]bool) uint64 {
	var all []uint64
	for s := range set {
		all = append(all, s)
	}
	if len(all) == 0 {
		return 0
	}
	return slices.Min(all)
}
