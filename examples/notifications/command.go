package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"
)

//go:embed testdata/events.jsonl
var demoEvents []byte

// The exit statuses.
const (
	statusDone     = 0
	statusLeftOver = 1
	statusUnusable = 2
)

// grace is how long what was accepted may take once the input has ended.
const grace = time.Minute

// command is main with its surroundings as arguments. It returns the exit
// status.
func command(args []string, stdin io.Reader, out, diag io.Writer) int {
	in, err := open(args, stdin, diag)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return statusDone
	case err != nil:
		fmt.Fprintf(diag, "notifications: %v\n", err)
		return statusUnusable
	}
	defer in.Close()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err = run(ctx, in, out, diag)
	switch {
	case err == nil:
		return statusDone
	case errors.Is(err, errInput):
		fmt.Fprintf(diag, "notifications: %v\n", err)
		return statusUnusable
	}
	fmt.Fprintf(diag, "notifications: %v\n", err)
	return statusLeftOver
}

func open(args []string, stdin io.Reader, diag io.Writer) (io.ReadCloser, error) {
	flags := flag.NewFlagSet("notifications", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // its errors are reported like any other
	name := flags.String("in", "", "read events from this `file`, - for standard input; default: the demonstration's")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			flags.SetOutput(diag)
			flags.Usage()
		}
		return nil, err
	}
	switch {
	case flags.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case *name == "":
		return io.NopCloser(bytes.NewReader(demoEvents)), nil
	case *name == "-":
		return io.NopCloser(stdin), nil
	}
	return os.Open(*name)
}

// run is the life of the service: it takes the input in, lets all of it be
// sent, replays what failed while push was down, and reports.
func run(ctx context.Context, in io.Reader, out, diag io.Writer) error {
	p := newProviders()
	s, err := newService(demoUsers(), p)
	if err != nil {
		return err
	}
	ended := s.start(ctx)
	intake, err := s.readAll(ctx, in, diag)
	if err != nil {
		return errors.Join(err, s.stop(ctx, ended))
	}
	bounded, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	if err := s.broker.WaitIdle(bounded); err != nil {
		return errors.Join(err, s.stop(ctx, ended))
	}
	p.push.recover()
	replayed, err := s.replay(bounded, "push")
	err = errors.Join(err, s.stop(bounded, ended))
	s.report(out, intake, replayed)
	return err
}
