package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// An Event is something that happened, and whom to tell.
type Event struct {
	ID       string          `json:"id"` // the same for the same event, however often the input is sent
	Receiver string          `json:"receiver"`
	Type     string          `json:"type"`
	Data     json.RawMessage `json:"data"`
}

const (
	idLimit    = 256 // bytes
	quoteLimit = 32  // bytes of a bad line that are shown
)

// decode returns the event in a line, or an error that says why it is none.
func decode(line []byte) (Event, error) {
	var e Event
	if err := json.Unmarshal(line, &e); err != nil {
		return Event{}, fmt.Errorf("no event in JSON: %s", quote(line))
	}
	return e, e.check()
}

func (e Event) check() error {
	switch {
	case e.ID == "":
		return errors.New("no id")
	case len(e.ID) > idLimit || strings.ContainsFunc(e.ID, notInHeader):
		return fmt.Errorf("an id that can't be a header: %s", quote([]byte(e.ID)))
	case e.Type == "":
		return errors.New("no type")
	}
	return nil
}

// notInHeader reports whether r isn't visible ASCII.
func notInHeader(r rune) bool { return r <= ' ' || r > '~' }

// quote returns the beginning of text in quotes.
func quote(text []byte) string {
	if len(text) > quoteLimit {
		return fmt.Sprintf("%#q …", text[:quoteLimit])
	}
	return fmt.Sprintf("%#q", text)
}
