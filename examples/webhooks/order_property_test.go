package main

import (
	"errors"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// A season is what a rapid check draws: receivers that do whatever they like for a while, and a queue that may be short.
type season struct {
	plays    map[string]*play // by receiver
	events   []string         // their receivers
	capacity int
	patience time.Duration
}

// acts are what a receiver may like. Failures that are tried again have the majority, so that events die of them.
var acts = []act{
	take, takeLate(300 * time.Millisecond), takeLate(time.Hour), takeSilently,
	answer(http.StatusServiceUnavailable), answer(http.StatusBadGateway), hangUp, comeBack(http.StatusTooManyRequests, "3"),
	answer(http.StatusUnprocessableEntity),
}

func drawSeason(t *rapid.T) season {
	names := []string{"audit", "billing", "crm"}[:rapid.IntRange(1, 3).Draw(t, "receivers")]
	s := season{
		plays:    map[string]*play{},
		events:   rapid.SliceOfN(rapid.SampledFrom(names), 1, 15).Draw(t, "events"),
		capacity: rapid.IntRange(1, 6).Draw(t, "capacity"),
		patience: rapid.SampledFrom([]time.Duration{time.Millisecond, time.Second, time.Hour}).Draw(t, "patience"),
	}
	for _, name := range names {
		s.plays[name] = new(play)
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(acts)-1), 0, 20).Draw(t, name) {
			s.plays[name].acts = append(s.plays[name].acts, acts[i])
		}
	}
	return s
}

// TestOrderProperty is what the dispatcher promises: every event is delivered, or refused, or owed and reported, and owed
// only if its receiver failed to the last; and a receiver gets what it gets in order, also across dead letters, a full
// queue and replays.
func TestOrderProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		season := drawSeason(rt)
		synctest.Test(t, func(t *testing.T) { season.check(t, rt) })
	})
}

func (s season) check(t *testing.T, rt *rapid.T) {
	n, stand := newNetwork(), new(standins)
	for name, p := range s.plays {
		stand.list = append(stand.list, newStandin(n.serve, name, "", p.weakness))
	}
	defer stand.close()
	p := rig(t, n, stand).resetup(t, func(base *setup) { base.capacity, base.patience = s.capacity, s.patience })
	err := p.run(t.Context(), input(s.events...))

	sum := p.ledger.sum()
	if err != nil && !errors.Is(err, errUndelivered) || (err == nil) != (sum.owed == 0) {
		rt.Errorf("run = %v, with %d owed", err, sum.owed)
	}
	if want := (balance{accepted: len(s.events), delivered: sum.delivered, refused: sum.refused, owed: sum.owed}); sum != want {
		rt.Errorf("of %d events: %+v", len(s.events), sum)
	}
	for _, st := range stand.list {
		s.checkReceiver(rt, st, p.ledger.of(st.name))
	}
}

func (s season) checkReceiver(t *rapid.T, st *standin, b balance) {
	testimony := st.inbox.testify()
	for _, f := range testimony.faults {
		t.Errorf("%s: %s", st.name, f)
	}
	want := len(slices.DeleteFunc(slices.Clone(s.events), func(name string) bool { return name != st.name }))
	if b.accepted != want {
		t.Errorf("%s: %d accepted, want %d", st.name, b.accepted, want)
	}
	if testimony.taken < b.delivered { // more is right: an answer may get lost, and the repeat be refused
		t.Errorf("%s: %d taken, %d delivered", st.name, testimony.taken, b.delivered)
	}
	if b.owed > 0 && s.plays[st.name].isOver() {
		t.Errorf("%s: %d owed, though it's healthy", st.name, b.owed)
	}
}
