package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/signal"
	"syscall"
	"time"
)

//go:embed testdata/events.jsonl
var demoEvents []byte

// The exit statuses.
const (
	statusDelivered   = 0
	statusUndelivered = 1
	statusUnusable    = 2
)

// command is main with its surroundings as arguments. It returns the exit status.
func command(args []string, stdin io.Reader, out, diag io.Writer) int {
	o, err := parse(args, diag)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return statusDelivered
	case err == nil:
		err = start(o, stdin, out)
	}
	if err != nil {
		fmt.Fprintf(diag, "webhooks: %v\n", err)
	}
	return status(err)
}

func status(err error) int {
	switch {
	case err == nil:
		return statusDelivered
	case errors.Is(err, errUndelivered):
		return statusUndelivered
	}
	return statusUnusable
}

// options are what the command line says.
type options struct {
	in, receivers string
	grace         time.Duration
	hopeless      bool
}

func parse(args []string, diag io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("webhooks", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // its errors are reported like any other
	flags.StringVar(&o.in, "in", "", "read events from this `file`, - for standard input; default: the demonstration's")
	flags.StringVar(&o.receivers, "receivers", "", "post to those in this JSON `file`; default: the demonstration's")
	flags.DurationVar(&o.grace, "grace", time.Minute, "how long deliveries may go on after the input has ended")
	flags.BoolVar(&o.hopeless, "hopeless", false, "let the demonstration's receiver that is down stay down")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			flags.SetOutput(diag)
			flags.Usage()
		}
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.grace <= 0:
		return o, fmt.Errorf("-grace %v is not positive", o.grace)
	case o.receivers != "" && o.in == "":
		return o, errors.New("-receivers needs -in: the demonstration's events are for its own receivers")
	}
	return o, nil
}

// start runs the program that o asks for, with an input that an interrupt ends.
func start(o options, stdin io.Reader, out io.Writer) error {
	in, err := o.open(stdin)
	if err != nil {
		return err
	}
	defer in.Close()
	interrupted, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(interrupted, stop) // from then on a signal does what it does by default

	ctx, events := context.Background(), until(interrupted, in)
	if o.receivers == "" {
		s := newStandins(httptest.NewServer)
		s.hopeless = o.hopeless
		return demonstrate(ctx, s, demoSetup(newClient(), o.grace), events, out)
	}
	receivers, err := readReceivers(o.receivers)
	if err != nil {
		return err
	}
	return run(ctx, realSetup(receivers, newClient(), o.grace), nil, events, out)
}

func (o options) open(stdin io.Reader) (io.ReadCloser, error) {
	switch o.in {
	case "":
		return io.NopCloser(bytes.NewReader(demoEvents)), nil
	case "-":
		return io.NopCloser(stdin), nil
	}
	return os.Open(o.in)
}
