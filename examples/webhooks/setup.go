package main

import (
	"net/http"
	"time"

	"github.com/heraldbus/herald/policy"
)

// A setup is what deliveries go by.
type setup struct {
	receivers []Receiver
	client    *http.Client
	retry     policy.Exponential
	timeout   time.Duration // of one attempt
	capacity  int           // events that wait, those that wait for a retry included
	patience  time.Duration // how long a full queue holds up the input, before an event becomes a dead letter
	grace     time.Duration // how long deliveries may go on after the input has ended
}

// realSetup is for receivers that people depend on. The jitter keeps the events that a receiver missed together from
// coming back together.
func realSetup(receivers []Receiver, client *http.Client, grace time.Duration) setup {
	return setup{
		receivers: receivers,
		client:    client,
		retry:     policy.Exponential{Attempts: 5, Base: time.Second, Max: time.Minute, Jitter: 0.5},
		timeout:   10 * time.Second,
		capacity:  1024,
		patience:  time.Minute,
		grace:     grace,
	}
}

// demoSetup is for people who watch. Its queue is shorter than the demonstration's input, which has to wait for room. Its
// timeout is short enough to be waited for, and long enough for a busy machine to time out only where it should.
func demoSetup(client *http.Client, grace time.Duration) setup {
	s := realSetup(nil, client, grace)
	s.retry = policy.Exponential{Attempts: 4, Base: 20 * time.Millisecond, Max: time.Second, Jitter: 0.5}
	s.timeout = 2 * time.Second
	s.capacity = 12
	return s
}

// newClient returns a client that doesn't follow redirects: a receiver is where its owner said that it is, and what is
// signed for it isn't for others.
func newClient() *http.Client {
	return &http.Client{
		Transport:     http.DefaultTransport.(*http.Transport).Clone(),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
