package store

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// The checks of this file say what is wrong with an argument, as
// [ErrInvalid]. Every store makes them before it changes anything, so that all
// stores refuse the same.

// CheckName checks the name of a topic or a subscription.
func CheckName(name string) error {
	const most = 1024
	if name == "" || len(name) > most {
		return invalid("a name of %d bytes, 1 to %d are allowed", len(name), most)
	}
	return nil
}

// Check checks settings against what a store can do.
func (s Settings) Check(c Capabilities) error {
	r := s.Retention
	if s.Dedupe < 0 || r.Count < 0 || r.Bytes < 0 || r.Age < 0 {
		return invalid("negative setting in %+v", s)
	}
	limited := r.Count != 0 || r.Bytes != 0 || r.Age != 0
	if r.Consumed && !limited {
		return invalid("Consumed without Count, Bytes or Age: a dead subscription would hold back all")
	}
	if limited && !c.Retention || s.Dedupe > 0 && !c.Dedupe {
		return fmt.Errorf("%w: %+v", ErrUnsupported, s)
	}
	return nil
}

// CheckAppend checks the records of an Append.
func CheckAppend(records []Record) error {
	return checkRecords(records, func(r *Record) error { return CheckTime(r.Time) })
}

// CheckDelay checks the records of a Delay.
func CheckDelay(records []Record) error {
	return checkRecords(records, func(r *Record) error { return CheckTime(r.Due) })
}

func checkRecords(records []Record, also func(*Record) error) error {
	if len(records) == 0 || len(records) > MaxBatch {
		return invalid("%d records, 1 to %d are allowed", len(records), MaxBatch)
	}
	for i := range records {
		err := records[i].check()
		if err == nil {
			err = also(&records[i])
		}
		if err != nil {
			return fmt.Errorf("record %d of %d: %w", i+1, len(records), err)
		}
	}
	return nil
}

func (r *Record) check() error {
	if len(r.Data) > MaxRecord {
		return invalid("Data of %d bytes, at most %d are allowed", len(r.Data), MaxRecord)
	}
	size := len(r.Key) + len(r.ID) + len(r.Codec)
	for _, h := range r.Headers {
		size += len(h.Key) + len(h.Value)
	}
	if size > MaxRecord || len(r.Headers) > math.MaxUint16 {
		return invalid("Key, ID, Codec and Headers of %d bytes", size)
	}
	if r.For != "" || r.Replays != 0 || r.Offset != 0 {
		return invalid("For, Replays and Offset are the store's")
	}
	for _, t := range []time.Time{r.Time, r.Due, r.Expires} {
		if !t.IsZero() && !keepable(t) {
			return invalid("a time in the year %d", t.Year())
		}
	}
	return nil
}

// CheckTime checks a time that must be given.
func CheckTime(t time.Time) error {
	if t.IsZero() || !keepable(t) {
		return invalid("time %v", t)
	}
	return nil
}

// CheckReplay checks the arguments of a Replay.
func CheckReplay(now time.Time, numbers []uint64) error {
	if len(numbers) == 0 || len(numbers) > MaxBatch {
		return invalid("%d letters, 1 to %d are allowed", len(numbers), MaxBatch)
	}
	sorted := slices.Sorted(slices.Values(numbers))
	if len(slices.Compact(sorted)) != len(numbers) {
		return invalid("a letter twice")
	}
	return CheckTime(now)
}

// keepable reports whether t survives being kept as nanoseconds since 1970,
// where zero stands for the zero time.
func keepable(t time.Time) bool {
	ns := t.UnixNano()
	return ns != 0 && time.Unix(0, ns).Equal(t)
}

// Check checks a commit on a log of these bounds by a subscription whose
// cursor was old.
func (c *Commit) Check(old Cursor, b Bounds) error {
	n := c.Cursor
	if n.Committed >= b.Next {
		return invalid("committed %d, the log ends before %d", n.Committed, b.Next)
	}
	if n.Committed < old.Committed && !c.Seek {
		return invalid("committed %d, was %d already", n.Committed, old.Committed)
	}
	if len(n.Ahead) > MaxAhead || len(n.Attempts) > MaxAhead || len(c.Dead) > MaxBatch {
		return invalid("%d ahead, %d attempts, %d letters: too many", len(n.Ahead), len(n.Attempts), len(c.Dead))
	}
	last := n.Committed
	for _, o := range n.Ahead {
		if o <= last || o >= b.Next {
			return invalid("offset %d ahead of %d", o, last)
		}
		last = o
	}
	for o, attempts := range n.Attempts {
		if o <= n.Committed || o >= b.Next || attempts < 1 || attempts > math.MaxInt32 {
			return invalid("%d attempts on record %d", attempts, o)
		}
		if _, ended := slices.BinarySearch(n.Ahead, o); ended {
			return invalid("attempts on record %d, which has ended", o)
		}
	}
	return nil
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalid, fmt.Sprintf(format, args...))
}
