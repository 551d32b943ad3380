package lane

import (
	"strings"
	"testing"
)

// newLane returns a lane that has been set up.
func newLane(workers int, aside bool) *Lane {
	l := new(Lane)
	l.Init(workers, aside)
	return l
}

// A stage is a lane whose items have names, for tests that tell a story.
type stage struct {
	*Lane
	t     *testing.T
	items map[string]*Item
}

func newStage(t *testing.T, workers int, aside bool) *stage {
	s := &stage{Lane: newLane(workers, aside), t: t, items: map[string]*Item{}}
	t.Cleanup(s.verify)
	return s
}

func (s *stage) verify() {
	s.t.Helper()
	if err := s.check(); err != nil {
		s.t.Error(err)
	}
}

// A spec is what a message is accepted with; its zero value is an ordinary one.
type spec struct {
	key      string
	priority int8
	due      int64
	expires  int64
}

// add accepts messages with the same spec, by name.
func (s *stage) add(x spec, names ...string) {
	for _, name := range names {
		it := &Item{Owner: name, Key: x.key, Priority: x.priority, Expires: x.expires}
		s.items[name] = it
		s.Add(it, x.due)
	}
}

// take hands the next item out and returns its name, or "" if it is nobody's turn.
func (s *stage) take() string {
	it := s.Next()
	if it == nil {
		return ""
	}
	s.Take(it)
	return nameOf(it)
}

// run takes and ends items until it is nobody's turn, and returns their names.
func (s *stage) run() string {
	var names []string
	for name := s.take(); name != ""; name = s.take() {
		names = append(names, name)
		s.Done(s.items[name])
	}
	return strings.Join(names, " ")
}

// poll brings the lane to a time, and returns what happened as names with a verb.
func (s *stage) poll(now int64) string {
	var events []string
	for {
		it, ev := s.Poll(now)
		switch ev {
		case Expired:
			events = append(events, nameOf(it)+" expired")
		case LeaseEnded:
			events = append(events, nameOf(it)+" lease ended")
		default:
			return strings.Join(events, ", ")
		}
	}
}

func (s *stage) want(what, got, want string) {
	s.t.Helper()
	s.verify()
	if got != want {
		s.t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func (s *stage) wantCounts(queued, delayed, running, parked int) {
	s.t.Helper()
	got := [4]int{s.Queued(), s.Delayed(), s.Running(), s.Parked()}
	if want := [4]int{queued, delayed, running, parked}; got != want {
		s.t.Errorf("queued, delayed, running, parked = %v, want %v", got, want)
	}
}

func nameOf(it *Item) string {
	if it == nil {
		return ""
	}
	return it.Owner.(string)
}
