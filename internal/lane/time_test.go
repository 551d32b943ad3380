package lane

import "testing"

func TestG22_InPlaceKeepsItsSlot(t *testing.T) {
	for name, tt := range map[string]struct {
		workers int
		key     string
	}{
		"one worker":        {1, ""},
		"one worker, keyed": {1, "k"},
		"unkeyed":           {2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, tt.workers, false)
			for range tt.workers - 1 {
				s.add(spec{}, "busy")
				s.take()
			}
			s.add(spec{key: tt.key}, "a")
			s.take()
			s.Retry(s.items["a"], 50, 10)
			s.add(spec{priority: 2}, "critical")
			s.wantCounts(1, 0, tt.workers-1, 1)
			s.want("nothing overtakes it", s.take(), "")
			if at := s.NextEvent(); at != 50 {
				t.Errorf("NextEvent = %d, want 50", at)
			}
			s.poll(50)
			s.want("not even a higher priority", s.take(), "a")
			s.Done(s.items["a"])
			s.want("then", s.run(), "critical")
		})
	}
}

func TestG22_AsideLetsOthersGoOn(t *testing.T) {
	for name, tt := range map[string]struct {
		workers int
		aside   bool
		key     string
	}{
		"aside, one worker": {1, true, ""},
		"aside, keyed":      {1, true, "k"},
		"keyed":             {2, false, "k"},
		"aside, unkeyed":    {2, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, tt.workers, tt.aside)
			s.add(spec{key: tt.key}, "a")
			s.add(spec{}, "b", "c")
			s.take()
			s.Retry(s.items["a"], 50, 10)
			s.wantCounts(2, 1, 0, 0)
			s.want("goes on", s.take(), "b")
			s.Done(s.items["b"])
			s.poll(50)
			s.want("then from its old place", s.run(), "a c")
		})
	}
}

func TestG22_RetryWithoutDelay(t *testing.T) {
	s := newStage(t, 1, false)
	s.add(spec{}, "a", "b")
	s.take()
	s.Retry(s.items["a"], 10, 10)
	s.wantCounts(1, 0, 0, 1)
	s.want("in place", s.run(), "a b")

	s = newStage(t, 1, true)
	s.add(spec{}, "a", "b")
	s.take()
	s.Retry(s.items["a"], 10, 10)
	s.wantCounts(2, 0, 0, 0)
	s.want("aside", s.run(), "a b")
}

func TestG22_ResumeInOrderOfDue(t *testing.T) {
	s := newStage(t, 3, false)
	s.add(spec{}, "a", "b", "c")
	for _, name := range []string{"a", "b", "c"} {
		s.want("take", s.take(), name)
	}
	s.Retry(s.items["a"], 30, 10)
	s.Retry(s.items["b"], 20, 10)
	s.Retry(s.items["c"], 20, 10)
	s.poll(40)
	s.want("order", s.run(), "b c a")
}

// TestG22_G33_SuspendAndReattach: a retry in place whose consumer went is Delayed, until there is one again.
func TestG22_G33_SuspendAndReattach(t *testing.T) {
	s := newStage(t, 2, false)
	s.add(spec{}, "a", "b")
	s.take()
	s.take()
	s.Retry(s.items["a"], 50, 10)
	s.Retry(s.items["b"], 10, 10)
	s.wantCounts(0, 0, 0, 2)
	s.Suspend()
	s.wantCounts(1, 1, 0, 0)
	if !s.HasRoom() {
		t.Error("no room without a consumer")
	}
	s.Reattach()
	s.wantCounts(0, 0, 0, 2)
	s.Suspend()
	s.poll(50)
	s.wantCounts(2, 0, 0, 0)
	s.add(spec{priority: 2}, "critical")
	s.Reattach()
	s.wantCounts(1, 0, 0, 2)
	s.want("they hold their slots", s.run(), "b a critical")
}

func TestG22_SuspendedIsOutOfFlight(t *testing.T) {
	for name, gone := range map[string]func(*stage){
		"evicted":   func(s *stage) { s.Remove(s.Victim()) },
		"discarded": func(s *stage) { s.Clear(func(*Item) {}) },
		"expired":   func(s *stage) { s.want("poll", s.poll(40), "a expired") },
		"taken":     func(s *stage) { s.poll(39); s.want("take", s.take(), "a"); s.Done(s.items["a"]) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, 1, false)
			s.add(spec{expires: 40}, "a")
			s.take()
			s.Retry(s.items["a"], 39, 10)
			s.Suspend()
			s.wantCounts(0, 1, 0, 0)
			gone(s)
			s.Reattach()
			s.wantCounts(0, 0, 0, 0)
			if !s.Empty() {
				t.Error("not empty")
			}
		})
	}
}

func TestG23_ExpiredNeverRuns(t *testing.T) {
	for name, tt := range map[string]struct {
		at   int64
		want string
	}{
		"before":  {29, ""},
		"exactly": {30, "a expired"},
		"after":   {31, "a expired"},
	} {
		t.Run(name, func(t *testing.T) {
			for where, put := range map[string]func(*stage){
				"queued":  func(s *stage) { s.add(spec{expires: 30}, "a") },
				"delayed": func(s *stage) { s.add(spec{expires: 30, due: 100}, "a") },
				"due":     func(s *stage) { s.add(spec{expires: 30, due: 30}, "a") },
				"parked": func(s *stage) {
					s.add(spec{expires: 30}, "a")
					s.take()
					s.Retry(s.items["a"], 30, 10)
				},
				"resumable": func(s *stage) {
					s.add(spec{expires: 30}, "a")
					s.take()
					s.Retry(s.items["a"], 10, 10)
				},
				"returned": func(s *stage) {
					s.add(spec{expires: 30}, "a")
					s.take()
					s.Return(s.items["a"])
				},
			} {
				s := newStage(t, 1, false)
				put(s)
				if at := s.NextEvent(); at != 30 {
					t.Errorf("%s: NextEvent = %d", where, at)
				}
				s.want(where, s.poll(tt.at), tt.want)
				if s.Empty() != (tt.want != "") {
					t.Errorf("%s: empty %v", where, s.Empty())
				}
			}
		})
	}
}

func TestG23_WhatRunsDoesNotExpire(t *testing.T) {
	s := newStage(t, 1, false)
	s.add(spec{expires: 30}, "a")
	s.take()
	s.want("poll", s.poll(30), "")
	if at := s.NextEvent(); at != 0 {
		t.Errorf("NextEvent = %d, want none", at)
	}
	s.Retry(s.items["a"], 30, 30)
	s.want("its retry does", s.poll(30), "a expired")
	s.want("then", s.take(), "")
}

// TestG23_B72_ALongTTLAtTheHeadShieldsNobody: expiry is noticed wherever an item stands.
func TestG23_B72_ALongTTLAtTheHeadShieldsNobody(t *testing.T) {
	s := newStage(t, 1, false)
	s.add(spec{}, "gate")
	s.take()
	s.add(spec{expires: 600}, "m1")
	s.add(spec{expires: 60}, "m2")
	s.add(spec{key: "k"}, "k1")
	s.add(spec{key: "k", expires: 60}, "k2")
	s.want("poll", s.poll(60), "m2 expired, k2 expired")
	if n := s.Len(); n != 2 {
		t.Errorf("Len = %d, want 2", n)
	}
	s.Done(s.items["gate"])
	s.want("then", s.run(), "m1 k1")
}

func TestG24_NotBeforeItsTimeAndTiesByAcceptance(t *testing.T) {
	s := newStage(t, 1, false)
	s.add(spec{due: 50}, "a")
	s.add(spec{due: 30}, "b")
	s.add(spec{due: 50}, "c")
	s.add(spec{due: 30, priority: 2}, "d")
	s.add(spec{}, "now")
	s.wantCounts(1, 4, 0, 0)
	s.poll(29)
	s.want("at 29", s.run(), "now")
	s.poll(30)
	s.add(spec{}, "later")
	s.want("at 30", s.run(), "d b later")
	s.poll(50)
	s.want("at 50", s.run(), "a c")
}

func TestG24_ADelayedMessageGetsItsPlaceWhenDue(t *testing.T) {
	s := newStage(t, 1, false)
	s.add(spec{key: "k", due: 20}, "delayed")
	s.add(spec{key: "k"}, "k1", "k2")
	s.Cut[1] = 5
	s.poll(20)
	if s.Before(s.items["delayed"], 4) || !s.Before(s.items["delayed"], 5) {
		t.Error("its place isn't that of the moment it was due")
	}
	s.want("order", s.run(), "k1 k2 delayed")
}

func TestG26_LeaseEnds(t *testing.T) {
	s := newStage(t, 1, true)
	s.add(spec{}, "a", "b")
	s.take()
	s.Lease(s.items["a"], 50)
	s.Lease(s.items["a"], 70)
	if at := s.NextEvent(); at != 70 {
		t.Errorf("NextEvent = %d, want 70", at)
	}
	s.want("extended", s.poll(69), "")
	s.want("over", s.poll(70), "a lease ended")
	s.wantCounts(1, 0, 1, 0)
	s.want("once", s.poll(1000), "")
	s.Retry(s.items["a"], 1100, 1000)
	s.want("meanwhile", s.run(), "b")
	s.poll(1100)
	s.want("again", s.take(), "a")
}

func TestG26_ASettledLeaseNeverEnds(t *testing.T) {
	for name, settle := range map[string]func(*stage){
		"done":     func(s *stage) { s.Done(s.items["a"]) },
		"returned": func(s *stage) { s.Return(s.items["a"]) },
		"failed":   func(s *stage) { s.Retry(s.items["a"], 1, 1) },
		"lifted":   func(s *stage) { s.Lease(s.items["a"], 0) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, 1, false)
			s.add(spec{}, "a")
			s.take()
			s.Lease(s.items["a"], 50)
			settle(s)
			s.want("poll", s.poll(100), "")
			if at := s.NextEvent(); at != 0 {
				t.Errorf("NextEvent = %d, want none", at)
			}
		})
	}
}
