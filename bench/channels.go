package main

import "sync"

// rawChannels is the base line: a channel for each subscription. With several
// workers it's one channel and as many receivers, which keep no order by key.
func rawChannels(w workload, checks []checker) bus {
	cs, done := receivers(w, checks)
	return bus{
		publish: func(publisher, n int) {
			for i := range n {
				p := tagged(publisher, i)
				for _, c := range cs {
					c <- p
				}
			}
		},
		finish: func() {
			for _, c := range cs {
				close(c)
			}
			done.Wait()
		},
	}
}

// handWritten is what people write: channels by topic, under a RWMutex.
func handWritten(w workload, checks []checker) bus {
	cs, done := receivers(w, checks)
	var mu sync.RWMutex
	topics := map[string][]chan payload{"bench": cs}
	return bus{
		publish: func(publisher, n int) {
			for i := range n {
				p := tagged(publisher, i)
				mu.RLock()
				for _, c := range topics["bench"] {
					c <- p
				}
				mu.RUnlock()
			}
		},
		finish: func() {
			mu.Lock()
			defer mu.Unlock()
			for _, c := range cs {
				close(c)
			}
			done.Wait()
		},
	}
}

func receivers(w workload, checks []checker) ([]chan payload, *sync.WaitGroup) {
	cs := make([]chan payload, w.subscriptions)
	var done sync.WaitGroup
	for i := range cs {
		cs[i] = make(chan payload, capacity)
		h := &checks[i]
		for range max(1, w.workers) {
			done.Go(func() {
				for p := range cs[i] {
					h.see(&p)
				}
			})
		}
	}
	return cs, &done
}
