package policytest

import (
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/heraldbus/herald/policy"
)

type overflowFunc func(policy.Full) policy.Action

func (f overflowFunc) OnFull(full policy.Full) policy.Action { return f(full) }

// TestOverflowKitFindsPlantedFaults: each fault that an Overflow can have is reported.
func TestOverflowKitFindsPlantedFaults(t *testing.T) {
	var calls, alone atomic.Int64
	alone.Store(int64(2 * len(overflowQuestions()))) // the first two passes
	for name, c := range map[string]struct {
		o    policy.Overflow
		opts []Option
		want string
	}{
		"nil":     {nil, nil, "the Overflow is nil"},
		"invalid": {invalid{Action: policy.Reject()}, nil, "is not valid: says so itself"},
		"action":  {policy.Block(-1), nil, "a wait of -1ns is negative"},
		"zero Action": {
			overflowFunc(func(policy.Full) (a policy.Action) { return a }),
			nil, "the zero Action says nothing",
		},
		"zero Action for a priority nobody thought of": {
			overflowFunc(func(f policy.Full) (a policy.Action) {
				if f.Priority.Valid() {
					a = policy.Reject()
				}
				return a
			}),
			nil, "Priority:priority(-128)",
		},
		"negative wait after a long one": {
			overflowFunc(func(f policy.Full) policy.Action { return policy.Block(time.Hour - f.Waited) }),
			nil, "is negative",
		},
		"else after nothing": {
			overflowFunc(func(policy.Full) policy.Action { return policy.Reject().Else(policy.DropNewest()) }),
			nil, "its Else is never reached",
		},
		"panics for capacity 0": {
			overflowFunc(func(f policy.Full) policy.Action {
				_ = f.OldestAge / time.Duration(f.Capacity)
				return policy.Reject()
			}),
			nil, "panic: runtime error: integer divide by zero",
		},
		"exits": {
			overflowFunc(func(policy.Full) policy.Action { runtime.Goexit(); return policy.Reject() }),
			nil, "called runtime.Goexit",
		},
		"takes turns": {
			overflowFunc(func(policy.Full) policy.Action {
				if calls.Add(1)%3 == 0 {
					return policy.DropNewest()
				}
				return policy.DropOldest()
			}),
			nil, "has state",
		},
		"drops at random": {overflowFunc(dropAtRandom), nil, "must say so with Randomised"},
		"differs under concurrency": {
			overflowFunc(func(policy.Full) policy.Action {
				if alone.Add(-1) < 0 {
					return policy.Reject()
				}
				return policy.DropOldest()
			}),
			nil, "can't be shared",
		},

		"waits and waits": {
			overflowFunc(func(policy.Full) policy.Action { return policy.Block(time.Second) }),
			nil, "may wait for ever",
		},
		"waits and waits, after an Else": {
			overflowFunc(func(policy.Full) policy.Action { return policy.Block(1).Else(policy.Block(2)) }),
			nil, "may wait for ever",
		},

		"sound, waits without limit": {overflowFunc(policy.Block(0).OnFull), nil, ""},
		"sound, waits on purpose":    {overflowFunc(policy.Block(1).OnFull), []Option{Unbounded()}, ""},
		"sound, waits and ends": {
			overflowFunc(policy.Block(1).Else(policy.Block(0)).OnFull), nil, "",
		},
		"sound, an Action is asked once": {policy.Block(time.Second), nil, ""},
		"sound":                          {policy.Block(time.Second).Else(policy.DropOldest()), nil, ""},
		"sound, random":                  {overflowFunc(dropAtRandom), []Option{Randomised()}, ""},
		"sound, by what it is told": {
			overflowFunc(func(f policy.Full) policy.Action {
				if f.Priority > f.Lowest {
					return policy.DropOldest()
				}
				return policy.Reject()
			}),
			nil, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var rec recorder
			TestOverflow(&rec, c.o, c.opts...)
			wantReport(t, &rec, c.want)
		})
	}
}

func dropAtRandom(policy.Full) policy.Action {
	if rand.IntN(2) == 0 {
		return policy.DropOldest()
	}
	return policy.DropNewest()
}
