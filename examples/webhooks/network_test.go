package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"syscall"
)

// A network is one in memory. Waiting for it is waiting on channels, so inside a synctest bubble, with its virtual clock,
// HTTP takes no time but what handlers take: timeouts are exact, however slow the machine.
type network struct {
	mu        sync.Mutex
	listeners map[string]*pipeListener // by address
}

func newNetwork() *network { return &network{listeners: map[string]*pipeListener{}} }

// serve is httptest.NewServer on n.
func (n *network) serve(h http.Handler) *httptest.Server {
	s := httptest.NewUnstartedServer(h)
	s.Listener.Close() // a real one
	s.Listener = n.listen()
	s.Start()
	return s
}

// client is newClient on n.
func (n *network) client() *http.Client {
	c := newClient()
	t := c.Transport.(*http.Transport)
	t.DialContext, t.Proxy = n.dial, nil
	return c
}

func (n *network) listen() *pipeListener {
	n.mu.Lock()
	defer n.mu.Unlock()
	l := &pipeListener{
		address: pipeAddress(fmt.Sprintf("receiver%d.test:80", len(n.listeners)+1)),
		conns:   make(chan net.Conn),
		closed:  make(chan struct{}),
	}
	n.listeners[l.address.String()] = l
	return l
}

func (n *network) dial(ctx context.Context, _, address string) (net.Conn, error) {
	n.mu.Lock()
	l, ok := n.listeners[address]
	n.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("dial %s: %w", address, syscall.EHOSTUNREACH)
	}
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		return nil, fmt.Errorf("dial %s: %w", address, syscall.ECONNREFUSED)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type pipeListener struct {
	address pipeAddress
	conns   chan net.Conn
	once    sync.Once
	closed  chan struct{}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return l.address }

type pipeAddress string

func (pipeAddress) Network() string  { return "pipe" }
func (a pipeAddress) String() string { return string(a) }
