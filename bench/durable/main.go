// Durable compares what a durable publish costs: with boltlog, with bbolt's own
// Batch, with an embedded NATS JetStream that syncs always, and, as the limit, with
// appending the same bytes to a file and one fsync for all publishers at once.
//
//	go run .                       all, some minutes; writes RESULTS.md
//	go run . -rounds 1 -time 1s    a short look, without writing anything
//
// A round runs each system in turn, with each number of publishers, on files of
// its own in the same folder (-dir). A ratio is that of two rates of one round, so
// a disk that is slower for a while shifts both; what is printed is the median over the rounds, and the
// least and the greatest. Every publisher waits until its record is durable
// before it makes the next. Afterwards each system is asked how many records it has: one
// that lost some says so.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

type config struct {
	rounds int
	slice  time.Duration
	dir    string
	out    string
}

func main() {
	var c config
	flag.IntVar(&c.rounds, "rounds", 5, "how many rounds")
	flag.DurationVar(&c.slice, "time", 3*time.Second, "how long a system publishes in a round")
	flag.StringVar(&c.dir, "dir", "", "the folder whose disk is measured; empty: a temporary one")
	flag.StringVar(&c.out, "o", "RESULTS.md", "the file for the results, if rounds and time are not changed; empty: none")
	flag.Parse()
	if c.rounds < 1 || c.slice <= 0 || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	flag.Visit(func(f *flag.Flag) {
		if f.Name == "rounds" || f.Name == "time" {
			c.out = ""
		}
	})
	if err := run(c); err != nil {
		fmt.Fprintln(os.Stderr, "durable:", err)
		os.Exit(1)
	}
}

func run(c config) error {
	root, err := os.MkdirTemp(c.dir, "durable")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	r := &report{config: c}
	if err := r.measure(root, os.Stderr); err != nil {
		return err
	}
	if c.out == "" {
		return r.write(os.Stdout)
	}
	f, err := os.Create(c.out)
	if err != nil {
		return err
	}
	if err := r.write(io.MultiWriter(os.Stdout, f)); err != nil {
		return err
	}
	return f.Close()
}
