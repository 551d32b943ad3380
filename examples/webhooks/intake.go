package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/heraldbus/herald"
)

const badLimit = 20 // bad lines that are kept; later ones are only counted

// An intake publishes the events of an input. It's one goroutine's.
type intake struct {
	dispatcher *dispatcher

	lines   int
	events  int
	bad     []badLine
	badMore int   // beyond badLimit
	readErr error // why the input ended, if not at its end
}

// A badLine is a line of the input that is no event for any receiver.
type badLine struct {
	number int // 1 for the first
	err    error
}

// read publishes every line of in, one after the other, and waits where the dispatcher has no room. A bad line is noted
// and passed over. A reader that fails ends the input as its end would.
func (i *intake) read(ctx context.Context, in io.Reader) error {
	for r := newLineReader(until(ctx, in)); ; {
		line, err := nextLine(r)
		switch {
		case errors.Is(err, io.EOF):
			return context.Cause(ctx)
		case err != nil && !errors.Is(err, errLongLine):
			i.readErr = fmt.Errorf("reading after line %d: %w", i.lines, err)
			return nil
		}
		i.lines++
		if err != nil {
			i.reject(err)
		} else if err := i.accept(ctx, line); err != nil {
			return err
		}
	}
}

// accept publishes the event in a line, if there is one.
func (i *intake) accept(ctx context.Context, line []byte) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	e, err := decode(line)
	if err == nil {
		err = i.dispatcher.knows(e)
	}
	if err != nil {
		i.reject(err)
		return nil
	}
	i.events++
	return i.dispatcher.publish(ctx, e)
}

func (i *intake) reject(err error) {
	if len(i.bad) == badLimit {
		i.badMore++
		return
	}
	i.bad = append(i.bad, badLine{number: i.lines, err: err})
}

// publish accepts e for delivery. The ID that it gives is the receiver's means to know a repeat.
func (d *dispatcher) publish(ctx context.Context, e Event) error {
	if err := d.events.Publish(ctx, e, herald.WithID(e.ID)); err != nil {
		return err
	}
	d.ledger.accepted(e.Receiver)
	return nil
}
