package heraldslog

import (
	"bytes"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// TestConcurrentLoggers: each producer's records are in order in every
// appender's output, none twice; all that was logged is written or lost; and the
// lines about losses add up, while others look and flush. (G4, G5, G12)
func TestConcurrentLoggers(t *testing.T) {
	const producers, each = 8, 300
	r := newRig(t)
	outputs := map[string]*bytes.Buffer{}
	for name, opts := range map[string][]herald.SubOption{
		"default": nil,
		"small":   {herald.WithCapacity(3)},
		"newest":  {herald.WithCapacity(10), herald.WithOverflow(policy.DropNewest())},
		"reject":  {herald.WithCapacity(10), herald.WithOverflow(policy.Reject())},
		"block":   {herald.WithCapacity(3), herald.WithOverflow(policy.Block(0))},
	} {
		outputs[name] = new(bytes.Buffer)
		r.add(name, slog.LevelInfo, slog.NewJSONHandler(outputs[name], nil), opts...)
	}
	result := r.start(t.Context())
	var wg sync.WaitGroup
	for p := range producers {
		log := r.log.With("p", p)
		wg.Go(func() {
			for i := range each {
				log.Info("m", "i", i+1)
				log.Debug("unwanted")
			}
			wantErr(t, "Flush", r.Flush(t.Context()), nil)
		})
	}
	wg.Go(func() {
		for range 100 {
			for _, a := range r.Stats().Appenders {
				if a.Wanted != a.Written+a.Lost+a.Waiting {
					t.Errorf("%s: %s", a.Name, accounts(a))
				}
			}
		}
	})
	wg.Wait()
	wantErr(t, "Drain", r.Drain(t.Context()), nil)
	wantErr(t, "Run", result(), nil)

	for name, b := range outputs {
		written, lost := 0, 0
		var last [producers]int
		for _, line := range decode(t, b.Bytes()) {
			if n, ok := line["lost"].(float64); ok {
				wantDiff(t, any(fmt.Sprintf("%v record%s lost", n, map[bool]string{true: "s"}[n > 1])), line["msg"])
				lost += int(n)
				continue
			}
			written++
			p, i := int(line["p"].(float64)), int(line["i"].(float64))
			if i <= last[p] {
				t.Errorf("%s: producer %d: %d after %d", name, p, i, last[p])
			}
			last[p] = i
		}
		s := r.of(name)
		wantAccounts(t, s, fmt.Sprintf("wanted %d, written %d, lost %d, waiting 0", producers*each, written, lost))
		if name == "block" && lost > 0 {
			t.Errorf("%s lost %d", name, lost)
		}
	}
	wantDiff(t, uint64(producers*each), r.Stats().Logged)
}

// TestEverythingAtOnce is for the race detector.
func TestEverythingAtOnce(t *testing.T) {
	r := newRig(t)
	result := r.start(t.Context())
	var wg sync.WaitGroup
	for p := range 4 {
		wg.Go(func() {
			var w writer
			r.add(fmt.Sprint(p), nil, &w, herald.WithCapacity(2), herald.WithConcurrency(p+1))
			log := r.log
			for i := range 100 {
				log = log.With("i", i)
				log.Info("m", slog.Group("g", "a", i))
				if i%10 == 0 {
					log = r.log.WithGroup("g")
					r.Stats()
					wantErr(t, "Flush", r.Flush(t.Context()), nil)
				}
			}
		})
	}
	wg.Wait()
	wantErr(t, "Drain", r.Drain(t.Context()), nil)
	wantErr(t, "Run", result(), nil)
	for _, a := range r.Stats().Appenders {
		if a.Wanted != a.Written+a.Lost || a.Waiting != 0 {
			t.Errorf("%s: %s", a.Name, accounts(a))
		}
	}
}
