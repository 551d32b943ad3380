package policy

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// An Action is one answer to a full queue, and an [Overflow] that always gives it. Make one with [DeadLetter],
// [Reject], [DropNewest], [DropOldest], [Disconnect] or [Block]; the zero Action is no answer and not valid. Actions are
// immutable. Those without an Else may be compared with ==, all with [Action.Equal].
type Action struct {
	kind Kind
	max  time.Duration // of a block; may be negative until Validate says so
	then *Action       // what Else was given, never written to once it is set; nil without Else
}

// DeadLetter sends the incoming message to the dead letters, with reason Overflow; the publisher does not wait. A
// subscription without a dead-letter store refuses it as an option.
func DeadLetter() Action { return Action{kind: KindDeadLetter} }

// Reject refuses the incoming message: Publish returns an error that names this subscription, with ErrFull.
func Reject() Action { return Action{kind: KindReject} }

// DropNewest drops the incoming message, counted. Publish reports no error.
func DropNewest() Action { return Action{kind: KindDropNewest} }

// DropOldest evicts the oldest message of the lowest priority to make room, counted, and drops the incoming one instead
// where that ranks lower still. Messages in flight are never evicted.
func DropOldest() Action { return Action{kind: KindDropOldest} }

// Disconnect closes the subscription that can't keep up, and tells its consumer so with ErrDisconnected.
func Disconnect() Action { return Action{kind: KindDisconnect} }

// Block makes the publish wait for room: at most max, or as long as its context allows if max is 0. When the time is up,
// what [Action.Else] says happens; without an Else that is [Reject], or whatever an [Overflow] of one's own says when it is
// asked again. A negative max is not valid.
func Block(max time.Duration) Action { return Action{kind: KindBlock, max: max} }

// OnFull returns a: an Action is an [Overflow] that always says the same.
func (a Action) OnFull(Full) Action { return a }

// Else returns a with then for the time after its wait: Block(time.Second).Else(DropOldest()). Where a has an Else
// already, then comes after that one, so Block(x).Else(Block(y)).Else(z) and Block(x).Else(Block(y).Else(z)) are the
// same. An Else that could never be reached, because what it follows does not wait or waits without limit, is not valid.
func (a Action) Else(then Action) Action {
	if a.then != nil {
		then = a.then.Else(then)
	}
	a.then = &then
	return a
}

// Kind returns what a does, [KindInvalid] for the zero Action.
func (a Action) Kind() Kind { return a.kind }

// Max returns how long a [Block] waits, 0 for one without limit and for anything that does not wait.
func (a Action) Max() time.Duration { return a.max }

// Then returns what [Action.Else] was given. It reports false, with the zero Action, where there was no Else: [Block]
// says what happens then.
func (a Action) Then() (then Action, ok bool) {
	if a.then == nil {
		return Action{}, false
	}
	return *a.then, true
}

// Equal reports whether a and b are the same answer, whatever comes after a wait included.
func (a Action) Equal(b Action) bool {
	for a.kind == b.kind && a.max == b.max {
		if a.then == nil || b.then == nil {
			return a.then == b.then
		}
		a, b = *a.then, *b.then
	}
	return false
}

// String returns a as one would write it, such as "block(1s).else(drop-oldest)"; "invalid" for the zero Action.
func (a Action) String() string {
	var b strings.Builder
	for depth := 0; ; depth++ {
		b.WriteString(a.kind.String())
		if a.kind == KindBlock {
			b.WriteString("(" + a.max.String() + ")")
		}
		if a.then == nil {
			b.WriteString(strings.Repeat(")", depth))
			return b.String()
		}
		b.WriteString(".else(")
		a = *a.then
	}
}

// Validate returns an error that says what is wrong with a: the zero Action, a negative [Block], an Else after something
// that does not wait or after Block(0), which waits without limit, or a wrong action inside an Else. It costs nothing
// when all is well, as it is called for every answer of an [Overflow].
func (a Action) Validate() error {
	for at := a; ; at = *at.then {
		if err := at.validateOne(); err != nil {
			return fmt.Errorf("overflow action %v: %w", a, err)
		}
		if at.then == nil {
			return nil
		}
	}
}

// validateOne is Validate without what comes after the wait.
func (a Action) validateOne() error {
	switch {
	case a.kind == KindInvalid:
		return errors.New("the zero Action says nothing")
	case a.kind != KindBlock && a.then != nil:
		return fmt.Errorf("%v does not wait, so its Else is never reached", a.kind)
	case a.max < 0:
		return fmt.Errorf("a wait of %v is negative", a.max)
	case a.kind == KindBlock && a.max == 0 && a.then != nil:
		return errors.New("block(0s) waits without limit, so its Else is never reached")
	}
	return nil
}
