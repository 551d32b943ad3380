package herald_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// crashHere panics in the child process of TestG16_CrashOnPanic.
func crashHere() error { panic("crash, please") }

// TestG16_CrashOnPanic: with WithCrashOnPanic a panic ends the program and its trace names the handler; a Goexit is a
// failed attempt there as well.
func TestG16_CrashOnPanic(t *testing.T) {
	const env = "HERALD_TEST_CRASH"
	if how := os.Getenv(env); how != "" {
		driver := drivers[how]
		r := newRig(t, herald.WithCrashOnPanic(), herald.WithConcurrency(driver.concurrency), herald.WithRetry(policy.Never()))
		r.publish("exits")
		r.publish("panics")
		r.sub.Close()
		driver.drive(r, r.handle(func(m herald.Message[string]) error {
			if m.Payload == "exits" {
				runtime.Goexit()
			}
			for r.sub.Stats().DeadBy.RetriesExhausted == 0 { // until the Goexit has counted
				runtime.Gosched()
			}
			fmt.Println("the Goexit counted")
			return crashHere()
		}))
		return
	}
	for _, how := range []string{"Run", "Run 3", "Step"} {
		t.Run(how, func(t *testing.T) {
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestG16_CrashOnPanic$", "-test.timeout=30s")
			child.Env = append(os.Environ(), env+"="+how)
			out, err := child.CombinedOutput()
			if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 2 {
				t.Errorf("the child ended with %v", err)
			}
			for _, want := range []string{"the Goexit counted", "panic: crash, please", "herald_test.crashHere"} {
				if !bytes.Contains(out, []byte(want)) {
					t.Errorf("the child did not say %q:\n%s", want, out)
				}
			}
		})
	}
}

// TestG16_WhoCatchesTheCrashGoesOn: where the program recovers around Run or Step itself, nothing is lost and no
// attempt is used.
func TestG16_WhoCatchesTheCrashGoesOn(t *testing.T) {
	for how, driver := range drivers {
		if driver.concurrency > 1 || how == "Messages" {
			continue // nobody can catch it there; a body is its caller's own code
		}
		t.Run(how, func(t *testing.T) {
			r := newRig(t, herald.WithCrashOnPanic())
			r.publish("a")
			r.publish("b")
			func() {
				defer func() { wantEqual(t, any("caught"), recover()) }()
				consumers[how](r, 1, func(context.Context, herald.Message[string]) error { panic("caught") })
			}()
			r.steps(r.handle(func(m herald.Message[string]) error { wantEqual(t, int32(1), m.Attempt); return nil }))
			r.wantSeen("a b")
		})
	}
}
