package main

import (
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"
)

// A slice is what one system did in one round.
type slice struct {
	messages      int // deliveries
	wall, cpu     time.Duration
	allocs, bytes uint64
	lost          int // deliveries missing, or too many
	reordered     int // deliveries that came after a later one of their publisher, or key
}

func (s slice) perMessage() float64    { return float64(s.wall) / float64(s.messages) }
func (s slice) cpuPerMessage() float64 { return float64(s.cpu) / float64(s.messages) }

// cpuTime is what the process has used so far, in user mode and the kernel.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // can't fail with these arguments
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// run measures one slice: n messages by each of w's publishers.
func (s system) run(w workload, n int) slice {
	checks := make([]checker, w.subscriptions)
	for i := range checks {
		if w.workers > 1 {
			checks[i].shared = newShared(w.keys)
		}
	}
	b := s.start(w, checks)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, wall := cpuTime(), time.Now()
	var publishers sync.WaitGroup
	for p := range w.publishers {
		publishers.Go(func() { b.publish(p, n) })
	}
	publishers.Wait()
	b.finish()
	r := slice{wall: time.Since(wall), cpu: cpuTime() - cpu}
	runtime.ReadMemStats(&after)
	r.allocs, r.bytes = after.Mallocs-before.Mallocs, after.TotalAlloc-before.TotalAlloc
	for i := range checks {
		seen, reordered := checks[i].result()
		r.messages += n * w.publishers
		r.lost += max(n*w.publishers-seen, seen-n*w.publishers)
		r.reordered += reordered
	}
	return r
}

// calibrate returns how many messages of each publisher make a slice of
// about that time, for the first system.
func calibrate(s system, w workload, d time.Duration) int {
	n := 2000
	r := s.run(w, n)
	return max(500, n*int(d)/int(max(r.wall, time.Microsecond)))
}

func median(xs []float64) float64 { return quantile(xs, .5) }

// quantile returns the value below which that part of xs lies, between two
// neighbours where it falls between them. Of nothing it's 0.
func quantile(xs []float64, part float64) float64 {
	if len(xs) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(xs))
	at := part * float64(len(s)-1)
	i := int(at)
	return s[i] + (s[min(i+1, len(s)-1)]-s[i])*(at-float64(i))
}
