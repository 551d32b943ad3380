package letters

import (
	"context"
	"slices"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A fake is a letter without a home.
type fake struct {
	name     int
	replayed bool
}

func (f *fake) Replayed() bool { return f.replayed }

func (f *fake) Replay(context.Context) error {
	f.replayed = true
	return nil
}

// G28: while a letter is being moved it's nobody's to purge; if it's pushed out
// then, it's evicted, once, unless a mover succeeds. (Package dlq has the
// other tests.)
func TestG28_PushedOutWhileMoved(t *testing.T) {
	for _, replayed := range []bool{false, true} {
		var s Store[*fake]
		s.Put(&fake{name: 1}, 1)
		l := s.first
		for range 2 {
			if !s.beginMove(l) {
				t.Fatal("not stored")
			}
		}
		if n := s.Purge(nil); n != 0 || s.Len() != 1 {
			t.Errorf("purged %d, left %d", n, s.Len())
		}
		s.Put(&fake{name: 2}, 1)
		if s.Len() != 1 || s.Evicted() != 0 {
			t.Errorf("during: has %d, evicted %d", s.Len(), s.Evicted())
		}
		s.endMove(l)
		want := uint64(1)
		if replayed {
			want = 0
			_ = l.letter.Replay(t.Context())
		}
		s.endMove(l)
		if s.beginMove(l) {
			t.Error("what was pushed out is moved again")
		}
		left := slices.Collect(s.All())
		if len(left) != 1 || left[0].name != 2 || s.Evicted() != want {
			t.Errorf("replayed: %t, evicted %d, left %v", replayed, s.Evicted(), left)
		}
		if err := s.Check(1); err != nil {
			t.Error(err)
		}
	}
}
