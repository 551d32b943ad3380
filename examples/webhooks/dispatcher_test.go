package main

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// rig makes a program whose receivers are s, with exact delays of 100 ms, 200 ms and so on between four attempts of at
// most a second.
func rig(t *testing.T, n *network, s *standins) *program {
	t.Helper()
	base := demoSetup(n.client(), time.Hour)
	base.receivers = s.receivers()
	base.timeout = time.Second
	base.retry = policy.Exponential{Attempts: 4, Base: 100 * time.Millisecond, Max: time.Minute}
	p, err := newProgram(base, s, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// resetup gives p another setup; what it has done is forgotten.
func (p *program) resetup(t *testing.T, change func(*setup)) *program {
	t.Helper()
	base := p.setup
	change(&base)
	q, err := newProgram(base, p.standins, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// TestAnswers proves of each answer whether it's tried again, and when.
func TestAnswers(t *testing.T) {
	const ms = time.Millisecond
	refused, owed := balance{accepted: 1, refused: 1}, balance{accepted: 1, owed: 1}
	delivered := balance{accepted: 1, delivered: 1}
	for name, c := range map[string]struct {
		acts []act
		want []time.Duration // when there was a request
		end  balance
	}{
		"200":           {acts: []act{answer(200)}, want: []time.Duration{0}, end: delivered},
		"503":           {acts: []act{answer(503)}, want: []time.Duration{0, 100 * ms}, end: delivered},
		"three times":   {acts: []act{answer(500), answer(502), answer(504)}, want: []time.Duration{0, 100 * ms, 300 * ms, 700 * ms}, end: delivered},
		"408":           {acts: []act{answer(408)}, want: []time.Duration{0, 100 * ms}, end: delivered},
		"425":           {acts: []act{answer(425)}, want: []time.Duration{0, 100 * ms}, end: delivered},
		"400":           {acts: []act{answer(400)}, want: []time.Duration{0}, end: refused},
		"410":           {acts: []act{answer(410)}, want: []time.Duration{0}, end: refused},
		"410 at last":   {acts: []act{answer(500), answer(410)}, want: []time.Duration{0, 100 * ms}, end: refused},
		"redirect":      {acts: []act{answer(308)}, want: []time.Duration{0}, end: refused},
		"429":           {acts: []act{answer(429)}, want: []time.Duration{0, 100 * ms}, end: delivered},
		"429 and when":  {acts: []act{comeBack(429, "7")}, want: []time.Duration{0, 7 * time.Second}, end: delivered},
		"503 and when":  {acts: []act{comeBack(503, "2")}, want: []time.Duration{0, 2 * time.Second}, end: delivered},
		"at once":       {acts: []act{comeBack(429, "0")}, want: []time.Duration{0, 0}, end: delivered},
		"in a year":     {acts: []act{comeBack(429, "31536000")}, want: []time.Duration{0, time.Minute}, end: delivered},
		"out of bounds": {acts: []act{comeBack(429, "9223372036854775807")}, want: []time.Duration{0, time.Minute}, end: delivered},
		"yesterday":     {acts: []act{comeBack(429, "-1")}, want: []time.Duration{0, 100 * ms}, end: delivered},
		"some day":      {acts: []act{comeBack(429, "soon")}, want: []time.Duration{0, 100 * ms}, end: delivered},
		"hangs up":      {acts: []act{hangUp}, want: []time.Duration{0, 100 * ms}, end: delivered},
		"timeout":       {acts: []act{takeLate(time.Hour)}, want: []time.Duration{0, 1100 * ms}, end: delivered},
		"always 429": { // four attempts, then the replay's four
			acts: repeat(comeBack(429, "1"), 8),
			want: []time.Duration{0, 1000 * ms, 2000 * ms, 3000 * ms, 3000 * ms, 4000 * ms, 5000 * ms, 6000 * ms},
			end:  owed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, start := newNetwork(), time.Now()
				var got []time.Duration
				w := func(inbox http.Handler) http.Handler {
					scripted := script(c.acts...)(inbox)
					return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						got = append(got, time.Since(start)) // requests of one receiver don't overlap
						scripted.ServeHTTP(w, r)
					})
				}
				s := &standins{list: []*standin{newStandin(n.serve, "crm", "", w)}}
				defer s.close()
				p := rig(t, n, s)
				if err := p.run(t.Context(), input("crm")); (err == nil) != c.end.settled() {
					t.Errorf("run = %v", err)
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
				if got := p.ledger.sum(); got != c.end {
					t.Errorf("balance = %+v, want %+v", got, c.end)
				}
			})
		})
	}
}

func repeat[E any](e E, n int) []E { return slices.Repeat([]E{e}, n) }

// TestNobodyHoldsUpOthers proves that a receiver gets its events at once, while another is slow, a third down and a
// fourth doesn't answer.
func TestNobodyHoldsUpOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, start := newNetwork(), time.Now()
		var got []time.Duration
		healthyAt := func(inbox http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got = append(got, time.Since(start))
				inbox.ServeHTTP(w, r)
			})
		}
		s := new(standins)
		defer s.close()
		s.list = []*standin{
			newStandin(n.serve, "slow", "", slow(900*time.Millisecond, 0)),
			newStandin(n.serve, "down", "", down(&s.recovered)),
			newStandin(n.serve, "mute", "", script(repeat(takeLate(time.Hour), 4)...)),
			newStandin(n.serve, "audit", "", healthyAt),
		}
		in := input("slow", "down", "mute", "slow", "down", "mute", "audit", "audit", "audit")
		p := rig(t, n, s)
		if err := p.run(t.Context(), in); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(make([]time.Duration, 3), got); diff != "" {
			t.Errorf("requests to the healthy one (-want +got):\n%s", diff)
		}
		if want := (balance{accepted: 9, delivered: 9}); p.ledger.sum() != want {
			t.Errorf("balance = %+v, want %+v", p.ledger.sum(), want)
		}
		checkInboxes(t, s)
	})
}

// TestFullQueue proves that an input waits for room, and that what finds none in time is owed: nothing of its receiver
// goes ahead of it.
func TestFullQueue(t *testing.T) {
	late, outage := slow(time.Second/2, 0), script(repeat(answer(503), 4)...)
	for name, c := range map[string]struct {
		weakness  weakness
		patience  time.Duration
		low, high uint64 // how many find no room in time
	}{
		"patient":              {weakness: late, patience: time.Hour},
		"impatient":            {weakness: late, patience: time.Millisecond, low: 8, high: 8}, // of ten, one is under way and one waits
		"the first dies later": {weakness: outage, patience: time.Millisecond, low: 8, high: 9},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork()
				s := &standins{list: []*standin{newStandin(n.serve, "search", "", c.weakness)}}
				defer s.close()
				p := rig(t, n, s).resetup(t, func(s *setup) { s.capacity, s.patience = 1, c.patience })
				if err := p.run(t.Context(), input(repeat("search", 10)...)); err != nil {
					t.Error(err)
				}
				if want := (balance{accepted: 10, delivered: 10}); p.ledger.sum() != want {
					t.Errorf("balance = %+v, want %+v", p.ledger.sum(), want)
				}
				if got := p.deliver.Stats().DeadBy.Overflow; got < c.low || got > c.high {
					t.Errorf("%d overflowed, want %d to %d", got, c.low, c.high)
				}
				checkInboxes(t, s)
			})
		})
	}
}

// TestHopelessLeaveRoom proves that the letters of a receiver that stays down don't keep those of others from being
// delivered, though there are more of them than the queue has room for, and they're older.
func TestHopelessLeaveRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		s := new(standins)
		defer s.close()
		s.list = []*standin{
			newStandin(n.serve, "stock", "", script(repeat(answer(502), 100)...)),
			newStandin(n.serve, "crm", "", script(repeat(answer(503), 4)...)),
		}
		p := rig(t, n, s).resetup(t, func(s *setup) { s.capacity = 3 })
		in := input(append(repeat("stock", 10), repeat("crm", 5)...)...)
		if err := p.run(t.Context(), in); !errors.Is(err, errUndelivered) {
			t.Errorf("run = %v, want %v", err, errUndelivered)
		}
		if want := (balance{accepted: 5, delivered: 5}); p.ledger.of("crm") != want {
			t.Errorf("balance = %+v, want %+v", p.ledger.of("crm"), want)
		}
		if want := (balance{accepted: 10, owed: 10}); p.ledger.of("stock") != want {
			t.Errorf("balance = %+v, want %+v", p.ledger.of("stock"), want)
		}
		checkInboxes(t, s)
	})
}

// TestTooManyLetters proves that what nobody has room to keep is counted as lost, and holds up nothing.
func TestTooManyLetters(t *testing.T) {
	n := newNetwork()
	s := &standins{list: []*standin{newStandin(n.serve, "crm", "", healthy)}}
	defer s.close()
	p := rig(t, n, s)
	letter := herald.DeadLetter[Event]{Err: errors.New("down")}
	letter.Key = "crm"
	for letter.Seq = 1; letter.Seq <= letterLimit; letter.Seq++ {
		if err := p.bury(letter); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.bury(letter); err == nil {
		t.Error("no error for a letter too many")
	}
	if got := p.ledger.of("crm"); got.owed != letterLimit || got.lost != 1 || p.dead.Evicted() != 0 {
		t.Errorf("balance = %+v, evicted %d", got, p.dead.Evicted())
	}
}

// TestWrongSecret proves that a receiver takes nothing that isn't signed by its own secret.
func TestWrongSecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		s := &standins{list: []*standin{newStandin(n.serve, "crm", "", healthy)}}
		defer s.close()
		p := rig(t, n, s).resetup(t, func(s *setup) { s.receivers[0].Secret = Secret("guess") })
		if err := p.run(t.Context(), input("crm")); err != nil {
			t.Error(err)
		}
		if want := (balance{accepted: 1, refused: 1}); p.ledger.sum() != want {
			t.Errorf("balance = %+v, want %+v", p.ledger.sum(), want)
		}
		if got := s.list[0].inbox.testify(); got.taken != 0 || len(got.faults) != 1 {
			t.Errorf("the receiver says %+v", got)
		}
	})
}

// TestLetterErrors proves that a dead letter says why there was no answer, without the receiver's address.
func TestLetterErrors(t *testing.T) {
	for want, closed := range map[string]bool{"connection refused": true, "attempt timed out after 1s": false} {
		synctest.Test(t, func(t *testing.T) {
			n := newNetwork()
			s := &standins{list: []*standin{newStandin(n.serve, "crm", "", slow(time.Hour, 0))}}
			defer s.close()
			p := rig(t, n, s)
			if closed {
				s.close()
			}
			if err := p.run(t.Context(), input("crm")); !errors.Is(err, errUndelivered) {
				t.Errorf("run = %v, want %v", err, errUndelivered)
			}
			for l := range p.dead.All() {
				if text := l.Err.Error(); l.Attempt != 4 || !strings.Contains(text, want) || strings.Contains(text, "http://") {
					t.Errorf("attempt %d: %s, want %s", l.Attempt, text, want)
				}
			}
			if p.dead.Len() != 1 {
				t.Errorf("%d letters, want 1", p.dead.Len())
			}
		})
	}
}
