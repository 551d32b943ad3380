// Overload offers subscriptions far more than they can hold, and shows that memory stays within a bound.
//
//	go run ./internal/overload                   16 GiB for each overflow policy, and the rest
//	go run ./internal/overload -offer 1073741824
//
// Each case runs in a process of its own under a memory limit of 64 MiB, and is measured from outside: what counts is
// the most that the process ever had in memory, as the kernel says, and what is left on the heap in the end.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// limit is what a case may have in memory, at most and at any moment.
const limit = 64 << 20

// maxLeft is what may be left on the heap when a case is over.
const maxLeft = 4 << 20

// caseVariable is the environment variable with the name of the case that a
// child process is to run.
const caseVariable = "HERALD_OVERLOAD_CASE"

func main() {
	offer := flag.Int64("offer", 16<<30, "how many bytes each overflow policy is offered")
	flag.Parse()
	if name := os.Getenv(caseVariable); name != "" {
		child(name, *offer)
		return
	}
	failed := false
	for _, c := range cases {
		r, err := runCase(c.name, *offer)
		fmt.Printf("proof: layer=overload case=%s offered=%d peak=%d left=%d\n", c.name, r.Offered, r.peak, r.Left)
		switch {
		case err != nil:
		case r.peak > limit:
			err = fmt.Errorf("%d bytes in memory, more than %d", r.peak, limit)
		case r.Left > maxLeft:
			err = fmt.Errorf("%d bytes left on the heap, more than %d", r.Left, maxLeft)
		case r.Goroutines > 1:
			err = fmt.Errorf("%d goroutines left", r.Goroutines-1)
		}
		if err != nil {
			failed = true
			fmt.Fprintf(os.Stderr, "overload: %s: %v\n", c.name, err)
		}
	}
	if failed {
		os.Exit(1)
	}
}

// A result is what a child says of itself, and what its parent measured.
type result struct {
	Offered    int64 // bytes, or things
	Left       uint64
	Goroutines int
	peak       int64
}

// runCase runs one case in a child process.
func runCase(name string, offer int64) (r result, err error) {
	self, err := os.Executable()
	if err != nil {
		return r, err
	}
	cmd := exec.Command(self, fmt.Sprintf("-offer=%d", offer))
	cmd.Env = append(os.Environ(), caseVariable+"="+name, fmt.Sprintf("GOMEMLIMIT=%d", limit*3/4)) // room for what isn't the heap
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return r, err
	}
	if err := json.NewDecoder(bytes.NewReader(out)).Decode(&r); err != nil {
		return r, err
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return r, fmt.Errorf("this system doesn't say what a process had in memory")
	}
	r.peak = usage.Maxrss << 10 // Linux counts in KiB
	return r, nil
}
