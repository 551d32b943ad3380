package dlq

import (
	"context"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestG02_CapacityOfNew(t *testing.T) {
	for capacity, want := range map[int][]int{-1: {4}, 0: {4}, 1: {4}, 3: {2, 3, 4}, math.MaxInt: {1, 2, 3, 4}} {
		f := newFixture[int](t, capacity)
		f.die(t, 1, 2, 3, 4)
		if diff := cmp.Diff(want, payloads(f.Queue)); diff != "" {
			t.Errorf("capacity %d (-want +got):\n%s", capacity, diff)
		}
		if got, want := f.Evicted(), uint64(4-len(want)); got != want {
			t.Errorf("capacity %d: evicted %d, want %d", capacity, got, want)
		}
	}
}

func TestG02_ZeroQueueHolds1000(t *testing.T) {
	var q Queue[int]
	for range defaultCapacity + 1 {
		q.Put(letter{})
	}
	if q.Len() != 1000 || q.Evicted() != 1 {
		t.Errorf("has %d, evicted %d", q.Len(), q.Evicted())
	}
}

// What was replayed by itself makes room, wherever it stood.
func TestG28_ReplayedMakesRoom(t *testing.T) {
	for _, gone := range []int{1, 2, 3} {
		f := newFixture[int](t, 3)
		f.die(t, 1, 2, 3)
		if err := find(t, f.Queue, gone).Replay(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.step(t, succeed)
		f.die(t, 4)
		if f.Len() != 3 || f.Evicted() != 0 {
			t.Errorf("%d was replayed: has %v, evicted %d", gone, payloads(f.Queue), f.Evicted())
		}
		f.die(t, 5)
		if f.Len() != 3 || f.Evicted() != 1 {
			t.Errorf("%d was replayed: then has %v, evicted %d", gone, payloads(f.Queue), f.Evicted())
		}
	}
}

// A copy that doesn't come from the queue: that it was replayed is noticed when
// it's the oldest, or when somebody looks, and it's never counted as evicted.
func TestG28_CopyReplayed(t *testing.T) {
	f := newFixture[int](t, 2)
	var copies []letter
	f.tap = func(d letter) { copies = append(copies, d) }
	f.die(t, 1, 2)
	for _, d := range copies {
		if err := d.Replay(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	f.step(t, succeed)
	f.die(t, 3)
	if diff := cmp.Diff([]int{3}, payloads(f.Queue)); diff != "" || f.Evicted() != 0 {
		t.Errorf("evicted %d (-want +got):\n%s", f.Evicted(), diff)
	}
}

func TestG28_PutOfReplayedStoresNothing(t *testing.T) {
	f := newFixture[int](t, 1)
	f.die(t, 1)
	d := find(t, f.Queue, 1)
	if err := d.Replay(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.step(t, succeed)
	f.die(t, 2)
	f.Put(d)
	if diff := cmp.Diff([]int{2}, payloads(f.Queue)); diff != "" || f.Evicted() != 0 {
		t.Errorf("evicted %d (-want +got):\n%s", f.Evicted(), diff)
	}
}

// All is a snapshot of the time when the loop begins: what comes and goes
// meanwhile doesn't show, but for what is replayed.
func TestG29_AllIsASnapshot(t *testing.T) {
	f := newFixture[int](t, 4)
	f.die(t, 1, 2)
	all := f.All()
	f.die(t, 3, 4)
	var got []int
	for d := range all {
		got = append(got, d.Payload)
		if d.Payload != 1 {
			continue
		}
		if err := find(t, f.Queue, 3).Replay(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.step(t, succeed)
		f.Purge(payloadIs(2))
		f.die(t, 5, 6, 7)
	}
	if diff := cmp.Diff([]int{1, 2, 4}, got); diff != "" {
		t.Errorf("during (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{4, 5, 6, 7}, payloads(f.Queue)); diff != "" {
		t.Errorf("after (-want +got):\n%s", diff)
	}
}

func TestG29_LeavingAll(t *testing.T) {
	f := newFixture[int](t, 4)
	f.die(t, 1, 2)
	for d := range f.All() {
		if d.Payload != 1 {
			t.Errorf("went on to %d", d.Payload)
		}
		break
	}
	sound(t, f.Queue)
}

// G15: match and the body of a loop may use the queue, and panic.
func TestG15_MatchMayUseTheQueueAndPanic(t *testing.T) {
	for name, call := range map[string]func(q *Queue[int], match func(letter) bool){
		"Replay": func(q *Queue[int], match func(letter) bool) { q.Replay(context.Background(), match) },
		"Purge":  func(q *Queue[int], match func(letter) bool) { q.Purge(match) },
		"All": func(q *Queue[int], match func(letter) bool) {
			for d := range q.All() {
				match(d)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture[int](t, 10)
			f.die(t, 1, 2, 3, 4)
			defer func() {
				if v := recover(); v != "match" {
					t.Errorf("recovered %v", v)
				}
				if diff := cmp.Diff([]int{4, 5}, payloads(f.Queue)); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
				sound(t, f.Queue)
			}()
			call(f.Queue, func(d letter) bool {
				if d.Payload == 4 {
					panic("match")
				}
				if d.Payload == 1 {
					f.die(t, 5)
					f.Purge(payloadIs(2))
					if n, err := f.Replay(t.Context(), payloadIs(3)); n != 1 || err != nil {
						t.Errorf("inner Replay = %d, %v", n, err)
					}
					f.Purge(payloadIs(1))
				}
				return true
			})
		})
	}
}

// What is replayed while a loop is under way isn't shown to match any more, and
// isn't purged.
func TestG29_MatchDoesNotSeeTheReplayed(t *testing.T) {
	for name, call := range map[string]func(q *Queue[int], match func(letter) bool) int{
		"Purge": func(q *Queue[int], match func(letter) bool) int { return q.Purge(match) },
		"Replay": func(q *Queue[int], match func(letter) bool) int {
			n, err := q.Replay(context.Background(), match)
			if err != nil {
				t.Error(err)
			}
			return n
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture[int](t, 4)
			f.die(t, 1, 2, 3)
			var seen []int
			n := call(f.Queue, func(d letter) bool {
				seen = append(seen, d.Payload)
				if d.Payload == 1 {
					for _, v := range []int{2, 1} { // 1 last, so that no sweep has seen it
						if err := find(t, f.Queue, v).Replay(t.Context()); err != nil {
							t.Error(err)
						}
					}
				}
				return true
			})
			if diff := cmp.Diff([]int{1, 3}, seen); diff != "" || n != 1 || f.Len() != 0 {
				t.Errorf("%s = %d, %d left; seen (-want +got):\n%s", name, n, f.Len(), diff)
			}
		})
	}
}
