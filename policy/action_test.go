package policy_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/heraldbus/herald/policy"
)

// An Action is an Overflow, a Retry is a Retry: the compiler says so.
var (
	_ policy.Overflow = policy.Action{}
	_ policy.Retry    = policy.Exponential{}
	_ policy.Retry    = policy.Schedule{}
)

// TestG07_ActionsSayWhatTheyDo: each constructor makes the answer of its name, whatever it is asked.
func TestG07_ActionsSayWhatTheyDo(t *testing.T) {
	for want, c := range map[string]struct {
		a    policy.Action
		kind policy.Kind
		max  time.Duration
	}{
		"dead-letter": {policy.DeadLetter(), policy.KindDeadLetter, 0},
		"reject":      {policy.Reject(), policy.KindReject, 0},
		"drop-newest": {policy.DropNewest(), policy.KindDropNewest, 0},
		"drop-oldest": {policy.DropOldest(), policy.KindDropOldest, 0},
		"disconnect":  {policy.Disconnect(), policy.KindDisconnect, 0},
		"block(0s)":   {policy.Block(0), policy.KindBlock, 0},
		"block(1s)":   {policy.Block(time.Second), policy.KindBlock, time.Second},
	} {
		t.Run(want, func(t *testing.T) {
			if got := c.a.String(); got != want {
				t.Errorf("String is %q", got)
			}
			if c.a.Kind() != c.kind || c.a.Max() != c.max {
				t.Errorf("is %v for %v, want %v for %v", c.a.Kind(), c.a.Max(), c.kind, c.max)
			}
			if then, ok := c.a.Then(); ok || then != (policy.Action{}) {
				t.Errorf("then %v, %v, want nothing", then, ok)
			}
			if err := c.a.Validate(); err != nil {
				t.Error(err)
			}
			if got := c.a.OnFull(policy.Full{Capacity: 1, Waited: time.Hour}); got != c.a {
				t.Errorf("OnFull says %v", got)
			}
		})
	}
}

// TestG07_ElseComesAfterTheWait: an Else is what happens after Block's time is up, and a second one what happens after
// the first.
func TestG07_ElseComesAfterTheWait(t *testing.T) {
	first := policy.Block(time.Second)
	a := first.Else(policy.DropOldest())
	then, ok := a.Then()
	if !ok || then != policy.DropOldest() {
		t.Errorf("%v: then %v, %v", a, then, ok)
	}
	if _, ok := first.Then(); ok {
		t.Error("Else changed the action it was called on")
	}

	const want = "block(1s).else(block(2s).else(disconnect))"
	nested := first.Else(policy.Block(2 * time.Second).Else(policy.Disconnect()))
	chained := first.Else(policy.Block(2 * time.Second)).Else(policy.Disconnect())
	if nested.String() != want || chained.String() != want || !nested.Equal(chained) {
		t.Errorf("nested %v, chained %v, want both %v", nested, chained, want)
	}
	if err := nested.Validate(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(nested, chained); diff != "" { // by Equal
		t.Error(diff)
	}
}

func TestG07_EqualSeesTheWholeAction(t *testing.T) {
	all := []policy.Action{
		{},
		policy.Reject(),
		policy.DropOldest(),
		policy.Block(0),
		policy.Block(time.Second),
		policy.Block(time.Second).Else(policy.Reject()),
		policy.Block(time.Second).Else(policy.DropOldest()),
		policy.Block(time.Second).Else(policy.Block(time.Second)),
		policy.Block(time.Second).Else(policy.Block(time.Second)).Else(policy.Reject()),
	}
	for i, a := range all {
		for j, b := range all {
			if a.Equal(b) != (i == j) {
				t.Errorf("(%v).Equal(%v) is %v", a, b, a.Equal(b))
			}
		}
	}
}

// TestG21_WrongActionsAreErrors: bad fields are errors when the option is applied, never panics.
func TestG21_WrongActionsAreErrors(t *testing.T) {
	for want, a := range map[string]policy.Action{
		"overflow action invalid: the zero Action says nothing":   {},
		"overflow action block(-1ns): a wait of -1ns is negative": policy.Block(-1),
		"overflow action reject.else(drop-oldest): reject does not wait, so its Else is never reached": policy.
			Reject().Else(policy.DropOldest()),
		"overflow action block(0s).else(reject): block(0s) waits without limit, so its Else is never reached": policy.
			Block(0).Else(policy.Reject()),
		"overflow action block(1s).else(invalid): the zero Action says nothing": policy.
			Block(time.Second).Else(policy.Action{}),
		"overflow action block(1s).else(block(-1s)): a wait of -1s is negative": policy.
			Block(time.Second).Else(policy.Block(-time.Second)),
		"overflow action block(1s).else(reject.else(disconnect)): reject does not wait, so its Else is never reached": policy.
			Block(time.Second).Else(policy.Reject()).Else(policy.Disconnect()),
		"overflow action invalid.else(reject): the zero Action says nothing": policy.
			Action{}.Else(policy.Reject()),
	} {
		if got := errorText(a.Validate()); got != want {
			t.Errorf("Validate says %q, want %q", got, want)
		}
	}
}

// TestG07_ValidateAgreesWithTheRules builds any chain of actions and compares with the rules said once more.
func TestG07_ValidateAgreesWithTheRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		chain := rapid.SliceOfN(rapid.SampledFrom([]policy.Action{
			{}, policy.Reject(), policy.DropOldest(), policy.Block(0), policy.Block(time.Second),
			policy.Block(math.MaxInt64), policy.Block(math.MinInt64),
		}), 1, 5).Draw(t, "chain")

		a, valid := chain[0], true
		for _, then := range chain[1:] {
			a = a.Else(then)
		}
		for i, one := range chain {
			last := i == len(chain)-1
			valid = valid && one.Kind() != policy.KindInvalid && one.Max() >= 0 && (last || one.Max() > 0)
		}
		if err := a.Validate(); (err == nil) != valid {
			t.Fatalf("%v: Validate says %v, want valid %v", a, err, valid)
		}
		for i, at := 0, a; ; i++ { // what was put in comes out, in order
			if at.Kind() != chain[i].Kind() || at.Max() != chain[i].Max() {
				t.Fatalf("%v: action %d is %v, want %v", a, i, at, chain[i])
			}
			then, ok := at.Then()
			if ok != (i < len(chain)-1) {
				t.Fatalf("%v: action %d has an Else: %v", a, i, ok)
			}
			if !ok {
				return
			}
			at = then
		}
	})
}

// TestG15_ValidateCostsNothing: the engine validates every answer of a policy of one's own.
func TestG15_ValidateCostsNothing(t *testing.T) {
	a := policy.Block(time.Second).Else(policy.Block(time.Minute)).Else(policy.DropOldest())
	if n := testing.AllocsPerRun(100, func() {
		if a.Validate() != nil {
			t.Error("not valid")
		}
	}); n != 0 {
		t.Errorf("Validate allocates %v times", n)
	}
}

func TestG07_KindsHaveNames(t *testing.T) {
	var got []string
	for k := range policy.KindBlock + 2 {
		got = append(got, k.String())
	}
	want := []string{
		"invalid", "dead-letter", "reject", "drop-newest", "drop-oldest", "disconnect", "block", "kind(7)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("-want +got:", diff)
	}
}
