package queue

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/heraldbus/herald/policy"
)

// ThreeDotsLabs/watermill#317: the second call on something closed hangs, for
// the first left a lock behind.
func TestB01_CallsAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New[int](1)
		q.Close()
		for range 3 {
			if err := q.Push(t.Context(), 1, policy.Low); err != ErrClosed {
				t.Errorf("Push = %v", err)
			}
		}
		q.Close()
	})
}

// tailscale/tailscale#18012: who pushes into its own full queue waits for itself.
// It can't be known here, so a context is the way out, and nothing else breaks.
func TestB03_OwnFullQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New[int](1)
		start := time.Now()
		mustPush(t, q, policy.Low, 0)
		q.TryPop() // 0 is being handled
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := q.Push(ctx, 1, policy.Low); err != nil {
			t.Errorf("Push(1) = %v", err)
		}
		err := q.Push(ctx, 2, policy.Low)
		if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took != time.Second {
			t.Errorf("Push(2) = %v after %v", err, took)
		}
		if diff := cmp.Diff([]int{1}, drain(q)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

// flosell/lambdacd#145, libp2p/go-eventbus PR#8: a sender is stuck for ever on
// a queue that was closed.
func TestB04_CloseWakesPusher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New[int](1)
		mustPush(t, q, policy.Normal, 2)
		var err error
		go func() { err = q.Push(context.Background(), 3, policy.Normal) }()
		synctest.Wait()
		q.Close()
		synctest.Wait()
		if err != ErrClosed {
			t.Errorf("Push(3) = %v", err)
		}
		if diff := cmp.Diff([]int{2}, drain(q)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

// libp2p/go-libp2p PR#3034, ThreeDotsLabs/watermill#351: a second Close panics.
func TestB10_CloseThrice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New[int](1)
		go q.Pop(t.Context())
		synctest.Wait()
		for range 3 {
			go q.Close()
		}
	})
}

// ruaan-deysel/unraid-management-agent#67, graphql-go/graphql PR#759: the
// reader's loop does not end. The bubble fails if one is left.
func TestB11_LoopsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New[int](1)
		ctx, cancel := context.WithCancel(t.Context())
		var ended atomic.Int32
		for _, ctx := range []context.Context{ctx, t.Context()} {
			go func() {
				for range q.All(ctx) {
				}
				ended.Add(1)
			}()
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		if n := ended.Load(); n != 1 {
			t.Errorf("%d loops ended after cancel", n)
		}
		q.Close()
		synctest.Wait()
		if n := ended.Load(); n != 2 {
			t.Errorf("%d loops ended after Close", n)
		}
	})
}

// nats-io/nats.go#898, nats-io/nats.net PR#1085: draining loses what is queued.
func TestB13_CloseKeepsQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New[int](10)
		mustPush(t, q, policy.Normal, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
		q.Close()
		var got []int
		for e := range q.All(t.Context()) {
			got = append(got, e)
		}
		if diff := cmp.Diff([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

// emqx/emqx PR#18620: the bound held per priority, and the wrong priority lost.
func TestB26_BoundOverAllPrioritiesLowestLoses(t *testing.T) {
	q := New[policy.Priority](2)
	var victims []policy.Priority
	for _, p := range append(priorities, policy.Low) { // the last is the victim itself
		if v, evicted, err := q.PushEvict(p, p); err != nil {
			t.Errorf("PushEvict(%v) = %v", p, err)
		} else if evicted {
			victims = append(victims, v)
		}
		if q.Len() > 2 {
			t.Errorf("Len = %d after %v", q.Len(), p)
		}
	}
	if diff := cmp.Diff([]policy.Priority{policy.Low, policy.Normal, policy.Low}, victims); diff != "" {
		t.Errorf("victims (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]policy.Priority{policy.Critical, policy.High}, drain(q)); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
}

// A sibling of B26: the lowest level is found anew after it has emptied, at any capacity.
func TestB26_LowestEmpties(t *testing.T) {
	for _, capacity := range capacities {
		q := New[int](capacity)
		for i := range capacity {
			mustPush(t, q, policy.Low, i)
		}
		for i := range 2 * capacity {
			if v, evicted, _ := q.PushEvict(capacity+i, policy.High); !evicted || v != i {
				t.Fatalf("capacity %d: evicted %d, %t, want %d", capacity, v, evicted, i)
			}
		}
		sound(t, q)
	}
}

// loyality7/speech-to-speech-mobile#49, Hy4ri/hermes-mobile#275: drops cannot
// be seen.
func TestB27_EveryVictimIsHandedBack(t *testing.T) {
	q := New[int](2)
	var victims []int
	for i := range 5 {
		if v, evicted, _ := q.PushEvict(i, policy.Normal); evicted {
			victims = append(victims, v)
		}
	}
	if diff := cmp.Diff([]int{0, 1, 2}, victims); diff != "" {
		t.Errorf("victims (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{3, 4}, drain(q)); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
}

// tokio-rs/tokio#2425: closing overwrites the last value at capacity 1.
func TestB29_CloseKeepsTheLastAtCapacityOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New[string](1)
		mustPush(t, q, policy.Low, "x")
		q.Close()
		if e, err := q.Pop(t.Context()); e != "x" || err != nil {
			t.Errorf("Pop = %q, %v", e, err)
		}
		if _, err := q.Pop(t.Context()); err != ErrClosed {
			t.Errorf("second Pop = %v", err)
		}
	})
}

// DanielStutzbach/heapdict#4, typelevel/cats-effect PR#2298, ignlg/heap-js#460:
// equal priorities come out in another order. Also after 50 removals.
func TestB32_EqualPrioritiesStayInOrder(t *testing.T) {
	q := New[int](200)
	var high, low []int
	for i := range 100 {
		mustPush(t, q, policy.High, i)
		mustPush(t, q, policy.Low, 1000+i)
		high, low = append(high, i), append(low, 1000+i)
	}
	for i := range 25 { // full: 25 are evicted
		q.PushEvict(2000+i, policy.High)
		high = append(high, 2000+i)
	}
	for range 25 {
		q.TryPop()
	}
	if diff := cmp.Diff(append(high[25:], low[25:]...), drain(q)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// apache/incubator-pegasus#93, sapcc/networking-nsx-t PR#144: a low priority
// never runs. There is no aging here; it is documented that Low waits.
func TestB33_LowWaitsForHigher(t *testing.T) {
	q := New[int](2)
	mustPush(t, q, policy.Low, -1)
	for i := range 1000 {
		mustPush(t, q, policy.High, i)
		if e, _ := q.TryPop(); e != i {
			t.Fatalf("popped %d, want %d", e, i)
		}
	}
	if e, _ := q.TryPop(); e != -1 {
		t.Errorf("popped %d last", e)
	}
}

// tikv/tikv#19275, alpacax/alpamon#470, ethereum/go-ethereum PR#21572,
// adrianbrad/queue#45: popped items stay reachable.
func TestB35_DrainedIsCollected(t *testing.T) {
	const n = 100
	q := New[*[1 << 20]byte](n)
	var collected atomic.Int32
	for i := range n {
		e := new([1 << 20]byte)
		runtime.AddCleanup(e, func(struct{}) { collected.Add(1) }, struct{}{})
		mustPush(t, q, priorities[i%len(priorities)], e)
	}
	if got := len(drain(q)); got != n {
		t.Fatalf("drained %d", got)
	}
	sound(t, q)
	for range 1000 { // cleanups run on a goroutine of the runtime
		if runtime.GC(); collected.Load() == n {
			break
		}
		runtime.Gosched()
	}
	if got := collected.Load(); got != n {
		t.Errorf("%d of %d collected", got, n)
	}
	runtime.KeepAlive(q)
}

// libp2p/go-libp2p-pubsub#636: a send ignores its context.
func TestB36_CancelledPushIsNotDelivered(t *testing.T) {
	for _, capacity := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			q := New[int](capacity)
			for i := range capacity {
				mustPush(t, q, policy.Normal, i)
			}
			start := time.Now()
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			err := q.Push(ctx, 99, policy.Critical)
			if took := time.Since(start); !errors.Is(err, context.Canceled) || took != time.Second {
				t.Errorf("Push = %v after %v", err, took)
			}
			if got := drain(q); len(got) != capacity || got[0] == 99 {
				t.Errorf("queued: %v", got)
			}
		})
	}
}

// golang/go#77687: synctest cannot settle where code blocks on a mutex. Here, on
// a queue made outside the bubble, too, which must work in one bubble after another.
func TestB53_WaitingIsDurable(t *testing.T) {
	full, empty := New[int](1), New[int](1)
	mustPush(t, full, policy.Low, 1)
	for range 3 {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			go full.Push(ctx, 2, policy.Low)
			go empty.Pop(ctx)
			synctest.Wait()
			time.Sleep(2 * time.Hour) // in the bubble: both leave
			synctest.Wait()
			if full.pushers.first != nil || empty.poppers.first != nil {
				t.Error("somebody still waits")
			}
		})
	}
}

// Particular/NServiceBus PR#5557, apache/pulsar#5218: what was refused once is
// refused for ever.
func TestB70_RefusedThenAccepted(t *testing.T) {
	q := New[int](1)
	mustPush(t, q, policy.Low, 0)
	if err := q.TryPush(1, policy.Low); err != ErrFull {
		t.Errorf("TryPush = %v", err)
	}
	q.TryPop()
	mustPush(t, q, policy.Low, 1)
}
