package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// An Action says what an [Event] is about. Those that are not named here are passed on and ignored, as newer versions
// of go test may add some.
type Action string

const (
	actionRun         Action = "run"
	actionOutput      Action = "output"
	actionPass        Action = "pass"
	actionFail        Action = "fail"
	actionSkip        Action = "skip"
	actionBuildOutput Action = "build-output"
	actionBuildFail   Action = "build-fail"
)

// An Event is one line of go test -json, as go doc test2json and go help buildjson describe it.
type Event struct {
	Time        time.Time // zero if the stream has none
	Action      Action
	Package     string
	Test        string  // empty for what concerns the package as a whole
	Elapsed     float64 // seconds, for results
	Output      string
	ImportPath  string // of a build that printed something or failed
	FailedBuild string // the ImportPath because of which a package failed
}

// isResult reports whether e is the end of a test or of a package.
func (e Event) isResult() bool {
	return e.Action == actionPass || e.Action == actionFail || e.Action == actionSkip
}

// isTestResult reports whether e is the end of a test.
func (e Event) isTestResult() bool { return e.Test != "" && e.isResult() }

const (
	nameLimit    = 4 << 10 // bytes of a package, test or import path; more is malformed
	elapsedLimit = 1e9     // seconds
)

// decode returns the event in a line, or an error that says why it is none.
func decode(l Line) (Event, error) {
	if l.Size > lineLimit {
		return Event{}, fmt.Errorf("%d bytes long, more than %d", l.Size, lineLimit)
	}
	var e Event
	if err := json.Unmarshal(l.Text, &e); err != nil {
		return Event{}, notJSON(l, err)
	}
	if err := e.check(); err != nil {
		return Event{}, err
	}
	if len(e.Output) > outputLimit {
		e.Output = strings.Clone(e.Output[:outputLimit]) // a clone, so that the rest isn't held
	}
	return e, nil
}

// notJSON says in the reader's words why a line could not be decoded.
func notJSON(l Line, err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		kind, _, _ := strings.Cut(wrong.Value, " ") // "number" of "number 1e999"
		return fmt.Errorf("%s: unexpected %s", cmp.Or(wrong.Field, "not an object"), kind)
	}
	if !bytes.HasPrefix(bytes.TrimSpace(l.Text), []byte("{")) {
		return errors.New("not JSON")
	}
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("JSON goes wrong at byte %d", wrong.Offset)
	}
	return errors.New(cut(err.Error(), linePrefix)) // cut, as it may quote the line
}

// check returns an error if a field is missing or out of bounds.
func (e Event) check() error {
	aboutBuild := e.Action == actionBuildOutput || e.Action == actionBuildFail
	switch {
	case e.Action == "":
		return errors.New("no Action")
	case aboutBuild && e.ImportPath == "":
		return fmt.Errorf("%s without ImportPath", e.Action)
	case !aboutBuild && e.Package == "":
		return fmt.Errorf("%s without Package", e.Action)
	case e.Action == actionRun && e.Test == "":
		return fmt.Errorf("%s without Test", e.Action)
	case max(len(e.Action), len(e.Package), len(e.Test), len(e.ImportPath), len(e.FailedBuild)) > nameLimit:
		return fmt.Errorf("a name longer than %d bytes", nameLimit)
	case e.Elapsed < 0 || e.Elapsed > elapsedLimit:
		return fmt.Errorf("an Elapsed of %g seconds", e.Elapsed)
	}
	return nil
}

// A MalformedError says why a line is no event.
type MalformedError struct{ Reason error }

func (e *MalformedError) Error() string { return "malformed line: " + e.Reason.Error() }

// Unwrap returns the reason.
func (e *MalformedError) Unwrap() error { return e.Reason }

// A decoder turns lines into events. What is no event is dead at once, for no retry will mend it.
type decoder struct {
	events  *herald.Topic[Event]
	decoded int
}

func (d *decoder) handle(ctx context.Context, m herald.Message[Line]) error {
	e, err := decode(m.Payload)
	if err != nil {
		return policy.Permanent(&MalformedError{Reason: err})
	}
	if err := d.events.Publish(ctx, e); err != nil {
		return policy.Stop(err)
	}
	d.decoded++
	return nil
}
