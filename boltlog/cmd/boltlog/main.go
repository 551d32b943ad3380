// Boltlog looks into a file of package boltlog, and compacts it.
//
//	boltlog topics FILE
//	boltlog cursors FILE [TOPIC]
//	boltlog dead FILE TOPIC
//	boltlog verify FILE
//	boltlog export [-from N] [-to N] [-dead] [-skip] FILE TOPIC
//	boltlog compact FILE
//
// Only compact changes the file. All of them need it to be closed: while a program has it
// open they wait for a second, then say so.
//
// It exits with 0 if all is well, 1 if something went wrong, 2 if it was called
// wrongly, and 3 if the file is damaged. Progress of long work goes to standard
// error.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/heraldbus/herald/store"
)

// Exit codes.
const (
	fine     = 0
	failed   = 1
	misused  = 2
	damaged  = 3
	usageTop = `usage: boltlog COMMAND [FLAGS] FILE ...

Looks into a file of package boltlog. Commands:
`
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// A command is one of the things that boltlog does.
type command struct {
	name string
	args string // for the usage
	what string
	flag func(*flag.FlagSet, *call) // nil: it has no flags
	min  int                        // arguments
	max  int
	run  func(*call) error
}

var commands = []command{
	{"topics", "FILE", "list topics: what they hold and how much", nil, 1, 1, topics},
	{"cursors", "FILE [TOPIC]", "list subscriptions: how far they are and how many records are left", nil, 1, 2, cursors},
	{"dead", "FILE TOPIC", "list dead letters", nil, 2, 2, dead},
	{"verify", "FILE", "read everything and report what is damaged", nil, 1, 1, verify},
	{"export", "FILE TOPIC", "write records as JSON lines", exportFlags, 2, 2, export},
	{"compact", "FILE", "give free space back", nil, 1, 1, compact},
}

// A call is one run of a command.
type call struct {
	ctx    context.Context
	args   []string
	out    io.Writer
	log    io.Writer
	export exportOptions
}

// errUsage: the call was wrong, and that has been said.
var errUsage = errors.New("usage")

func run(ctx context.Context, args []string, out, log io.Writer) int {
	c, flags, err := parse(args, log)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return fine
	case err != nil:
		return misused
	}
	c.ctx, c.out, c.log = ctx, out, log
	err = flags.run(c)
	switch {
	case err == nil:
		return fine
	case errors.Is(err, store.ErrCorrupt):
		fmt.Fprintln(log, "boltlog: damaged:", err)
		return damaged
	}
	fmt.Fprintln(log, "boltlog:", err)
	return failed
}

// parse finds the command and what it's called with.
func parse(args []string, log io.Writer) (*call, *command, error) {
	if len(args) == 0 {
		usage(log)
		return nil, nil, errUsage
	}
	if args[0] == "-h" || args[0] == "-help" || args[0] == "--help" || args[0] == "help" {
		usage(log)
		return nil, nil, flag.ErrHelp
	}
	for i := range commands {
		if commands[i].name == args[0] {
			return commands[i].parse(args[1:], log)
		}
	}
	fmt.Fprintf(log, "boltlog: no command %q\n", args[0])
	usage(log)
	return nil, nil, errUsage
}

func (c *command) parse(args []string, log io.Writer) (*call, *command, error) {
	to := &call{}
	flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
	flags.SetOutput(log)
	flags.Usage = func() {
		fmt.Fprintf(log, "usage: %s\n%s\n", c.synopsis(), c.what)
		flags.PrintDefaults()
	}
	if c.flag != nil {
		c.flag(flags, to)
	}
	if err := flags.Parse(args); err != nil {
		return nil, nil, err
	}
	if n := flags.NArg(); n < c.min || n > c.max {
		fmt.Fprintf(log, "boltlog: %s with %d arguments\n", c.name, n)
		flags.Usage()
		return nil, nil, errUsage
	}
	to.args = flags.Args()
	return to, c, nil
}

func (c *command) synopsis() string {
	if c.flag != nil {
		return "boltlog " + c.name + " [FLAGS] " + c.args
	}
	return "boltlog " + c.name + " " + c.args
}

func usage(log io.Writer) {
	fmt.Fprint(log, usageTop)
	for _, c := range commands {
		fmt.Fprintf(log, "  %-8s %-14s %s\n", c.name, c.args, c.what)
	}
	fmt.Fprintln(log, "\nboltlog COMMAND -h tells the flags of a command.")
}
