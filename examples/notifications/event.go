package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/broker"
)

// A Notification is what a user is to be told.
type Notification struct {
	ID   string `json:"id"`
	Kind Kind   `json:"kind"`
	User string `json:"user"`
	Text string `json:"text"`
}

// A Kind says how urgent a notification is, and names its topic.
type Kind string

// priorities has every kind that there is.
var priorities = map[Kind]herald.Priority{
	"security": herald.Critical,
	"order":    herald.Normal,
	"news":     herald.Low,
}

func (k Kind) topic() string { return "notify." + string(k) }

// errInput is the error of input that can't be read.
var errInput = errors.New("input can't be read")

// An intake is what became of the input.
type intake struct{ accepted, bad int }

// readAll publishes every event of the input. It waits where a channel's
// queue is full. A line that is no event is reported and skipped.
func (s *service) readAll(ctx context.Context, in io.Reader, diag io.Writer) (intake, error) {
	var n intake
	lines := bufio.NewScanner(in)
	for at := 1; lines.Scan(); at++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		event, err := s.parse(lines.Bytes())
		if err != nil {
			n.bad++
			fmt.Fprintf(diag, "line %d: %v\n", at, err)
			continue
		}
		if err := s.notify(ctx, event); err != nil {
			return n, fmt.Errorf("line %d: %w", at, err)
		}
		n.accepted++
	}
	if err := lines.Err(); err != nil {
		return n, fmt.Errorf("%w: %w", errInput, err)
	}
	return n, nil
}

func (s *service) parse(line []byte) (Notification, error) {
	var n Notification
	if err := json.Unmarshal(line, &n); err != nil {
		return n, err
	}
	_, known := priorities[n.Kind]
	switch _, ok := s.users[n.User]; {
	case n.ID == "":
		return n, errors.New("no id")
	case !known:
		return n, fmt.Errorf("unknown kind %q", n.Kind)
	case !ok:
		return n, fmt.Errorf("unknown user %q", n.User)
	}
	return n, nil
}

// notify publishes one event to the topic of its kind.
func (s *service) notify(ctx context.Context, n Notification) error {
	return broker.Publish(ctx, &s.broker, n.Kind.topic(), n,
		herald.WithID(n.ID), herald.WithKey(n.User), herald.WithPriority(priorities[n.Kind]))
}
