package main

import (
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// TestOrderProperty is what the dispatcher promises, for receivers that do whatever they like for a while: every event is
// taken, or refused, or owed and reported; and what is taken is taken in order, also across dead letters, a full queue
// and replays.
func TestOrderProperty(t *testing.T) {
	acts := map[string]act{
		"take":     take,
		"503":      answer(503),
		"429":      comeBack(429, "3"),
		"422":      answer(422),
		"slow":     takeLate(300 * time.Millisecond),
		"too slow": takeLate(time.Hour),
		"silent":   takeSilently,
		"hangs up": hangUp,
	}
	names := []string{"audit", "billing", "crm"}
	rapid.Check(t, func(rt *rapid.T) {
		receivers := names[:rapid.IntRange(1, len(names)).Draw(rt, "receivers")]
		events := rapid.SliceOfN(rapid.SampledFrom(receivers), 1, 15).Draw(rt, "events")
		capacity := rapid.IntRange(1, 6).Draw(rt, "capacity")
		patience := rapid.SampledFrom([]time.Duration{time.Millisecond, time.Second, time.Hour}).Draw(rt, "patience")
		scripts := make([][]act, len(receivers))
		for i, r := range receivers {
			for _, name := range rapid.SliceOfN(rapid.SampledFrom(sortedNames(acts)), 0, 15).Draw(rt, r) {
				scripts[i] = append(scripts[i], acts[name])
			}
		}
		synctest.Test(t, func(t *testing.T) {
			n, s := newNetwork(), new(standins)
			var refusals refusals
			for i, r := range receivers {
				s.list = append(s.list, newStandin(n.serve, r, "", refusals.watch(script(scripts[i]...))))
			}
			defer s.close()
			p := rig(t, n, s).resetup(t, func(s *setup) { s.capacity, s.patience = capacity, patience })
			err := p.run(t.Context(), input(events...))

			got := p.ledger.sum()
			if err != nil && !errors.Is(err, errUndelivered) || (err == nil) != (got.owed == 0) {
				rt.Errorf("run = %v, with %d owed", err, got.owed)
			}
			if got.accepted != len(events) || got.accepted != got.delivered+got.refused+got.owed {
				rt.Errorf("of %d events: %+v", len(events), got)
			}
			ends := refusals.count
			for _, st := range s.list {
				testimony := st.inbox.testify()
				ends += testimony.taken
				for _, f := range testimony.faults {
					rt.Errorf("%s: %s", st.name, f)
				}
			}
			if ends < got.accepted-got.owed { // more is right: one that was taken and not answered may be refused later
				rt.Errorf("%d events taken or refused, of %+v", ends, got)
			}
		})
	})
}

func sortedNames(acts map[string]act) []string {
	var names []string
	for name := range acts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// refusals counts answers of 422.
type refusals struct {
	mu    sync.Mutex
	count int
}

func (f *refusals) watch(w weakness) weakness {
	return func(inbox http.Handler) http.Handler {
		weak := w(inbox)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			weak.ServeHTTP(&refusalWriter{w, f}, r)
		})
	}
}

type refusalWriter struct {
	http.ResponseWriter
	refusals *refusals
}

func (w *refusalWriter) WriteHeader(code int) {
	if code == http.StatusUnprocessableEntity {
		w.refusals.mu.Lock()
		w.refusals.count++
		w.refusals.mu.Unlock()
	}
	w.ResponseWriter.WriteHeader(code)
}
