package sim

// A search is the strategy that tries all schedules with at most so many
// preemptions, one in each run, depth first.
type search struct {
	bound    int // < 0: none
	path     []node
	depth    int
	used     int // preemptions so far in this run
	diverged int // choices that weren't the same when they came again
	strayed  bool
}

// A node is one choice on the path from the beginning.
type node struct {
	taken, n int
	goesOn   bool
	used     int // preemptions before it
	sign     uint64
}

func (s *search) choose(c *choice) int {
	if s.depth == len(s.path) {
		s.path = append(s.path, node{n: len(c.ids), goesOn: c.goesOn, used: s.used, sign: c.sign()})
	}
	d := &s.path[s.depth]
	if d.sign != c.sign() && !s.strayed {
		s.diverged++
		s.strayed = true // and what follows is another tree
	}
	s.depth++
	if d.taken >= len(c.ids) {
		return 0
	}
	if d.goesOn && d.taken > 0 {
		s.used++
	}
	return d.taken
}

// next prepares the next run. False: all have been made.
func (s *search) next() bool {
	if s.depth < len(s.path) && !s.strayed {
		s.diverged++ // it ended too early
	}
	s.depth, s.used, s.strayed = 0, 0, false
	for len(s.path) > 0 {
		d := &s.path[len(s.path)-1]
		d.taken++
		if d.taken < d.n && (!d.goesOn || s.bound < 0 || d.used < s.bound) {
			return true
		}
		s.path = s.path[:len(s.path)-1]
	}
	return false
}
