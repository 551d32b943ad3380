package lane

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestG11_HighestPriorityThenLowestPlace(t *testing.T) {
	s := newStage(t, 1, false)
	s.add(spec{priority: 0}, "n1")
	s.add(spec{priority: -1}, "l1")
	s.add(spec{priority: 2}, "c1")
	s.add(spec{priority: 1}, "h1")
	s.add(spec{priority: 2}, "c2")
	s.add(spec{priority: -1}, "l2")
	s.add(spec{priority: 0}, "n2")
	s.want("order", s.run(), "c1 c2 h1 n1 n2 l1 l2")
}

func TestG11_ReadyAtThatMomentDecides(t *testing.T) {
	s := newStage(t, 1, false)
	s.add(spec{}, "n1", "n2")
	s.want("first", s.take(), "n1")
	s.add(spec{priority: 2}, "c1")
	s.want("no room", s.take(), "")
	s.Done(s.items["n1"])
	s.want("then", s.run(), "c1 n2")
}

func TestG11_AKeyRanksByItsHead(t *testing.T) {
	for workers := 1; workers <= 3; workers++ {
		s := newStage(t, workers, false)
		s.add(spec{key: "k", priority: -1}, "k-low")
		s.add(spec{key: "k", priority: 2}, "k-critical")
		s.add(spec{}, "n1")
		s.want("order", s.run(), "n1 k-low k-critical")
	}
}

func TestG12_OneOrderThroughBothLanes(t *testing.T) {
	// Level 1 sees, in this order: plain 0 and 1, a, plain 2, b and c.
	s := newStage(t, 2, false)
	s.Cut[1] = 2
	s.add(spec{}, "a")
	s.Cut[1] = 3
	s.add(spec{}, "b", "c")
	for _, tt := range []struct {
		name  string
		index uint64
		want  bool
	}{
		{"a", 0, false}, {"a", 1, false}, {"a", 2, true}, {"a", 3, true},
		{"b", 2, false}, {"b", 3, true}, {"c", 2, false}, {"c", 3, true},
	} {
		if got := s.Before(s.items[tt.name], tt.index); got != tt.want {
			t.Errorf("Before(%s, plain %d) = %v, want %v", tt.name, tt.index, got, tt.want)
		}
	}
}

func TestG12_AnAdoptedMessageKeepsItsPlace(t *testing.T) {
	s := newStage(t, 1, true)
	s.Cut[1] = 2 // plain 0 and 1
	s.add(spec{}, "a")
	s.Cut[1] = 3 // plain 2
	s.add(spec{}, "b")

	for i, name := range []string{"p0", "p1"} {
		it := &Item{Owner: name}
		s.items[name] = it
		s.Adopt(it, uint64(i))
		if name == "p0" {
			s.Retry(it, 20, 10)
			continue
		}
		s.Return(it)
	}
	s.poll(20)
	for name, want := range map[string][3]bool{"p0": {false, true, true}, "p1": {false, false, true}, "a": {false, false, true}} {
		got := [3]bool{s.Before(s.items[name], 0), s.Before(s.items[name], 1), s.Before(s.items[name], 2)}
		if got != want {
			t.Errorf("%s before plain 0, 1, 2: %v, want %v", name, got, want)
		}
	}
	s.want("order", s.run(), "p0 p1 a b")
}

// TestG12_B32_EqualPrioritiesAreStable: 5s in publish order, then 1s in publish order; still so after removals.
func TestG12_B32_EqualPrioritiesAreStable(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 32))
		s := newStage(t, 1, false)
		var high, low []string
		for i := range 100 {
			h, l := fmt.Sprintf("h%d", i), fmt.Sprintf("l%d", i)
			s.add(spec{priority: 1}, h)
			s.add(spec{priority: -1}, l)
			high, low = append(high, h), append(low, l)
		}
		for range 50 {
			from := &high
			if r.IntN(2) == 0 {
				from = &low
			}
			i := r.IntN(len(*from))
			s.Remove(s.items[(*from)[i]])
			*from = slices.Delete(*from, i, i+1)
		}
		for _, name := range append(high, low...) {
			if got := s.take(); got != name {
				t.Fatalf("seed %d: got %s, want %s", seed, got, name)
			}
			s.Done(s.items[name])
		}
	}
}

func TestG12_ReturnGivesThePlaceBack(t *testing.T) {
	s := newStage(t, 3, false)
	s.add(spec{}, "a", "b", "c", "d")
	s.take()
	s.take()
	s.take()
	s.add(spec{}, "e")
	for _, name := range []string{"b", "c", "a"} {
		s.Return(s.items[name])
	}
	s.want("order", s.run(), "a b c d e")
}

func TestG14_OneInFlightOfAKey(t *testing.T) {
	s := newStage(t, 3, false)
	s.add(spec{key: "a"}, "a1", "a2", "a3")
	s.add(spec{key: "b"}, "b1", "b2")
	s.add(spec{}, "x1")
	s.want("first", s.take(), "a1")
	s.want("second", s.take(), "b1")
	s.want("third", s.take(), "x1")
	s.Done(s.items["b1"])
	s.want("b1 is done", s.take(), "b2")
	s.Done(s.items["x1"])
	s.want("a1 runs", s.take(), "")
	s.Done(s.items["a1"])
	s.want("a1 is done", s.take(), "a2")
}

func TestG14_AKeyWaitsForItsRetryAndNoOtherDoes(t *testing.T) {
	s := newStage(t, 2, false)
	s.add(spec{key: "a"}, "a1", "a2")
	s.add(spec{key: "b"}, "b1", "b2")
	s.take()
	s.Retry(s.items["a1"], 50, 10)
	s.wantCounts(3, 1, 0, 0)
	s.want("meanwhile", s.run(), "b1 b2")
	s.add(spec{key: "a", priority: 2}, "a3")
	s.want("even Critical waits", s.take(), "")
	s.poll(49)
	s.want("too soon", s.take(), "")
	s.poll(50)
	s.want("then", s.run(), "a1 a2 a3")
}

func TestG14_AKeyIsReleasedWhenItsHolderGoes(t *testing.T) {
	for name, leave := range map[string]func(*stage){
		"removed": func(s *stage) { s.Remove(s.items["a1"]) },
		"expired": func(s *stage) { s.want("poll", s.poll(30), "a1 expired") },
		"ended":   func(s *stage) { s.poll(50); s.take(); s.Done(s.items["a1"]) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, 2, false)
			expires := int64(0)
			if name == "expired" {
				expires = 30
			}
			s.add(spec{key: "a", expires: expires}, "a1")
			s.add(spec{key: "a"}, "a2", "a3")
			s.take()
			s.Retry(s.items["a1"], 50, 10)
			leave(s)
			s.want("then", s.run(), "a2 a3")
			if s.Keys() != 0 || !s.Empty() {
				t.Errorf("keys %d, empty %v", s.Keys(), s.Empty())
			}
		})
	}
}

// TestG14_LongLines: lines longer than what stands in ready early, and a table that grows and shrinks, are in order.
func TestG14_LongLines(t *testing.T) {
	for _, keys := range []int{1, 3, 40, 5000} {
		t.Run(fmt.Sprint(keys), func(t *testing.T) {
			r := rand.New(rand.NewPCG(14, uint64(keys)))
			l := newLane(4, false)
			const n = 5000
			last := map[string]int{} // the message of each key that ran last
			inFlight := map[string]*Item{}
			order := map[*Item]int{}
			done := 0
			step := func() {
				for it := l.Next(); it != nil; it = l.Next() {
					if inFlight[it.Key] != nil || order[it] < last[it.Key] {
						t.Fatalf("key %q: %d after %d, in flight %v", it.Key, order[it], last[it.Key], inFlight[it.Key])
					}
					l.Take(it)
					inFlight[it.Key], last[it.Key] = it, order[it]
				}
				for key, it := range inFlight {
					delete(inFlight, key)
					if r.IntN(4) == 0 {
						l.Retry(it, 1, 2)
						continue
					}
					l.Done(it)
					done++
					break
				}
			}
			for i := range n {
				it := &Item{Key: fmt.Sprint("k", r.IntN(keys)), Priority: int8(r.IntN(4) - 1)}
				order[it] = i + 1
				l.Add(it, 0)
				if i%1000 == 999 {
					if err := l.check(); err != nil {
						t.Fatal(err)
					}
					step()
				}
			}
			for i := 0; done < n; i++ {
				step()
				if i%1000 == 999 {
					if err := l.check(); err != nil {
						t.Fatal(err)
					}
				}
			}
			if !l.Empty() || l.Keys() != 0 {
				t.Errorf("empty %v, %d keys", l.Empty(), l.Keys())
			}
		})
	}
}

func TestLatest(t *testing.T) {
	s := newStage(t, 2, false)
	s.want("unknown", nameOf(s.Latest("k")), "")
	s.add(spec{key: "k"}, "k1")
	s.want("head", nameOf(s.Latest("k")), "k1")
	s.add(spec{key: "k", due: 10}, "k-delayed")
	s.want("a delayed one isn't in line", nameOf(s.Latest("k")), "k1")
	s.take()
	s.want("what runs can't be superseded", nameOf(s.Latest("k")), "")
	s.add(spec{key: "k"}, "k2", "k3")
	s.want("last", nameOf(s.Latest("k")), "k3")
	s.poll(10)
	s.want("due", nameOf(s.Latest("k")), "k-delayed")
}

func TestSupersede(t *testing.T) {
	s := newStage(t, 1, false)
	s.add(spec{key: "k", expires: 10}, "k1")
	s.add(spec{}, "n1")
	s.add(spec{priority: 2}, "c1")

	s.Supersede(s.items["k1"], 0, 30)
	s.want("the old expiry is void", s.poll(10), "")
	s.want("its place is the old one, its age is not", nameOf(s.Victim()), "n1")
	s.Supersede(s.items["k1"], 2, 0)
	s.want("the second expiry, too", s.poll(30), "")
	s.want("order", s.run(), "k1 c1 n1")
}

func TestSupersedeStaysBehindPlainMessages(t *testing.T) {
	s := newStage(t, 1, false)
	s.add(spec{key: "k"}, "k1")
	s.Cut[3] = 7
	s.Supersede(s.items["k1"], 2, 0)
	if s.Before(s.items["k1"], 6) || !s.Before(s.items["k1"], 7) {
		t.Error("overtook a plain message that was there")
	}
}
