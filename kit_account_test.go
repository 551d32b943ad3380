package herald_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heraldbus/herald"
)

// What the tests say about results.

// A tally is a SubStats without what isn't counted.
type tally struct {
	Offered, Filtered, Refused, Accepted, Replayed, Delivered, Dead, Dropped, Discarded, Queued, Delayed, InFlight uint64
}

// wantTally fails unless the account of s is want, and sound.
func wantTally[T any](t testing.TB, s *herald.Subscription[T], want tally) {
	t.Helper()
	n := s.Stats()
	checkSound(t, n)
	got := tally{n.Offered, n.Filtered, n.Refused, n.Accepted, n.Replayed,
		n.Delivered, n.Dead, n.Dropped, n.Discarded, n.Queued, n.Delayed, n.InFlight}
	wantEqual(t, want, got)
}

// checkSound fails unless both equations of G4 hold in s, and the tables add up.
func checkSound(t testing.TB, s herald.SubStats) {
	t.Helper()
	if in := s.Delivered + s.Dead + s.Dropped + s.Discarded + s.Queued + s.Delayed + s.InFlight; in != s.Accepted {
		t.Errorf("accepted %d, accounted for %d: %+v", s.Accepted, in, s)
	}
	if s.Offered+s.Replayed != s.Accepted+s.Filtered+s.Refused {
		t.Errorf("offered and replayed %d, accepted, filtered and refused %d: %+v",
			s.Offered+s.Replayed, s.Accepted+s.Filtered+s.Refused, s)
	}
	d := s.DeadBy
	if by := d.RetriesExhausted + d.Overflow + d.Expired + d.Permanent + d.FilterFailed + d.PolicyFailed; by != s.Dead {
		t.Errorf("dead %d, by reason %d: %+v", s.Dead, by, s)
	}
	if by := s.DroppedBy.Oldest + s.DroppedBy.Newest + s.DroppedBy.Superseded; by != s.Dropped {
		t.Errorf("dropped %d, by reason %d: %+v", s.Dropped, by, s)
	}
}

func wantEqual(t testing.TB, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// wantErr fails unless err is target.
func wantErr(t testing.TB, what string, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("%s = %v, want %v", what, err, target)
	}
}

// wantRefused fails unless err is a PublishError in which want says, by subscription, why.
func wantRefused(t testing.TB, err error, want map[string]error) {
	t.Helper()
	e, ok := errors.AsType[*herald.PublishError](err)
	if !ok {
		t.Errorf("Publish = %v, want a PublishError", err)
		return
	}
	if len(e.Refused) != len(want) {
		t.Errorf("Publish = %v, want %d refusals", err, len(want))
	}
	for _, r := range e.Refused {
		if why, ok := want[r.Subscription]; !ok || !errors.Is(r.Err, why) {
			t.Errorf("%s refused with %v, want %v", r.Subscription, r.Err, why)
		}
	}
}
