package main

import "sync"

// A ledger has what was sent, in the order in which it was. Its zero value is
// ready to use.
type ledger struct {
	mu      sync.Mutex // protects all below
	entries []entry
	digests []digest
}

type entry struct {
	channel string
	Notification
}

type digest struct {
	user, text string
	news       int
}

func (l *ledger) sent(channel string, n Notification) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, entry{channel, n})
}

func (l *ledger) digested(user, text string, news int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.digests = append(l.digests, digest{user, text, news})
}

// by returns what a channel sent.
func (l *ledger) by(channel string) []Notification {
	l.mu.Lock()
	defer l.mu.Unlock()
	var ns []Notification
	for _, e := range l.entries {
		if e.channel == channel {
			ns = append(ns, e.Notification)
		}
	}
	return ns
}
