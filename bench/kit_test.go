package main

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"
)

// Every system sees every message of every workload that it's compared on;
// those that promise order keep it.
func TestSystems(t *testing.T) {
	unordered := map[string]bool{"watermill gochannel": true, "gocloud mempubsub": true}
	systems := append([]system{{name: "raw channel", start: rawChannels}, {name: "map of channels", start: handWritten}, {name: "herald", start: heraldBus}}, peers...)
	for _, s := range systems {
		for _, w := range workloads {
			if s.slow > 0 && !w.peers {
				continue
			}
			t.Run(s.name+"/"+w.name, func(t *testing.T) {
				n := 64
				r := s.run(w, n)
				if want := n * w.publishers * w.subscriptions; r.messages != want || r.lost != 0 {
					t.Errorf("%d of %d deliveries, %d lost", r.messages, want, r.lost)
				}
				byKey := w.keys > 0 && s.name != "herald" // channels with several receivers don't know keys
				if r.reordered != 0 && !unordered[s.name] && !byKey {
					t.Errorf("%d deliveries out of order", r.reordered)
				}
			})
		}
	}
}

// A checker notices what is lost, doubled and out of order.
func TestChecker(t *testing.T) {
	broken := func(publish func(seen *checker)) slice {
		s := system{start: func(_ workload, checks []checker) bus {
			return bus{publish: func(int, int) { publish(&checks[0]) }, finish: func() {}}
		}}
		return s.run(workload{publishers: 1, subscriptions: 1}, 3)
	}
	see := func(c *checker, numbers ...int) {
		for _, i := range numbers {
			p := tagged(0, i)
			c.see(&p)
		}
	}
	for _, test := range []struct {
		name            string
		seen            []int
		lost, reordered int
	}{
		{"all well", []int{0, 1, 2}, 0, 0},
		{"one lost", []int{0, 2}, 1, 0},
		{"one twice", []int{0, 1, 1, 2}, 1, 1},
		{"two swapped", []int{1, 0, 2}, 0, 1},
	} {
		r := broken(func(c *checker) { see(c, test.seen...) })
		if r.lost != test.lost || r.reordered != test.reordered {
			t.Errorf("%s: %d lost and %d out of order, want %d and %d", test.name, r.lost, r.reordered, test.lost, test.reordered)
		}
	}
}

// A checker that several workers share goes by key: here there are two, which
// take turns.
func TestCheckerByKey(t *testing.T) {
	for _, test := range []struct {
		name      string
		seen      []int
		reordered int
	}{
		{"in order", []int{0, 1, 2, 3}, 0},
		{"another key overtakes", []int{1, 3, 0, 2}, 0},
		{"the same key overtakes", []int{2, 1, 0, 3}, 1},
		{"twice", []int{0, 0}, 1},
	} {
		c := checker{shared: newShared(2)}
		for _, i := range test.seen {
			p := tagged(0, i)
			c.see(&p)
		}
		if seen, reordered := c.result(); seen != len(test.seen) || reordered != test.reordered {
			t.Errorf("%s: %d seen and %d out of order, want %d and %d", test.name, seen, reordered, len(test.seen), test.reordered)
		}
	}
}

// A slow system has fewer messages in a slice, but enough to be judged by.
func TestMessages(t *testing.T) {
	w := workload{publishers: 2, subscriptions: 4}
	for _, test := range []struct {
		s       system
		n, want int
	}{{system{}, 5000, 5000}, {system{slow: 10}, 5000, 500}, {system{slow: 100}, 5000, 100}, {system{slow: 10, least: 8000}, 5000, 1000}} {
		if got := test.s.messages(w, test.n); got != test.want {
			t.Errorf("slow %d, least %d: %d messages of %d, want %d", test.s.slow, test.s.least, got, test.n, test.want)
		}
	}
}

func TestQuantile(t *testing.T) {
	for _, test := range []struct {
		xs   []float64
		part float64
		want float64
	}{
		{nil, .5, 0}, {[]float64{3}, .25, 3}, {[]float64{9, 1, 5}, .5, 5}, {[]float64{4, 1, 2, 9}, .5, 3},
		{[]float64{5, 4, 3, 2, 1}, .25, 2}, {[]float64{5, 4, 3, 2, 1}, .75, 4}, {[]float64{1, 3}, 1, 3},
	} {
		if got := quantile(test.xs, test.part); got != test.want {
			t.Errorf("%v quantile of %v is %v, want %v", test.part, test.xs, got, test.want)
		}
	}
}

// A ratio is that of slices of one round, so a round in which the machine was
// slow counts like any other.
func TestSummarizeByRound(t *testing.T) {
	of := func(ns ...int) (ss []slice) {
		for _, n := range ns {
			ss = append(ss, slice{messages: 1, wall: time.Duration(n), cpu: time.Duration(n)})
		}
		return ss
	}
	r := summarize(row{workload: workload{subscriptions: 1}}, of(20, 200, 2000), of(10, 100, 1000))
	if r.wall != 2 || r.cpu != 2 || r.ns != 200 {
		t.Errorf("ratio %v, %v, and %v ns; want 2, 2, 200", r.wall, r.cpu, r.ns)
	}
}

func TestVerdict(t *testing.T) {
	w := workload{must: [2]float64{1, 0}, aim: [2]float64{.5, .8}}
	for _, test := range []struct {
		procs int
		wall  float64
		want  string
	}{{1, .5, "aim"}, {1, 1, "must"}, {1, 1.01, "MISSED"}, {2, .8, "aim"}, {2, .9, "aim missed"}} {
		if got := (row{workload: w, procs: test.procs, wall: test.wall}).verdict(); got != test.want {
			t.Errorf("%v at %d: %q, want %q", test.wall, test.procs, got, test.want)
		}
	}
}

// A row says what went wrong, however rarely.
func TestNote(t *testing.T) {
	for _, test := range []struct {
		row  row
		want string
	}{
		{row{deliveries: 10}, ""},
		{row{deliveries: 10, lost: 2}, "2 of 10 lost or doubled"},
		{row{deliveries: 8, reordered: 1}, "12.5 % out of order"},
		{row{deliveries: 1e6, reordered: 1}, "1 of 1000000 out of order"},
		{row{deliveries: 8, lost: 1, reordered: 8}, "1 of 8 lost or doubled, 100.0 % out of order"},
	} {
		if got := test.row.note(); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// Herald is held against the fastest other bus; channels are none.
func TestLead(t *testing.T) {
	w := workload{name: "w"}
	rows := []row{
		{workload: w, system: "raw channel", wall: 1}, {workload: w, system: "herald", wall: .8},
		{workload: w, system: "watermill gochannel", wall: 80}, {workload: w, system: "cskr/pubsub", wall: 1.6},
	}
	if f, ok := lead(rows); !ok || f.value != .5 || f.verdict() != "must" {
		t.Errorf("lead %v, %v with verdict %q; want half of cskr's, must", f.value, ok, f.verdict())
	}
	if f, ok := lead(rows[:2]); ok {
		t.Errorf("lead %v over no other bus", f.value)
	}
}

func TestScale(t *testing.T) {
	s := scale{lo: 1, hi: 100, a: 0, b: 200}
	for v, want := range map[float64]float64{1: 0, 10: 100, 100: 200, .1: 0, 1e6: 200} {
		if got := s.at(v); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v is at %v, want %v", v, got, want)
		}
	}
	if got := len((scale{lo: 1, hi: 100}).ticks()); got != 7 { // 1 2 5 10 20 50 100
		t.Errorf("%d ticks", got)
	}
}

// The plots are well-formed XML, whatever the names.
func TestPlotsAreXML(t *testing.T) {
	rows := []row{{workload: workload{name: "a < b & c"}, system: "herald", procs: 1, wall: .8}}
	curves := []family{
		{name: "<keys>", sizes: []int{1, 10}, values: []float64{20, 200}},
		{name: "capacity", sizes: []int{1, 10}, values: []float64{20, 200}, rawValues: []float64{10, 300}},
	}
	for name, svg := range map[string]string{"ratio": ratioPlot(rows, 1), "growth": growthPlot(curves)} {
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, svg)
			}
		}
	}
}
