package heraldslog

import (
	"log/slog"
	"slices"
	"sync"
)

// A chain is a call of WithAttrs or WithGroup and, by way of parent, those
// before it. Each appender makes the same calls on its own handler, at the first
// record that needs it, and keeps the result: it may format attributes in advance.
// The results live as long as the loggers that have the chain do.
type chain struct {
	parent *chain
	group  string      // of WithGroup; empty: it's WithAttrs
	attrs  []slog.Attr // never changed

	mu   sync.Mutex // protects what follows; no user code is called under it
	made []derived
}

// A derived is what became of an appender's handler.
type derived struct {
	appender *appender
	handler  slog.Handler
}

// derive returns what a's handler has become by the calls of c, which may be nil.
// It's called by a's goroutine.
func (c *chain) derive(a *appender) slog.Handler {
	if c == nil {
		return a.handler
	}
	if h, ok := c.lookup(a); ok {
		return h
	}
	h := c.parent.derive(a)
	if c.group != "" {
		h = h.WithGroup(c.group)
	} else {
		h = h.WithAttrs(slices.Clone(c.attrs)) // the handler owns the slice
	}
	c.keep(a, h)
	return h
}

func (c *chain) lookup(a *appender) (slog.Handler, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range c.made {
		if d.appender == a {
			return d.handler, true
		}
	}
	return nil, false
}

// keep keeps h, once for each worker of a at most.
func (c *chain) keep(a *appender, h slog.Handler) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made = append(c.made, derived{a, h})
}
