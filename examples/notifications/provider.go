package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/heraldbus/herald/policy"
)

// A Channel is a way to a user, as its provider's client library would have
// it. It's used by several goroutines at once.
type Channel interface {
	Send(ctx context.Context, to User, text string) error
}

// providers are the fakes behind the channels.
type providers struct {
	mail mail
	sms  sms
	push push
}

func newProviders() *providers { return &providers{push: push{down: true}} }

// mail stands in for a mail server that refuses the first attempt at every
// text, as servers do that greylist.
type mail struct {
	mu   sync.Mutex // protects seen
	seen map[string]bool
}

var errGreylisted = errors.New("greylisted, try again")

func (p *mail) Send(_ context.Context, to User, text string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if letter := to.Mail + "\n" + text; !p.seen[letter] {
		if p.seen == nil {
			p.seen = map[string]bool{}
		}
		p.seen[letter] = true
		return errGreylisted
	}
	return nil
}

// sms stands in for an SMS gateway, which wants numbers with their country.
// That won't change by trying again.
type sms struct{}

func (sms) Send(_ context.Context, to User, _ string) error {
	if !strings.HasPrefix(to.Phone, "+") {
		return policy.Permanent(fmt.Errorf("no country in number %q", to.Phone))
	}
	return nil
}

// push stands in for a push service that is down for a while.
type push struct {
	mu   sync.Mutex // protects down
	down bool
}

var errDown = errors.New("push service is down")

func (p *push) Send(context.Context, User, string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down {
		return errDown
	}
	return nil
}

func (p *push) recover() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = false
}

// A pace lets one caller through in every interval. It's what
// golang.org/x/time/rate has a better one of.
type pace struct {
	every time.Duration
	mu    sync.Mutex // protects next
	next  time.Time
}

func (p *pace) Wait(ctx context.Context) error {
	p.mu.Lock()
	now := time.Now()
	turn := p.next
	if turn.Before(now) {
		turn = now
	}
	p.next = turn.Add(p.every)
	p.mu.Unlock()
	timer := time.NewTimer(turn.Sub(now))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
