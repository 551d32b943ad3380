package policy_test

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/heraldbus/herald/policy"
)

// Four retries, the delay doubling from 100 ms but at most half a second.
func ExampleExponential() {
	r := policy.Exponential{Attempts: 5, Base: 100 * time.Millisecond, Max: 500 * time.Millisecond}
	for failed := 1; ; failed++ {
		delay, again := r.Next(failed, errors.New("timeout"))
		if !again {
			fmt.Println("dead after", failed)
			return
		}
		fmt.Println("again after", delay)
	}
	// Output:
	// again after 100ms
	// again after 200ms
	// again after 400ms
	// again after 500ms
	// dead after 5
}

// Mistakes are found when a policy is handed over.
func ExampleExponential_Validate() {
	fmt.Println(policy.Exponential{Jitter: 1.5}.Validate())
	fmt.Println(policy.Exponential{Base: time.Minute, Max: time.Second}.Validate())
	// Output:
	// exponential: Jitter 1.5 is not between 0 and 1
	// exponential: Max 1s is below Base 1m0s
}

// A list of delays, one for each retry, so three attempts in all.
func ExampleSchedule() {
	r := policy.Schedule{time.Second, 30 * time.Second}
	fmt.Println(r.Next(1, nil))
	fmt.Println(r.Next(2, nil))
	fmt.Println(r.Next(3, nil))
	// Output:
	// 1s true
	// 30s true
	// 0s false
}

// One attempt and no more.
func ExampleNever() {
	fmt.Println(policy.Never().Next(1, nil))
	// Output: 0s false
}

// Wait up to a second for room, then make some.
func ExampleAction_Else() {
	a := policy.Block(time.Second).Else(policy.DropOldest())
	fmt.Println(a, a.Validate())
	fmt.Println(policy.Reject().Else(policy.DropOldest()).Validate())
	// Output:
	// block(1s).else(drop-oldest) <nil>
	// overflow action reject.else(drop-oldest): reject does not wait, so its Else is never reached
}

// shedLow is an Overflow of one's own: nobody waits for low messages, the others wait a second.
type shedLow struct{}

func (shedLow) OnFull(f policy.Full) policy.Action {
	switch {
	case f.Priority == policy.Low:
		return policy.DropNewest()
	case f.Waited < time.Second:
		return policy.Block(time.Second - f.Waited)
	default:
		return policy.Reject()
	}
}

func ExampleOverflow() {
	var o policy.Overflow = shedLow{}
	fmt.Println(o.OnFull(policy.Full{Capacity: 100, Priority: policy.Low}))
	fmt.Println(o.OnFull(policy.Full{Capacity: 100, Priority: policy.High}))
	fmt.Println(o.OnFull(policy.Full{Capacity: 100, Priority: policy.High, Waited: time.Second}))
	// Output:
	// drop-newest
	// block(1s)
	// reject
}

// transient is a Retry of one's own: it goes by the error, and leaves the delays to another policy.
type transient struct{ policy.Retry }

func (r transient) Next(failed int, err error) (delay time.Duration, again bool) {
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false
	}
	return r.Retry.Next(failed, err)
}

func ExampleRetry() {
	r := transient{policy.Exponential{}}
	fmt.Println(r.Next(1, errors.New("timeout")))
	fmt.Println(r.Next(1, fs.ErrNotExist))
	// Output:
	// 100ms true
	// 0s false
}

// A handler that gives up on a message: it is dead at once, with two attempts to spare.
func ExamplePermanent() {
	err := fmt.Errorf("order 42: %w", policy.Permanent(fs.ErrNotExist))
	d := policy.Decide(policy.Exponential{}, 1, err)
	fmt.Println(d.Permanent, d.Again, d.Err)
	fmt.Println(errors.Is(err, fs.ErrNotExist))
	// Output:
	// true false order 42: file does not exist
	// true
}

// A handler that was told when to come back.
func ExampleRetryAfter() {
	err := policy.RetryAfter(30*time.Second, errors.New("too many requests"))
	d := policy.Decide(policy.Exponential{}, 1, err)
	fmt.Println(d.Again, d.Delay)
	// Output: true 30s
}

// A handler that can't go on at all: the message keeps its place and Run returns the cause.
func ExampleStop() {
	err := policy.Stop(errors.New("disk full"))
	d := policy.Decide(policy.Exponential{}, 1, err)
	fmt.Println(d.Stop, d.Again, d.Err)
	// Output: true false disk full
}

// What an engine does after each failed attempt.
func ExampleDecide() {
	fmt.Printf("%+v\n", policy.Decide(policy.Schedule{time.Second}, 1, errors.New("timeout")))
	fmt.Printf("%+v\n", policy.Decide(policy.Schedule{time.Second}, 2, errors.New("timeout")))
	// Output:
	// {Again:true Delay:1s Permanent:false Stop:false Err:timeout}
	// {Again:false Delay:0s Permanent:false Stop:false Err:timeout}
}
