package main

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"
)

// A weakness stands between a receiver's network and its inbox. What it does depends on nothing but the requests that
// came so far.
type weakness func(inbox http.Handler) http.Handler

// healthy is the weakness to have.
func healthy(inbox http.Handler) http.Handler { return inbox }

// strict refuses the nth request for good.
func strict(nth int64) weakness {
	return counting(func(count int64, w http.ResponseWriter, r *http.Request, inbox http.Handler) {
		if count == nth {
			w.WriteHeader(http.StatusUnprocessableEntity)
			return
		}
		inbox.ServeHTTP(w, r)
	})
}

// flaky is unavailable at every third request, and has too many after the first of these.
func flaky(inbox http.Handler) http.Handler {
	return counting(func(count int64, w http.ResponseWriter, r *http.Request, inbox http.Handler) {
		switch {
		case count%3 == 0:
			w.WriteHeader(http.StatusServiceUnavailable)
		case count == 4:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		default:
			inbox.ServeHTTP(w, r)
		}
	})(inbox)
}

// slow has the event, but takes its time to say so; with the nth request until who sent it has given up.
func slow(each time.Duration, nth int64) weakness {
	return counting(func(count int64, w http.ResponseWriter, r *http.Request, inbox http.Handler) {
		answer := httptest.NewRecorder()
		inbox.ServeHTTP(answer, r)
		late := time.After(each)
		if count == nth {
			late = nil
		}
		select {
		case <-late:
			w.WriteHeader(answer.Code)
		case <-r.Context().Done():
		}
	})
}

// down is a gateway with nobody behind it, until the receiver has recovered.
func down(recovered *atomic.Bool) weakness {
	return func(inbox http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !recovered.Load() {
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			inbox.ServeHTTP(w, r)
		})
	}
}

// counting makes a weakness of a function that is told how many requests there were, this one included.
func counting(f func(count int64, w http.ResponseWriter, r *http.Request, inbox http.Handler)) weakness {
	return func(inbox http.Handler) http.Handler {
		count := new(atomic.Int64)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			f(count.Add(1), w, r, inbox)
		})
	}
}
