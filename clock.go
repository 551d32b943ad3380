package herald

import "time"

// epoch is what [clock] counts from. It's read once, so that every time
// inside the package is one monotonic number: times of different topics and
// subscriptions compare, and a step of the wall clock changes nothing. It lies
// a century back, so that the clock of a testing/synctest bubble, which starts
// in the year 2000 and has no monotonic reading, is above zero too.
var epoch = time.Now().Add(-100 * 365 * 24 * time.Hour)

// clock is the only place where the package reads the time: monotonic
// nanoseconds since epoch, always above zero. Inside a bubble it follows the
// bubble's clock.
func clock() int64 { return int64(time.Since(epoch)) }

// moment ties the package's clock to the wall clock at one instant.
type moment struct {
	wall time.Time
	mono int64
}

func newMoment() moment { return moment{wall: time.Now().Round(0), mono: clock()} }

// at is the wall-clock time of a reading of [clock]; zero stays zero.
func (m moment) at(mono int64) time.Time {
	if mono == 0 {
		return time.Time{}
	}
	return m.wall.Add(time.Duration(mono - m.mono))
}

// later is now plus d, kept from overflowing: a deadline in the far future
// stays in the far future.
func later(now int64, d time.Duration) int64 {
	const never = 1<<63 - 1
	if int64(d) > never-now {
		return never
	}
	return now + int64(d)
}

// clock is the reading of [clock] at a wall-clock time, the inverse of at.
func (m moment) clock(t time.Time) int64 {
	return later(m.mono, t.Sub(m.wall))
}
