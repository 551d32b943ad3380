package lane

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestG07_B26_TheOldestOfTheLowestIsTheVictim: one bound over all priorities, and the right message loses.
func TestG07_B26_TheOldestOfTheLowestIsTheVictim(t *testing.T) {
	s := newStage(t, 1, false)
	s.add(spec{}, "gate")
	s.take()
	var dropped []string
	offer := func(name string, priority int8) {
		if s.Len() == 3 {
			if low, ok := s.Lowest(); ok && low > priority {
				dropped = append(dropped, name)
				return
			}
			it := s.Victim()
			dropped = append(dropped, nameOf(it))
			s.Remove(it)
		}
		s.add(spec{priority: priority}, name)
	}
	offer("a", -1)
	offer("b", 0)
	offer("c", 0)
	offer("d", 1)
	offer("e", 2)
	offer("f", -1)
	if diff := cmp.Diff([]string{"a", "b", "f"}, dropped); diff != "" {
		t.Errorf("dropped, -want +got\n%s", diff)
	}
	s.Done(s.items["gate"])
	s.want("left", s.run(), "e d c")
}

func TestG07_InFlightIsNeverTheVictim(t *testing.T) {
	s := newStage(t, 3, false)
	s.add(spec{priority: -1}, "running", "parked")
	s.take()
	s.take()
	s.Retry(s.items["parked"], 50, 10)
	if it := s.Victim(); it != nil {
		t.Fatalf("victim %s of those in flight", nameOf(it))
	}
	s.add(spec{priority: -1, due: 90}, "delayed")
	s.add(spec{priority: -1}, "queued")
	s.want("victim", nameOf(s.Victim()), "delayed")
	s.Remove(s.items["delayed"])
	s.want("victim", nameOf(s.Victim()), "queued")

	s.Return(s.items["running"])
	s.want("what is back is as old as ever", nameOf(s.Victim()), "running")
}

func TestG07_AdoptedMessagesAreTheOldest(t *testing.T) {
	s := newStage(t, 3, true)
	s.add(spec{due: 50}, "side")
	for i, name := range []string{"p0", "p1", "p2"} {
		s.items[name] = &Item{Owner: name}
		s.Adopt(s.items[name], uint64(i))
	}
	for _, name := range []string{"p1", "p2", "p0"} {
		s.Retry(s.items[name], 50, 10)
	}
	var victims []string
	for s.Len() > 0 {
		it := s.Victim()
		victims = append(victims, nameOf(it))
		s.Remove(it)
	}
	if diff := cmp.Diff([]string{"p0", "p1", "p2", "side"}, victims); diff != "" {
		t.Errorf("victims, -want +got\n%s", diff)
	}
}

func TestG32_ClearLeavesWhatIsInFlight(t *testing.T) {
	s := newStage(t, 3, false)
	s.add(spec{key: "a"}, "running", "behind")
	s.add(spec{}, "parked")
	s.take()
	s.take()
	s.Retry(s.items["parked"], 50, 10)
	s.add(spec{due: 20, priority: 1}, "delayed")
	s.add(spec{expires: 90}, "queued")
	var got []string
	s.Clear(func(it *Item) {
		if err := checkFree(it); err != nil {
			t.Error(err)
		}
		got = append(got, nameOf(it))
	})
	slices.Sort(got)
	if diff := cmp.Diff([]string{"behind", "delayed", "queued"}, got); diff != "" {
		t.Errorf("cleared, -want +got\n%s", diff)
	}
	s.wantCounts(0, 0, 1, 1)
}

func TestACallInTheWrongStateIsABug(t *testing.T) {
	running := func(s *stage) { s.add(spec{}, "a"); s.take() }
	queued := func(s *stage) { s.add(spec{}, "a") }
	for name, tt := range map[string]struct {
		put, call func(*stage)
	}{
		"Add queued":        {queued, func(s *stage) { s.Add(s.items["a"], 0) }},
		"Adopt queued":      {queued, func(s *stage) { s.Adopt(s.items["a"], 0) }},
		"Take running":      {running, func(s *stage) { s.Take(s.items["a"]) }},
		"Done queued":       {queued, func(s *stage) { s.Done(s.items["a"]) }},
		"Return queued":     {queued, func(s *stage) { s.Return(s.items["a"]) }},
		"Retry queued":      {queued, func(s *stage) { s.Retry(s.items["a"], 1, 1) }},
		"Lease queued":      {queued, func(s *stage) { s.Lease(s.items["a"], 1) }},
		"Remove running":    {running, func(s *stage) { s.Remove(s.items["a"]) }},
		"Supersede running": {running, func(s *stage) { s.Supersede(s.items["a"], 0, 0) }},
		"Adopt keyed":       {queued, func(s *stage) { s.Adopt(&Item{Key: "k"}, 0) }},
		"Take of one behind its key": {
			func(s *stage) { s.add(spec{key: "k"}, "k", "a") },
			func(s *stage) { s.Take(s.items["a"]) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, 1, false)
			tt.put(s)
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			tt.call(s)
		})
	}
}
