package lane

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"
	"unsafe"
	"weak"
)

func TestG36_NoAllocationInTheSteadyState(t *testing.T) {
	for _, tt := range []struct {
		depth, keys int
	}{{0, 0}, {1024, 0}, {0, 1}, {1024, 16}, {1024, 1000}, {8, 1000}} {
		t.Run(fmt.Sprintf("depth=%d/keys=%d", tt.depth, tt.keys), func(t *testing.T) {
			c := newChurn(4, tt.depth, tt.keys)
			for range 100_000 {
				c.step()
			}
			if n := testing.AllocsPerRun(50, func() {
				for range 2000 {
					c.step()
				}
			}); n != 0 {
				t.Errorf("%v allocations in 2000 steps", n)
			}
		})
	}
}

func TestG36_NoAllocationWhereThingsTakeTime(t *testing.T) {
	l := newLane(4, true)
	items := make([]Item, 512)
	attempts := make(map[*Item]int, len(items))
	now := int64(1)
	round := func() {
		for i := range items {
			it := &items[i]
			it.Key, it.Expires = strconv.Itoa(i%9), now+1_000_000 // small numbers' strings are static
			l.Add(it, now+int64(i%7))
		}
		for now += 10; l.Len() > 0; now += 10 {
			if it, _ := l.Poll(now); it != nil {
				t.Fatal("expired")
			}
			for it := l.Next(); it != nil; it = l.Next() {
				l.Take(it)
				l.Lease(it, now+5)
				if attempts[it]++; attempts[it]%3 != 0 {
					l.Retry(it, now+15, now)
					continue
				}
				l.Done(it)
			}
		}
	}
	for range 5 {
		round()
	}
	if n := testing.AllocsPerRun(20, round); n != 0 {
		t.Errorf("%v allocations in a round", n)
	}
}

// TestG36_NothingOfAnEndedItemIsReachable: the lane lets go at once, also while it lives.
func TestG36_NothingOfAnEndedItemIsReachable(t *testing.T) {
	type node struct {
		Item
		payload [64]byte
	}
	for name, end := range map[string]func(*Lane, *Item){
		"done":    func(l *Lane, it *Item) { l.Take(it); l.Done(it) },
		"removed": func(l *Lane, it *Item) { l.Remove(it) },
		"expired": func(l *Lane, it *Item) { l.Poll(50) },
		"cleared": func(l *Lane, it *Item) { l.Clear(func(*Item) {}) },
		"retried": func(l *Lane, it *Item) { l.Take(it); l.Retry(it, 20, 10); l.Poll(20); l.Take(it); l.Done(it) },
		"parked":  func(l *Lane, it *Item) { l.Take(it); l.Retry(it, 90, 10); l.Suspend(); l.Remove(it) },
		"leased":  func(l *Lane, it *Item) { l.Take(it); l.Lease(it, 40); l.Done(it) },
	} {
		for _, key := range []string{"", "k"} {
			t.Run(name+"/"+key, func(t *testing.T) {
				l := newLane(2, false)
				if name == "parked" {
					l.Init(1, false)
				}
				behind := &Item{Priority: -1, Key: key}
				var owner weak.Pointer[node]
				var payload weak.Pointer[[64]byte]
				func() {
					n := &node{}
					n.Owner, n.Expires, n.Priority = n, 50, 1
					n.Key = key
					owner, payload = weak.Make(n), weak.Make(&n.payload)
					l.Add(&n.Item, 0)
					l.Add(behind, 0)
					end(l, &n.Item)
				}()
				runtime.GC()
				if owner.Value() != nil || payload.Value() != nil {
					t.Error("reachable")
				}
				runtime.KeepAlive(l)
				runtime.KeepAlive(behind)
			})
		}
	}
}

// TestG36_TheTableKeepsNoKeyOfAnEndedItem: a key may be a piece of a payload.
func TestG36_TheTableKeepsNoKeyOfAnEndedItem(t *testing.T) {
	l := newLane(1, false)
	var key weak.Pointer[byte]
	second := &Item{}
	func() {
		text := make([]byte, 1<<10)
		copy(text, "order-17")
		key = weak.Make(&text[0])
		first := &Item{Key: unsafe.String(&text[0], 8)}
		l.Add(first, 0)
		second.Key = "order-17"
		l.Add(second, 0)
		l.Take(first)
		l.Done(first)
	}()
	runtime.GC()
	if key.Value() != nil {
		t.Error("reachable")
	}
	if l.Latest("order-17") != second {
		t.Error("the key is lost")
	}
}

// TestG14_B57_AHundredThousandKeysThenIdle: the table goes back to nothing, and what comes then is handled.
func TestG14_B57_AHundredThousandKeysThenIdle(t *testing.T) {
	l := newLane(2, false)
	before := heapInUse()
	func() {
		const n = 100_000
		items := make([]Item, n)
		for i := range items {
			items[i].Key = "customer-" + strconv.Itoa(i)
			items[i].Expires = int64(1000 + i)
			l.Add(&items[i], int64(i%2)*10)
		}
		l.Poll(10)
		if l.Keys() != n {
			t.Fatalf("%d keys, want %d", l.Keys(), n)
		}
		if err := l.check(); err != nil {
			t.Fatal(err)
		}
		for it := l.Next(); it != nil; it = l.Next() {
			l.Take(it)
			l.Done(it)
		}
	}()
	l.Trim()
	if l.Keys() != 0 || !l.Empty() {
		t.Errorf("%d keys, empty %v", l.Keys(), l.Empty())
	}
	if err := l.check(); err != nil {
		t.Fatal(err)
	}
	if grown := heapInUse() - before; grown > 16<<10 {
		t.Errorf("%d bytes are still in use", grown)
	}
	it := &Item{Key: "customer-1"}
	l.Add(it, 0)
	if l.Next() != it {
		t.Error("a key that was gone isn't handled")
	}
}

func TestG36_TrimKeepsWhatIsInUse(t *testing.T) {
	l := newLane(2, false)
	items := make([]Item, 10_000)
	for i := range items {
		items[i].Key, items[i].Expires = strconv.Itoa(i), int64(1000+i)
		l.Add(&items[i], int64(500+i))
	}
	l.Poll(500 + 5000)
	for i := range items {
		if i%100 != 0 && items[i].State().waits() {
			l.Remove(&items[i])
		}
	}
	l.Trim()
	if err := l.check(); err != nil {
		t.Fatal(err)
	}
	if n := cap(l.late.es) + cap(l.expiry.es) + cap(l.keys.buckets); n > 1500 {
		t.Errorf("%d spare places for %d items", n, l.Len())
	}
}

// TestG36_TrimLetsEverythingGo: after a burst of everything there is, nothing spare is left.
func TestG36_TrimLetsEverythingGo(t *testing.T) {
	const n = 1000
	l := newLane(n, false)
	items := make([]Item, n)
	for i := range items {
		items[i].Expires = 900
		l.Add(&items[i], 0)
	}
	for range items {
		l.Take(l.Next())
	}
	for i := range items[:n/2] {
		l.Retry(&items[n/2-1-i], int64(100+i%2), 100) // half of them resumable at once
	}
	for i := range items[n/2:] {
		l.Return(&items[n-1-i]) // out of order
	}
	if err := l.check(); err != nil {
		t.Fatal(err)
	}
	l.Poll(101)
	for it := l.Next(); it != nil; it = l.Next() {
		l.Take(it)
		l.Done(it)
	}
	l.Trim()
	if !l.Empty() {
		t.Error("not empty")
	}
	if got := cap(l.ready.late.es) + cap(l.late.es) + cap(l.resume.es) + cap(l.expiry.es) + cap(l.slots); got != 0 {
		t.Errorf("%d spare places", got)
	}
}

func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
