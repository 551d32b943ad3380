package queue

import (
	"flag"
	"strconv"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/heraldbus/herald/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var priorities = []policy.Priority{policy.Low, policy.Normal, policy.High, policy.Critical}

// capacities are those at which a bound goes wrong: the smallest, and around a chunk.
var capacities = []int{1, 2, 3, 63, 64, 65, 1000}

// check is rapid.Check that fails where rapid, short of time, ran fewer checks than asked.
func check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	ran := 0
	rapid.Check(t, func(t *rapid.T) {
		ran++
		property(t)
	})
	asked, err := strconv.Atoi(flag.Lookup("rapid.checks").Value.String())
	if err != nil {
		t.Fatal(err)
	}
	if !testing.Short() && ran < asked {
		t.Errorf("rapid ran %d of %d checks", ran, asked)
	}
	t.Logf("%d checks", ran)
}

// sound fails unless the invariants written at [Queue], [fifo] and [stock] hold.
func sound[E comparable](t rapid.TB, q *Queue[E]) {
	t.Helper()
	q.mu.Lock()
	defer q.mu.Unlock()
	held := 0
	for i := range q.levels {
		held += soundFifo(t, &q.levels[i])
	}
	spare := 0
	for c := q.spare.first; c != nil; c = c.next {
		spare++
		soundZero(t, c.slots)
	}
	pushers, poppers := soundLine(t, &q.pushers), soundLine(t, &q.poppers)
	switch {
	case held != q.size || q.size < 0 || q.size > q.Cap():
		t.Fatalf("size is %d, levels hold %d, capacity is %d", q.size, held, q.Cap())
	case pushers > 0 && q.size != q.Cap():
		t.Fatalf("%d wait for room, with %d of %d taken", pushers, q.size, q.Cap())
	case poppers > 0 && q.size != 0:
		t.Fatalf("%d wait for an element, with %d there", poppers, q.size)
	case q.closed && pushers+poppers > 0:
		t.Fatalf("%d and %d wait after Close", pushers, poppers)
	case spare != q.spare.count || spare > stockLimit || q.closed && spare > 0:
		t.Fatalf("stock has %d chunks and counts %d (closed: %t)", spare, q.spare.count, q.closed)
	}
}

// soundFifo returns how many elements f holds.
func soundFifo[E comparable](t rapid.TB, f *fifo[E]) (held int) {
	t.Helper()
	if f.empty() {
		if *f != (fifo[E]{}) {
			t.Fatalf("an empty fifo is not zero: %+v", *f)
		}
		return 0
	}
	for c := f.head; c != nil; c = c.next {
		from, to := 0, len(c.slots)
		if c == f.head {
			from = f.read
		}
		if c == f.tail {
			to = f.write
		}
		if from >= to || (c.next == nil) != (c == f.tail) {
			t.Fatalf("a chunk of a fifo has elements from %d to %d, is last: %t", from, to, c == f.tail)
		}
		soundZero(t, c.slots[:from])
		soundZero(t, c.slots[to:])
		held += to - from
	}
	return held
}

func soundZero[E comparable](t rapid.TB, slots []E) {
	t.Helper()
	var zero E
	for i, e := range slots {
		if e != zero {
			t.Fatalf("vacated slot %d of %d keeps %v", i, len(slots), e)
		}
	}
}

// soundLine returns how many stand in l.
func soundLine[E any](t rapid.TB, l *line[E]) (standing int) {
	t.Helper()
	var prev *waiter[E]
	for w := l.first; w != nil; prev, w = w, w.next {
		if w.prev != prev || !w.standing {
			t.Fatalf("the line is broken at its waiter %d", standing)
		}
		standing++
	}
	if l.last != prev {
		t.Fatalf("the line of %d ends with the wrong one", standing)
	}
	return standing
}
