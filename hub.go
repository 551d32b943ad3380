package herald

import (
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/heraldbus/herald/internal/seam"
)

// A hub is the inside of a topic.
type hub[T any] struct {
	cfg    topicConfig
	origin *origin
	keeper seam.Keeper               // set before first use, or zero
	log    *retainedLog[T]           // nil: the topic retains nothing
	roster atomic.Pointer[roster[T]] // never nil
	_      [64]byte                  // what is above is read, what is below written at each publish
	seq    atomic.Uint64
	_      [56]byte

	mu    sync.Mutex // protects names and every change of roster; before any core's mutex
	names map[string]bool
}

// A roster is who gets what is published: immutable, replaced as a whole, so
// that a publish fans out over one of them without a lock.
type roster[T any] struct {
	subs    []*Subscription[T]
	cursors []*Subscription[T] // they read from the log
	foreign []receiver         // attached ones, of an interface type that T implements
	closing []*core            // closed with the topic and not quiet yet
	closed  bool
}

// cores returns the topic's own subscriptions, open or closing.
func (r *roster[T]) cores() []*core {
	if r.closed {
		return r.closing
	}
	cores := make([]*core, 0, r.len())
	for _, s := range r.subs {
		cores = append(cores, &s.core)
	}
	for _, s := range r.cursors {
		cores = append(cores, &s.core)
	}
	for _, f := range r.foreign {
		cores = append(cores, f.base())
	}
	return cores
}

func (r *roster[T]) len() int { return len(r.subs) + len(r.cursors) + len(r.foreign) }

func newHub[T any](name string, cfg topicConfig) *hub[T] {
	h := &hub[T]{cfg: cfg, origin: newOrigin(name, cfg), names: map[string]bool{}}
	if cfg.retain != nil {
		h.log = newRetainedLog[T](*cfg.retain)
	}
	h.roster.Store(&roster[T]{})
	return h
}

// Describe, Add and Remove make a hub the source of the topic's own views.

func (h *hub[T]) Describe() (string, *slog.Logger) { return h.origin.topic, h.cfg.log }

func (h *hub[T]) Add(sub any, name string) error {
	if h.keeper.Claim != nil {
		if err := h.keeper.Claim(name, sub); err != nil {
			return err
		}
	}
	r := sub.(receiver)
	err := h.start(r)
	if err == nil {
		err = h.attach(r)
	}
	if err != nil && h.keeper.Release != nil {
		h.keeper.Release(name)
	}
	return err
}

func (h *hub[T]) Remove(sub any) {
	s := sub.(receiver)
	if h.remove(s) && h.keeper.Release != nil {
		h.keeper.Release(s.base().name)
	}
}

// attach adds subscriptions of this topic, or of another source: all of
// them, or none.
func (h *hub[T]) attach(rs ...receiver) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	next := *h.roster.Load()
	next.subs, next.cursors, next.foreign = slices.Clip(next.subs), slices.Clip(next.cursors), slices.Clip(next.foreign)
	for i, r := range rs {
		if err := h.admits(&next, r.base().name); err != nil {
			for _, r := range rs[:i] {
				delete(h.names, r.base().name)
			}
			return err
		}
		h.names[r.base().name] = true
		switch s, ok := r.(*Subscription[T]); {
		case !ok:
			next.foreign = append(next.foreign, r)
		case s.core.src != nil:
			next.cursors = append(next.cursors, s)
		default:
			next.subs = append(next.subs, s)
		}
	}
	h.roster.Store(&next)
	return nil
}

// admits says why r has no room for one more subscription, of that name. mu
// is held.
func (h *hub[T]) admits(r *roster[T], name string) error {
	switch {
	case r.closed:
		return ErrClosed
	case h.names[name]:
		return ErrDuplicate
	case r.len() >= h.cfg.subscriptions:
		return fmt.Errorf("%w: %d subscriptions", ErrLimit, r.len())
	}
	return nil
}

// remove ends the offers to r. It reports whether there were any.
func (h *hub[T]) remove(r receiver) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	next := *h.roster.Load()
	var open bool
	switch s, ok := r.(*Subscription[T]); {
	case !ok:
		next.foreign, open = without(next.foreign, r)
	case s.core.src != nil:
		next.cursors, open = without(next.cursors, s)
	default:
		next.subs, open = without(next.subs, s)
	}
	if !open {
		return false
	}
	delete(h.names, r.base().name)
	h.roster.Store(&next)
	return true
}

// forget lets go of a subscription that was closed with the topic, and is
// quiet now.
func (h *hub[T]) forget(c *core) {
	h.mu.Lock()
	defer h.mu.Unlock()
	next := *h.roster.Load()
	next.closing, _ = without(next.closing, c)
	h.roster.Store(&next)
}

// without returns a copy of list that lacks x, and whether x was there.
func without[E comparable](list []E, x E) ([]E, bool) {
	i := slices.Index(list, x)
	if i < 0 {
		return list, false
	}
	return slices.Concat(list[:i:i], list[i+1:]), true
}

// close closes the topic and the subscriptions that are its own. Attached
// ones just hear no more from it.
func (h *hub[T]) close() {
	h.mu.Lock()
	r := h.roster.Load()
	if r.closed {
		h.mu.Unlock()
		return
	}
	var own []*Subscription[T]
	var closing []*core
	for _, s := range slices.Concat(r.subs, r.cursors) {
		if s.view.source == seam.Source(h) {
			own = append(own, s)
			closing = append(closing, &s.core)
		}
	}
	h.names = nil
	h.roster.Store(&roster[T]{closing: closing, closed: true})
	h.mu.Unlock()
	if h.log != nil {
		h.log.close()
	}
	for _, s := range own {
		s.close()
		if s.core.isOver() { // and perhaps was before it became one of closing
			h.forget(&s.core)
		}
		if h.keeper.Release != nil {
			h.keeper.Release(s.core.name)
		}
	}
}
