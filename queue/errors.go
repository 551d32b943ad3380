package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/heraldbus/herald/policy"
)

var (
	// ErrClosed is reported by pushes from Close on, and by pops once a closed
	// queue is empty.
	ErrClosed = errors.New("queue: closed")

	// ErrFull is reported by [Queue.TryPush] when there is no room.
	ErrFull = errors.New("queue: full")
)

// An ArgumentError says which argument of a call makes no sense. The call
// changed nothing.
type ArgumentError struct {
	Name  string // "ctx" or "priority"
	Value any    // what was passed: nil, or the [policy.Priority]
}

func (e *ArgumentError) Error() string {
	return fmt.Sprintf("invalid %s: %v", e.Name, e.Value)
}

func checkPriority(p policy.Priority) error {
	if !p.Valid() {
		return &ArgumentError{Name: "priority", Value: p}
	}
	return nil
}

// checkContext reports why a call with ctx must not even try.
func checkContext(ctx context.Context) error {
	if ctx == nil {
		return &ArgumentError{Name: "ctx"}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}
