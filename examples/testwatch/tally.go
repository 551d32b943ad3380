package main

import "time"

// A Tally is how far a run has come. Each one published is complete in itself, so only the newest matters.
type Tally struct {
	Passed, Failed, Skipped, Unfinished int // tests, subtests included
	PackagesPassed, PackagesFailed      int
	PackagesEmpty                       int // without tests
	BuildsFailed                        int
	Latest                              string // the test that began last
	First, Last                         time.Time
}

// failed reports whether anything stands against a good end.
func (t Tally) failed() bool {
	return t.Failed+t.Unfinished+t.PackagesFailed+t.BuildsFailed > 0
}

// elapsed returns the time from the first event to the last, zero if the stream has no times.
func (t Tally) elapsed() time.Duration { return max(0, t.Last.Sub(t.First)) }

// see takes note of an event's time.
func (t *Tally) see(at time.Time) {
	if at.IsZero() {
		return
	}
	if t.First.IsZero() {
		t.First = at
	}
	t.Last = at
}

// A Package is what is known of a package: a row of the table when it has ended.
type Package struct {
	Name            string
	Result          Action // pass, fail or skip
	Elapsed         float64
	Passed, Failed  int
	Skipped, Active int    // Active: tests that began and have not ended
	Note            string // such as "cached" or "build failed"
}
