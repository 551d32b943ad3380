package queue

import (
	"testing"

	"pgregory.net/rapid"
)

// TestG12_FifoModel grows and shrinks a fifo over many chunks, in runs long enough
// to leave and enter chunks at every offset.
func TestG12_FifoModel(t *testing.T) {
	check(t, func(t *rapid.T) {
		var (
			f      fifo[int]
			spare  stock[int]
			next   = 1
			oldest = 1
		)
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				for range rapid.IntRange(1, 200).Draw(t, "n") {
					f.push(next, &spare)
					next++
				}
			},
			"pop": func(t *rapid.T) {
				for range min(next-oldest, rapid.IntRange(1, 200).Draw(t, "n")) {
					if got := f.pop(&spare); got != oldest {
						t.Fatalf("popped %d, want %d", got, oldest)
					}
					oldest++
				}
			},
			"": func(t *rapid.T) {
				if held := soundFifo(t, &f); held != next-oldest {
					t.Fatalf("holds %d, want %d", held, next-oldest)
				}
				if spare.count > stockLimit {
					t.Fatalf("%d spare chunks", spare.count)
				}
			},
		})
	})
}

func TestSlotsPerChunk(t *testing.T) {
	for _, test := range []struct {
		name      string
		got, want int
	}{
		{"nothing", slotsPerChunk[struct{}](), 64},
		{"byte", slotsPerChunk[byte](), 64},
		{"pointer", slotsPerChunk[*int](), 64},
		{"interface", slotsPerChunk[any](), 32},
		{"as big as a chunk", slotsPerChunk[[chunkBytes]byte](), 1},
		{"bigger than a chunk", slotsPerChunk[[chunkBytes + 1]byte](), 1},
	} {
		if test.got != test.want {
			t.Errorf("%s: %d slots, want %d", test.name, test.got, test.want)
		}
	}
}

// TestLine leaves a line of three from every place, and twice.
func TestLine(t *testing.T) {
	for gone := range 3 {
		var l line[int]
		ws := make([]*waiter[int], 3)
		for i := range ws {
			ws[i] = newWaiter(i, 0)
			l.join(ws[i])
		}
		if !l.leave(ws[gone]) || l.leave(ws[gone]) {
			t.Errorf("leaving from place %d: not true once, then false", gone)
		}
		if w := ws[gone]; w.prev != nil || w.next != nil {
			t.Errorf("who left from place %d holds on to others", gone)
		}
		if n := soundLine(t, &l); n != 2 {
			t.Errorf("%d left, want 2", n)
		}
		for i, w := range ws {
			if i != gone && l.take() != w {
				t.Errorf("without %d, %d is not taken in its turn", gone, i)
			}
		}
		if w := l.take(); w != nil || l != (line[int]{}) {
			t.Errorf("took %v from an empty line", w)
		}
	}
}
