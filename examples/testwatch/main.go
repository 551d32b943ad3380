// Testwatch reads the stream of go test -json and tells a person what matters in it:
//
//	go test -json ./... | go run ./examples/testwatch
//
// It prints a row for each package as it ends, on a terminal with a live line below, then the failures with their
// output, the lines that were no test events, the ten slowest tests, and a summary. Its exit status is 0 if everything
// passed, 1 if something failed, did not build or did not finish, and 2 for wrong use or input that can't be read.
// Malformed lines alone fail nothing: the verdict of each package does, and one that never comes is a failure.
//
// If whoever reads the output goes away, testwatch prints no more, but reads on to the end, so that go test is not cut
// off and the status stays right.
//
// As an example it shows a pipeline of typed topics in which each consumer waits, drops or ranks as it needs to: see
// watch.go for the map.
package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
)

const usage = "usage: go test -json ./... | testwatch\n"

func main() {
	if len(os.Args) > 1 || isTerminal(os.Stdin) {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(statusUnusable)
	}
	signal.Ignore(syscall.SIGPIPE) // a closed output is an error from Write
	leaveInterruptToGoTest()
	os.Exit(run(context.Background(), os.Stdin, os.Stdout, os.Stderr, isTerminal(os.Stdout)))
}

// leaveInterruptToGoTest makes the first interrupt go by: go test gets it too, its stream ends, and what it said until
// then is reported. The second one ends testwatch.
func leaveInterruptToGoTest() {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	go func() {
		<-interrupts
		signal.Stop(interrupts)
	}()
}

// isTerminal reports whether f is a terminal: a character device that is not the null device.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&fs.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
