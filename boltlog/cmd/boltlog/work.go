package main

import (
	"fmt"

	"github.com/heraldbus/herald/boltlog"
)

// progressEvery is how many records lie between two lines of progress.
const progressEvery = 250_000

func verify(c *call) error {
	return c.look(func(s *boltlog.Store) error {
		next := uint64(progressEvery)
		topic := ""
		err := s.Verify(c.ctx, func(name string, records uint64) {
			if name != topic {
				topic, next = name, progressEvery
			}
			if records >= next {
				fmt.Fprintf(c.log, "verify: %s, %d records\n", name, records)
				next += progressEvery
			}
		})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(c.out, "ok")
		return err
	})
}

// compact opens the file as a program would: that alone makes Open compact it
// if it's worth it. Here it's done in any case.
func compact(c *call) (err error) {
	if err := c.look(func(*boltlog.Store) error { return nil }); err != nil {
		return err // a file that doesn't exist must not come into being
	}
	s, err := boltlog.Open(c.args[0])
	if err != nil {
		return err
	}
	err = s.Compact(c.ctx, func(values int) { fmt.Fprintf(c.log, "compact: %d values\n", values) })
	if closed := s.Close(); err == nil {
		err = closed
	}
	if err == nil {
		_, err = fmt.Fprintln(c.out, "ok")
	}
	return err
}
