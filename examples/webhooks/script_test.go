package main

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"
)

// An act is what a receiver does with one request.
type act func(w http.ResponseWriter, r *http.Request, inbox http.Handler)

// script is the weakness of a receiver that does one act after the other, and is healthy then.
func script(acts ...act) weakness { return (&play{acts: acts}).weakness }

// A play is a script that knows how far it has come.
type play struct {
	acts     []act
	requests atomic.Int64
}

func (p *play) weakness(inbox http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if i := p.requests.Add(1) - 1; i < int64(len(p.acts)) {
			p.acts[i](w, r, inbox)
			return
		}
		inbox.ServeHTTP(w, r)
	})
}

// isOver reports whether there were healthy requests.
func (p *play) isOver() bool { return p.requests.Load() > int64(len(p.acts)) }

func take(w http.ResponseWriter, r *http.Request, inbox http.Handler) { inbox.ServeHTTP(w, r) }

func answer(code int) act {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { w.WriteHeader(code) }
}

// comeBack is an answer with a Retry-After.
func comeBack(code int, after string) act {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Retry-After", after)
		w.WriteHeader(code)
	}
}

// takeLate takes the event, and answers after d.
func takeLate(d time.Duration) act {
	return func(w http.ResponseWriter, r *http.Request, inbox http.Handler) { slow(d, 0)(inbox).ServeHTTP(w, r) }
}

// takeSilently takes the event, and hangs up without an answer.
func takeSilently(_ http.ResponseWriter, r *http.Request, inbox http.Handler) {
	inbox.ServeHTTP(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// hangUp doesn't even look at the event.
func hangUp(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }
