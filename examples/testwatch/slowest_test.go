package main

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/heraldbus/herald"
)

// TestSlowestProperty compares the list with sorting everything.
func TestSlowestProperty(t *testing.T) {
	event := rapid.Custom(func(t *rapid.T) Event {
		return Event{
			Package: rapid.SampledFrom([]string{"p", "q"}).Draw(t, "package"),
			Test:    rapid.SampledFrom([]string{"T", "U", "V"}).Draw(t, "test"),
			Elapsed: float64(rapid.IntRange(0, 5).Draw(t, "elapsed")),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(event, 0, 40).Draw(t, "events")
		var s slowest
		for _, e := range all {
			if err := s.handle(t.Context(), herald.Message[Event]{Payload: e}); err != nil {
				t.Fatal(err)
			}
		}
		slices.SortFunc(all, bySlowness)
		want := slices.DeleteFunc(all, func(e Event) bool { return e.Elapsed == 0 })
		want = want[:min(len(want), slowestLimit)]
		if diff := cmp.Diff(append([]Event{}, want...), append([]Event{}, s.tests...)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}
