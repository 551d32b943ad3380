package main

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"
)

// A standin is a receiver of the demonstration.
type standin struct {
	name   string
	about  string
	inbox  *inbox
	server *httptest.Server
}

// standins are all of them, and the one that can be mended.
type standins struct {
	list      []*standin
	hopeless  bool // it can't
	recovered atomic.Bool
}

// newStandins starts the demonstration's receivers; serve is httptest.NewServer, or its like.
func newStandins(serve func(http.Handler) *httptest.Server) *standins {
	s := new(standins)
	s.list = []*standin{
		newStandin(serve, "audit", "healthy", healthy),
		newStandin(serve, "billing", "strict: it refuses its third", strict(3)),
		newStandin(serve, "crm", "flaky: 503 at every third request, 429 at the fourth", flaky),
		newStandin(serve, "search", "slow: it has its third, but answers too late", slow(50*time.Millisecond, 3)),
		newStandin(serve, "stock", "down: a gateway with nobody behind it", down(&s.recovered)),
	}
	return s
}

func newStandin(serve func(http.Handler) *httptest.Server, name, about string, w weakness) *standin {
	b := newInbox(Secret("secret of " + name))
	return &standin{name: name, about: about, inbox: b, server: serve(w(b))}
}

// recover mends the one that is down, if it can be mended.
func (s *standins) recover() { s.recovered.Store(!s.hopeless) }

func (s *standins) receivers() []Receiver {
	var rs []Receiver
	for _, st := range s.list {
		rs = append(rs, Receiver{Name: st.name, URL: st.server.URL, Secret: st.inbox.secret})
	}
	return rs
}

// close stops the servers, and waits for the requests under way.
func (s *standins) close() {
	for _, st := range s.list {
		st.server.Close()
	}
}
