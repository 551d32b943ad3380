package heraldslog

import (
	"context"
	"reflect"
	"time"

	"github.com/heraldbus/herald"
)

// A callerContext is what a record is published with: the values of the
// caller's context (by which herald knows in whose handler it happens), but an
// end of its own, when the handler is closed. It's part of an entry, so that it
// costs nothing.
type callerContext struct {
	caller context.Context
	gate   *gate
}

func (c *callerContext) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }
func (c *callerContext) Done() <-chan struct{}                   { return c.gate.closing }

// Err is what herald will say of a publish that Close cut short.
func (c *callerContext) Err() error {
	if c.gate.isShut() {
		return herald.ErrClosed
	}
	return nil
}

// Value never finds the caller's cancellation, which package context keeps
// among the values.
func (c *callerContext) Value(key any) any { return context.WithoutCancel(c.caller).Value(key) }

// An appenderContext is what an appender's handler gets: the end of Run's
// context, the values of the record's, and where that has none, those of Run's.
// (A topic's WithPublisherValues asks them in the other order: then a trace
// begun by the caller of Run would claim every record.)
type appenderContext struct {
	context.Context        // Run's
	entry           *entry // nil: a line about losses
	appender        *appender
}

type appenderKey struct{}

func (c *appenderContext) Value(key any) any {
	if key == (appenderKey{}) {
		return c
	}
	if c.entry != nil && !isHeralds(key) {
		if v := c.entry.publish.Value(key); v != nil {
			return v
		}
	}
	return c.Context.Value(key)
}

// isHeralds reports whether key is one of package herald's own: these say who
// is waiting here, which is the appender, whoever logged the record.
func isHeralds(key any) bool {
	t := reflect.TypeOf(key)
	return t != nil && t.PkgPath() == heraldPath
}

var heraldPath = reflect.TypeFor[herald.Meta]().PkgPath()
