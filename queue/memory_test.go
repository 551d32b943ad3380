package queue

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"weak"

	"github.com/heraldbus/herald/policy"
)

type payload struct{ _ [64]byte }

// G36: however an element leaves, it can be collected while the queue lives.
func TestG36_WhatLeftIsCollectable(t *testing.T) {
	for name, leave := range map[string]func(q *Queue[*payload], fresh func() *payload){
		"popped": func(q *Queue[*payload], fresh func() *payload) {
			for range 300 {
				q.TryPush(fresh(), policy.Low)
				q.TryPop()
			}
		},
		"popped from deep": func(q *Queue[*payload], fresh func() *payload) {
			for i := range 300 {
				q.TryPush(fresh(), priorities[i%len(priorities)])
			}
			drain(q)
		},
		"evicted": func(q *Queue[*payload], fresh func() *payload) {
			for q.Len() < q.Cap() {
				q.TryPush(fresh(), policy.Low)
			}
			for range q.Cap() {
				q.PushEvict(new(payload), policy.High) // not fresh: these stay
			}
		},
		"refused as the least": func(q *Queue[*payload], fresh func() *payload) {
			for q.Len() < q.Cap() {
				q.TryPush(new(payload), policy.High)
			}
			q.PushEvict(fresh(), policy.Low)
			q.TryPush(fresh(), policy.Critical)
		},
		"handed to a waiting pop": func(q *Queue[*payload], fresh func() *payload) {
			go q.Pop(context.Background())
			synctest.Wait()
			q.TryPush(fresh(), policy.Low)
		},
		"waited for room": func(q *Queue[*payload], fresh func() *payload) {
			for q.Len() < q.Cap() {
				q.TryPush(new(payload), policy.High)
			}
			go q.Push(context.Background(), fresh(), policy.Critical)
			synctest.Wait()
			q.TryPop()
			q.TryPop()
		},
		"left by context": func(q *Queue[*payload], fresh func() *payload) {
			for q.Len() < q.Cap() {
				q.TryPush(new(payload), policy.High)
			}
			ctx, cancel := context.WithCancel(context.Background())
			for range 3 {
				go q.Push(ctx, fresh(), policy.Low)
			}
			synctest.Wait()
			cancel()
		},
		"released by Close": func(q *Queue[*payload], fresh func() *payload) {
			for q.Len() < q.Cap() {
				q.TryPush(new(payload), policy.High)
			}
			go q.Push(context.Background(), fresh(), policy.Low)
			synctest.Wait()
			q.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := New[*payload](300)
				var left []weak.Pointer[payload]
				done := make(chan struct{})
				go func() { // so that no stack remembers
					defer close(done)
					leave(q, func() *payload {
						p := new(payload)
						left = append(left, weak.Make(p))
						return p
					})
				}()
				<-done
				synctest.Wait()
				runtime.GC()
				alive := 0
				for _, p := range left {
					if p.Value() != nil {
						alive++
					}
				}
				if len(left) == 0 || alive > 0 {
					t.Errorf("%d of %d are still reachable", alive, len(left))
				}
				runtime.KeepAlive(q)
			})
		})
	}
}

// G2: memory follows what is queued, not the capacity, and is given back.
func TestG02_IdleQueuesOwnAlmostNothing(t *testing.T) {
	const queues, depth = 200, 2000
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	qs := make([]*Queue[[2]int], queues)
	for i := range qs {
		qs[i] = New[[2]int](1 << 40)
	}
	fresh := (heap() - before) / queues
	for _, q := range qs {
		for i := range depth {
			q.TryPush([2]int{i, i}, priorities[i%len(priorities)])
		}
		drain(q)
	}
	used := (heap() - before) / queues
	t.Logf("%d bytes new, %d after %d elements", fresh, used, depth)
	if fresh > 512 || used > 3<<10 {
		t.Errorf("an idle queue owns %d bytes new, %d used", fresh, used)
	}
	for _, q := range qs {
		q.Close()
	}
	if closed := (heap() - before) / queues; closed > fresh+64 {
		t.Errorf("a closed queue owns %d bytes, a new one %d", closed, fresh)
	}
	runtime.KeepAlive(qs)
}

// Nobody waits, nothing is allocated: at any depth, and switching priorities.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	for _, depth := range []int{0, 1, 63, 64, 1000} {
		q := New[[2]int](depth + 4)
		for i := range depth {
			mustPush(t, q, priorities[i%len(priorities)], [2]int{})
		}
		i := 0
		allocs := testing.AllocsPerRun(10, func() {
			for range 1000 { // for one in a chunk would be rounded away
				for range 4 {
					q.TryPush([2]int{}, priorities[i*7%4])
					i++
				}
				q.PushEvict([2]int{}, policy.High)
				for range 4 {
					q.Pop(context.Background())
				}
			}
		})
		if allocs != 0 {
			t.Errorf("%v allocations in 9000 calls at depth %d", allocs, depth)
		}
	}
}
