package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/dlq"
	"github.com/heraldbus/herald/policy"
)

// cases are what children do. Each returns how much it offered.
var cases = []struct {
	name string
	run  func(offer int64) (int64, error)
}{
	{"reject", full(policy.Reject())},
	{"drop-newest", full(policy.DropNewest())},
	{"drop-oldest", full(policy.DropOldest())},
	{"dead-letter", full(policy.DeadLetter())},
	{"block-then-drop-oldest", full(policy.Block(time.Nanosecond).Else(policy.DropOldest()))},
	{"no-subscription", unread},
	{"subscriptions", subscriptions},
	{"keys", keys},
	{"delays", delays},
}

// child runs one case and says how it ended.
func child(name string, offer int64) {
	for _, c := range cases {
		if c.name != name {
			continue
		}
		offered, err := c.run(offer)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		r := result{Offered: offered, Left: m.HeapAlloc, Goroutines: runtime.NumGoroutine()}
		if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
			os.Exit(1)
		}
		return
	}
	fmt.Fprintf(os.Stderr, "no case %q\n", name)
	os.Exit(2)
}

// size is that of a payload, in bytes.
const size = 64 << 10

// full offers payloads to a subscription that nobody consumes.
func full(o policy.Overflow) func(int64) (int64, error) {
	return func(offer int64) (int64, error) {
		var topic herald.Topic[[]byte]
		dead := dlq.New[[]byte](64)
		s, err := topic.DeadLetterTo(dead.Put).Subscribe("full", herald.WithCapacity(64), herald.WithOverflow(o))
		if err != nil {
			return 0, err
		}
		n := offer / size
		for range n {
			if err := topic.Publish(context.Background(), make([]byte, size)); err != nil && !errors.Is(err, herald.ErrFull) {
				return 0, err
			}
		}
		if st := s.Stats(); st.Offered != uint64(n) || st.Accepted+st.Refused != st.Offered {
			return 0, fmt.Errorf("accounts are wrong: %+v", st)
		}
		s.Discard()
		dead.Purge(nil)
		return n * size, topic.Close()
	}
}

// unread publishes to a topic without subscriptions.
func unread(offer int64) (int64, error) {
	var topic herald.Topic[[]byte]
	for range offer / size {
		if err := topic.Publish(context.Background(), make([]byte, size)); err != nil {
			return 0, err
		}
	}
	return offer / size * size, nil
}

const million = 1_000_000

// subscriptions come and go, a million of them, each with a message in it.
func subscriptions(int64) (int64, error) {
	var topic herald.Topic[int]
	for i := range million {
		s, err := topic.Subscribe(strconv.Itoa(i))
		if err != nil {
			return 0, err
		}
		if err := topic.Publish(context.Background(), i); err != nil {
			return 0, err
		}
		if err := s.Close(); err != nil {
			return 0, err
		}
	}
	return million, nil
}

// keys are a million, each used once.
func keys(int64) (int64, error) {
	var topic herald.Topic[int]
	s, err := topic.Subscribe("keys", herald.WithConcurrency(2), herald.WithOverflow(policy.Block(0)))
	if err != nil {
		return 0, err
	}
	done := make(chan error, 1)
	go func() {
		done <- s.Run(context.Background(), func(context.Context, herald.Message[int]) error { return nil })
	}()
	for i := range million {
		if err := topic.Publish(context.Background(), i, herald.WithKey(strconv.Itoa(i))); err != nil {
			return 0, err
		}
	}
	return million, errors.Join(topic.Drain(context.Background()), <-done)
}

// delays are a hundred thousand messages that wait, over and over.
func delays(int64) (int64, error) {
	const waiting = 100_000
	var topic herald.Topic[int]
	s, err := topic.Subscribe("delays", herald.WithCapacity(waiting))
	if err != nil {
		return 0, err
	}
	for range million / waiting {
		for i := range waiting {
			if err := topic.Publish(context.Background(), i, herald.WithDelay(time.Hour)); err != nil {
				return 0, err
			}
		}
		if n := s.Discard(); n != waiting {
			return 0, fmt.Errorf("discarded %d of %d", n, waiting)
		}
	}
	return million, nil
}
