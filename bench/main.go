// Bench compares herald with raw channels, and with other buses, in one process.
//
//	go run .                          everything; some ten minutes
//	go run . -run 'W1|W3' -rounds 5   some of it, without writing anything
//
// It prints a table. With everything run it also writes RESULTS.md and the plots in plots/, unless -o is empty.
//
// A round runs a slice of each system in turn, and a ratio is that of two slices of one round; what is printed is the median
// over the rounds. So a machine that is slower for a while, or shared, shifts both. Every slice counts what its
// handlers saw, by publisher and in order; a system that loses or reorders says so in its row.
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"time"
)

type config struct {
	rounds int
	slice  time.Duration
	run    *regexp.Regexp
	peers  bool
	dir    string
}

func main() {
	var c config
	flag.IntVar(&c.rounds, "rounds", 9, "how many rounds")
	flag.DurationVar(&c.slice, "time", 40*time.Millisecond, "about how long a slice of the raw channel takes")
	pattern := flag.String("run", "", "only workloads whose name matches this `regexp`")
	flag.BoolVar(&c.peers, "peers", true, "also run other buses")
	flag.StringVar(&c.dir, "o", ".", "where RESULTS.md and plots are written, if everything is run")
	flag.Parse()
	var err error
	if c.run, err = regexp.Compile(*pattern); err != nil || c.rounds < 1 || c.slice <= 0 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "bench: wrong arguments", err)
		flag.Usage()
		os.Exit(2)
	}
	if *pattern != "" {
		c.dir = ""
	}
	r := measureAll(c, os.Stdout)
	if c.dir == "" {
		return
	}
	if err := r.write(c.dir); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
