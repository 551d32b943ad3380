package main

import (
	"cmp"
	"slices"
	"sync"

	"github.com/heraldbus/herald"
)

// A ledger says of every receiver what became of its events.
type ledger struct {
	limit int // of letters

	mu       sync.Mutex
	accounts map[string]*account // by receiver
	letters  int                 // owed or refused
}

// An account is one receiver's. An event that was accepted and met none of the other ends is queued or under way.
type account struct {
	accepted  int
	delivered int
	refused   int           // by the receiver
	lost      int           // no room for its dead letter
	owed      []herald.Meta // dead, or replayed and not there yet; in order
}

// A balance is an account, or the sum of several, in numbers.
type balance struct{ accepted, delivered, refused, owed, left, lost int }

func newLedger(letterLimit int) *ledger {
	return &ledger{limit: letterLimit, accounts: map[string]*account{}}
}

func (l *ledger) accepted(receiver string) {
	l.change(receiver, func(a *account) { a.accepted++ })
}

func (l *ledger) delivered(m herald.Meta) {
	l.change(m.Key, func(a *account) {
		l.letters -= a.strike(m)
		a.delivered++
	})
}

// died notes that m is owed, or that it was refused. It returns false if there are too many letters: m is lost then, and
// holds up nothing.
func (l *ledger) died(m herald.Meta, owed bool) (kept bool) {
	l.change(m.Key, func(a *account) {
		l.letters -= a.strike(m) // a replay that failed was owed already
		switch kept = l.letters < l.limit; {
		case !kept:
			a.lost++
			return
		case owed:
			i, _ := a.find(m)
			a.owed = slices.Insert(a.owed, i, m)
		default:
			a.refused++
		}
		l.letters++
	})
	return kept
}

// owedBefore returns the first event that m's receiver is owed, if that is one before m.
func (l *ledger) owedBefore(m herald.Meta) (first herald.Meta, ok bool) {
	l.change(m.Key, func(a *account) {
		if len(a.owed) > 0 && a.owed[0].Seq < m.Seq {
			first, ok = a.owed[0], true
		}
	})
	return first, ok
}

// of returns one receiver's balance.
func (l *ledger) of(receiver string) (b balance) {
	l.change(receiver, func(a *account) { b = a.balance() })
	return b
}

// owed returns the receivers that are owed something, and how much.
func (l *ledger) owed() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	owed := map[string]int{}
	for to, a := range l.accounts {
		if len(a.owed) > 0 {
			owed[to] = len(a.owed)
		}
	}
	return owed
}

// sum returns the balance of all.
func (l *ledger) sum() (b balance) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.accounts {
		b = b.plus(a.balance())
	}
	return b
}

// change calls f with the receiver's account, under the lock: f is one of this file's, and waits for nothing.
func (l *ledger) change(receiver string, f func(*account)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a, ok := l.accounts[receiver]
	if !ok {
		a = new(account)
		l.accounts[receiver] = a
	}
	f(a)
}

// find returns where m is among what is owed, or would be.
func (a *account) find(m herald.Meta) (int, bool) {
	return slices.BinarySearchFunc(a.owed, m.Seq, func(o herald.Meta, seq uint64) int { return cmp.Compare(o.Seq, seq) })
}

// strike removes m from what is owed, and returns how many that were: 1, or 0 if it wasn't there.
func (a *account) strike(m herald.Meta) int {
	i, found := a.find(m)
	if !found {
		return 0
	}
	a.owed = slices.Delete(a.owed, i, i+1)
	return 1
}

func (a *account) balance() balance {
	b := balance{accepted: a.accepted, delivered: a.delivered, refused: a.refused, owed: len(a.owed), lost: a.lost}
	b.left = b.accepted - b.delivered - b.refused - b.owed - b.lost
	return b
}

func (b balance) plus(o balance) balance {
	return balance{
		accepted:  b.accepted + o.accepted,
		delivered: b.delivered + o.delivered,
		refused:   b.refused + o.refused,
		owed:      b.owed + o.owed,
		left:      b.left + o.left,
		lost:      b.lost + o.lost,
	}
}

// settled reports whether every event reached its receiver, or was refused by it.
func (b balance) settled() bool { return b.accepted == b.delivered+b.refused }
