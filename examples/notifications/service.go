package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/broker"
	"github.com/heraldbus/herald/middleware"
	"github.com/heraldbus/herald/policy"
)

// A service sends notifications: a broker with a topic for each kind of them
// and a subscription for each way to a user.
type service struct {
	broker   broker.Broker
	users    map[string]User
	channels []*herald.Subscription[Notification]
	digest   *herald.Subscription[Notification] // the last of channels
	ledger   ledger
}

const (
	queue      = 64 // notifications that wait for a channel; then the input waits
	workers    = 4  // users that a channel serves at once
	batch      = 8  // news in a digest at most,
	collecting = 50 * time.Millisecond
)

func newService(users map[string]User, p *providers) (*service, error) {
	s := &service{users: users}
	for kind := range priorities {
		if _, err := broker.Topic[Notification](&s.broker, kind.topic()); err != nil {
			return nil, err
		}
	}
	smsPace := middleware.RateLimit(&pace{every: 2 * time.Millisecond})
	errs := []error{
		s.add("mail", &p.mail, byMail),
		s.add("sms", p.sms, bySMS, herald.WithMiddleware(smsPace)),
		s.add("push", &p.push, byPush),
	}
	var err error
	s.digest, err = broker.Match[Notification](&s.broker, "notify.news").
		Filter(s.prefer(inDigest)).
		KeyBy(once).
		Subscribe("digest", common...)
	s.channels = append(s.channels, s.digest)
	return s, errors.Join(append(errs, err)...)
}

// common is how every subscription of the service queues and retries.
var common = []herald.SubOption{
	herald.WithCapacity(queue),
	herald.WithOverflow(policy.Block(0)),
	herald.WithRetry(policy.Exponential{Attempts: 3, Base: 5 * time.Millisecond}),
}

// once takes a message's key away: a digest is about many messages of one user.
func once(herald.Message[Notification]) string { return "" }

// add makes a channel: a subscription to all kinds of notifications that the
// broker runs.
func (s *service) add(name string, ch Channel, p preference, opts ...herald.SubOption) error {
	opts = append([]herald.SubOption{herald.WithConcurrency(workers)}, opts...)
	sub, err := broker.Match[Notification](&s.broker, "notify.>").
		Filter(s.prefer(p)).
		Subscribe(name, append(opts, common...)...)
	if err != nil {
		return err
	}
	s.channels = append(s.channels, sub)
	return broker.Attach(&s.broker, sub, func(ctx context.Context, m herald.Message[Notification]) error {
		if err := ch.Send(ctx, s.users[m.Payload.User], m.Payload.Text); err != nil {
			return fmt.Errorf("%s to %s: %w", name, m.Payload.User, err)
		}
		s.ledger.sent(name, m.Payload)
		return nil
	})
}

// start runs the service until it's stopped or ctx ends. The channel has its
// error.
func (s *service) start(ctx context.Context) <-chan error {
	ended := make(chan error, 1)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.broker.Run(ctx) })
	g.Go(func() error { return s.digest.RunBatch(ctx, batch, collecting, s.mailDigest) })
	go func() { ended <- g.Wait() }()
	return ended
}

// stop ends the input, waits until all is sent, and for the service to end.
func (s *service) stop(ctx context.Context, ended <-chan error) error {
	return errors.Join(s.broker.Drain(ctx), <-ended)
}

// mailDigest makes one mail for each user of a batch of news.
func (s *service) mailDigest(_ context.Context, ms []herald.Message[Notification]) error {
	news := map[string][]string{}
	for _, m := range ms {
		news[m.Payload.User] = append(news[m.Payload.User], m.Payload.Text)
	}
	for user, texts := range news {
		s.ledger.digested(user, strings.Join(texts, " "), len(texts))
	}
	return nil
}

// replay sends the dead letters of a channel again, as many at a time as its
// queue has room for. It returns how many.
func (s *service) replay(ctx context.Context, channel string) (n int, err error) {
	for {
		some, err := s.broker.DeadLetters().Replay(ctx, func(l broker.Letter) bool {
			return l.Subscription == channel && l.Reason == herald.RetriesExhausted
		})
		n += some
		if !errors.Is(err, herald.ErrFull) {
			return n, err
		}
		if err := s.broker.WaitIdle(ctx); err != nil {
			return n, err
		}
	}
}
