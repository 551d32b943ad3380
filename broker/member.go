package broker

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"reflect"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/internal/seam"
)

// A member is a subscription of the broker. There are three kinds: made by
// Match or Handle, with a pattern; made of one of the broker's topics, which
// its keeper reports; and made elsewhere, known by Attach only.
//
// A member is open while it has its name. Then it's forgotten, except where
// the broker owes it more: where the broker handles it, or where it was the
// broker's Close that closed it. Then it stays until it's quiet.
type member struct {
	sub     subscription
	name    string
	number  uint64
	pattern string       // "" where it has none
	elem    reflect.Type // of a pattern: what the values must be, or implement
	foreign bool         // made elsewhere: nobody tells when it closes

	// Protected by the broker's mutex:
	handler *handler // nil: not the broker's business
	awaited bool     // was open at the broker's Close
}

// A subscription is a *herald.Subscription of any T.
type subscription interface {
	Name() string
	Stats() herald.SubStats
	WaitIdle(ctx context.Context) error
	Close() error
}

// A handler is how the broker consumes a member.
type handler struct {
	run  func(ctx context.Context) error
	step func(ctx context.Context) (ok bool, err error)
}

// Unsubscribe closes the subscription of that name, as
// [herald.Subscription.Close] does. When it has returned the name is free. What the
// subscription holds is still delivered, by the broker if it's one that the
// broker handles. If there's none the error is [ErrNotFound].
func (b *Broker) Unsubscribe(name string) error {
	m := b.named(name)
	if m == nil {
		return fail("unsubscribe", "", name, ErrNotFound)
	}
	return b.close(m)
}

// Subscriptions yields the statistics of the broker's subscriptions, in
// order of their making: those by pattern, those of its topics, those attached
// to it. One that is closed is among them as long as it holds messages that the
// broker has to handle, or that a Drain waits for.
func (b *Broker) Subscriptions() iter.Seq[herald.SubStats] {
	return func(yield func(herald.SubStats) bool) {
		b.tidy()
		for _, m := range b.listMembers() {
			if s := m.sub.Stats(); !isOver(s) && !yield(s) {
				return
			}
		}
	}
}

func (m *member) order(o *member) int { return cmp.Compare(m.number, o.number) }

// takes reports whether the values of t are what m wants. It's decided when
// topic and pattern meet, not for each message.
func (m *member) takes(t *topic) bool {
	return t.elem == m.elem || m.elem.Kind() == reflect.Interface && t.elem.Implements(m.elem)
}

// isOver reports whether nothing more will happen in a subscription.
func isOver(s herald.SubStats) bool { return s.Closed && isQuiet(s) }

func isQuiet(s herald.SubStats) bool { return s.Queued+s.Delayed+s.InFlight == 0 }

func (b *Broker) named(name string) *member {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.names[name]
}

// close closes m's subscription.
func (b *Broker) close(m *member) error {
	err := m.sub.Close()
	if m.foreign || isOver(m.sub.Stats()) {
		b.leave(m)
	}
	return err
}

// claim makes a subscription of one of the broker's topics a member.
func (b *Broker) claim(name string, sub any) error {
	b.tidyFor(name)
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.admitsLocked(name); err != nil {
		return err
	}
	m := &member{sub: sub.(subscription), name: name}
	b.joinLocked(m)
	b.names[name] = m
	return nil
}

// release says that the subscription of that name, one of the broker's
// topics, has closed. Nothing else frees the name of such a one: so it's that
// one's still.
func (b *Broker) release(name string) {
	if m := b.named(name); m != nil {
		b.leave(m)
	}
}

// admitsLocked says why there can be no new member of that name.
func (b *Broker) admitsLocked(name string) error {
	switch {
	case b.closed.Load():
		return herald.ErrClosed
	case b.names[name] != nil:
		return fmt.Errorf("%w in the broker", herald.ErrDuplicate)
	}
	return nil
}

// joinLocked makes m a member; its name is the caller's business.
func (b *Broker) joinLocked(m *member) {
	if b.members == nil {
		b.members, b.names = map[subscription]*member{}, map[string]*member{}
	}
	m.number = b.nextNumberLocked()
	b.members[m.sub] = m
	b.listed = nil
	if m.handler != nil {
		b.hireLocked(m)
	}
}

// leave takes its name, and its topics if it has a pattern, from a member
// that closes. It's forgotten unless the broker owes it more. Idempotent.
func (b *Broker) leave(m *member) {
	stats := m.sub.Stats()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.unnameLocked(m)
	// A pattern's member comes here before it's closed, one of a topic that
	// the broker closes after it.
	awaited := m.awaited && (m.pattern != "" || stats.Closed)
	if isOver(stats) || m.handler == nil && !awaited {
		b.forgetLocked(m)
	}
}

func (b *Broker) unnameLocked(m *member) {
	if b.names[m.name] != m {
		return
	}
	delete(b.names, m.name)
	if m.pattern == "" {
		return
	}
	b.patterns.Remove(m.pattern, m)
	for _, t := range b.withinLocked(m.pattern) {
		seam.Detach(t.typed, m.sub)
	}
}

// forget ends m's membership.
func (b *Broker) forget(m *member) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forgetLocked(m)
}

func (b *Broker) forgetLocked(m *member) {
	if b.members[m.sub] != m {
		return
	}
	if m.foreign || m.pattern != "" {
		b.unnameLocked(m)
	}
	delete(b.members, m.sub)
	b.listed = nil
}
