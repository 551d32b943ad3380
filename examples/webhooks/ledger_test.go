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
		const limit = 6
		l, owed, refused := newLedger(limit), map[uint64]bool{}, 0
		draw := func(t *rapid.T) herald.Meta {
			return herald.Meta{Key: "crm", Seq: rapid.Uint64Range(1, 8).Draw(t, "seq")}
		}
		died := func(t *rapid.T, m herald.Meta, isOwed bool) bool {
			delete(owed, m.Seq)
			room := len(owed)+refused < limit
			if got := l.died(m, isOwed); got != room {
				t.Fatalf("kept: %v, want %v", got, room)
			}
			return room
		}
		t.Repeat(map[string]func(*rapid.T){
			"delivered": func(t *rapid.T) {
				m := draw(t)
				l.delivered(m)
				delete(owed, m.Seq)
			},
			"owed": func(t *rapid.T) {
				m := draw(t)
				if died(t, m, true) {
					owed[m.Seq] = true
				}
			},
			"refused": func(t *rapid.T) {
				if died(t, draw(t), false) {
					refused++
				}
			},
			"": func(t *rapid.T) {
				if b := l.of("crm"); b.owed != len(owed) || b.refused != refused || l.owed()["crm"] != len(owed) {
					t.Fatalf("%+v, want %d owed, %d refused", b, len(owed), refused)
				}
				for s := uint64(1); s <= 9; s++ {
					first, ok := l.owedBefore(herald.Meta{Key: "crm", Seq: s})
					want := len(owed) > 0 && least(owed) < s
					if ok != want || ok && first.Seq != least(owed) {
						t.Fatalf("before %d: %d, %v, want %d, %v", s, first.Seq, ok, least(owed), want)
					}
					if _, ok := l.owedBefore(herald.Meta{Key: "audit", Seq: s}); ok {
						t.Fatal("another receiver is owed something")
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
