package linear

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

const (
	clients    = 4    // goroutines of a history
	operations = 1000 // of a history, by all together
	patience   = time.Minute
)

var first = flag.Uint64("seed", 0, "of the first history")

// histories is how many are recorded of each of the six subjects.
func histories() uint64 {
	if os.Getenv("HERALD_VOLUME") != "" {
		return 700
	}
	return 10
}

// A subject is what is tested: do carries out one operation, drawn from rand,
// for a client, and returns what was asked and what came of it.
type subject interface {
	do(r *recorder, client int, rand *rand.Rand)
	stop() // ends waits that nobody would end
}

// A recorder collects a history. Its clock is a counter: an operation that
// had returned before another was called has the lower numbers.
type recorder struct {
	clock atomic.Int64
	parts [clients][]porcupine.Operation // each its client's
}

// call records one operation. Others are let run in the midst of it now and
// then, or two would rarely overlap.
func (r *recorder) call(client int, rand *rand.Rand, input any, f func() (output any)) {
	op := porcupine.Operation{ClientId: client, Input: input, Call: r.clock.Add(1)}
	if rand.IntN(3) == 0 {
		runtime.Gosched()
	}
	op.Output = f()
	if rand.IntN(3) == 0 {
		runtime.Gosched()
	}
	op.Return = r.clock.Add(1)
	r.parts[client] = append(r.parts[client], op)
}

// record lets all clients at s and returns the history.
func record(s subject, seed uint64) []porcupine.Operation {
	var r recorder
	var wg sync.WaitGroup
	var left atomic.Int32
	left.Store(clients)
	for c := range clients {
		wg.Go(func() {
			defer left.Add(-1)
			source := rand.New(rand.NewPCG(seed, uint64(c)))
			for len(r.parts[c]) < operations/clients {
				s.do(&r, c, source)
			}
		})
	}
	for left.Load() > 0 {
		runtime.Gosched()
		s.stop()
	}
	wg.Wait()
	return slices.Concat(r.parts[:]...)
}

// overlapping counts the operations that overlap with another.
func overlapping(h []porcupine.Operation) (n int) {
	sorted := slices.SortedFunc(slices.Values(h), func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	var end int64
	for i, op := range sorted {
		if op.Call < end || i+1 < len(sorted) && sorted[i+1].Call < op.Return {
			n++
		}
		end = max(end, op.Return)
	}
	return n
}

// check records histories of what start makes and fails for each that isn't
// linearizable.
func check(t *testing.T, name string, model porcupine.Model, start func(seed uint64) subject) {
	var total, overlaps, illegal, unknown int
	var n uint64
	for ; n < histories() && illegal+unknown == 0; n++ {
		seed := *first + n
		h := record(start(seed), seed)
		total += len(h)
		overlaps += overlapping(h)
		switch porcupine.CheckOperationsTimeout(model, h, patience) {
		case porcupine.Illegal:
			illegal++
			t.Errorf("history of seed %d is not linearizable:\n%s", seed, explain(model, h))
		case porcupine.Unknown:
			unknown++
			t.Errorf("history of seed %d could not be decided in %v", seed, patience)
		}
	}
	fmt.Printf("proof: layer=linearizability subject=%s histories=%d operations=%d overlapping=%d illegal=%d unknown=%d\n",
		name, n, total, overlaps, illegal, unknown)
	if overlaps < total/4 {
		t.Errorf("only %d of %d operations overlapped with another: that shows little", overlaps, total)
	}
}

// explain shows the operations around the place where no order fits any more.
func explain(model porcupine.Model, h []porcupine.Operation) (text string) {
	_, info := porcupine.CheckOperationsVerbose(model, h, patience)
	longest := 0
	for _, partial := range info.PartialLinearizationsOperations() {
		for _, p := range partial {
			longest = max(longest, len(p))
		}
	}
	sorted := slices.SortedFunc(slices.Values(h), func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	for i := max(0, longest-10); i < min(len(sorted), longest+10); i++ {
		op := sorted[i]
		text += fmt.Sprintf("%6d to %6d client %d: %+v: %+v\n", op.Call, op.Return, op.ClientId, op.Input, op.Output)
	}
	return text
}
