package broker

import (
	"maps"
	"slices"
)

// listMembers returns all members in order of their making. The list must
// not be written.
func (b *Broker) listMembers() []*member {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.listed == nil {
		b.listed = slices.SortedFunc(maps.Values(b.members), (*member).order)
	}
	return b.listed
}

// tidy forgets the members that are over. Most are forgotten when they get
// there; it's for those whose end nobody tells.
func (b *Broker) tidy() {
	for _, m := range b.closing() {
		if isOver(m.sub.Stats()) {
			b.forget(m)
		}
	}
}

// closing returns the members that may be over.
func (b *Broker) closing() []*member {
	b.mu.Lock()
	defer b.mu.Unlock()
	var ms []*member
	for _, m := range b.members {
		if m.foreign || b.names[m.name] != m {
			ms = append(ms, m)
		}
	}
	return ms
}

// tidyFor is tidy before a new member of that name, as often as keeps it
// cheap, and where the name may be that of an attached one which is over.
func (b *Broker) tidyFor(name string) {
	b.mu.Lock()
	m := b.names[name]
	due := len(b.members) > b.tidyAt || m != nil && m.foreign
	b.mu.Unlock()
	if !due {
		return
	}
	b.tidy()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tidyAt = 2*len(b.members) + 16
}
