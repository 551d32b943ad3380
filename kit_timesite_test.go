package herald_test

import (
	"context"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// The sites at which it's time that makes herald call user code: a message expires, or a lease runs out, and whoever
// looks next deals with it.

// leased receives a message of own that is there.
func (sc *scene) leased() *herald.Delivery[int] {
	sc.publish()
	d, ok := sc.own.TryReceive()
	if !ok {
		panic("nothing there")
	}
	return d
}

// expireBehind publishes a message to own that has expired when it returns.
func (sc *scene) expireBehind() {
	_ = sc.topic.Publish(context.Background(), 1, herald.WithTTL(1))
	for start := time.Now(); time.Since(start) < 2; {
	}
}

// expireLater publishes a message that nobody will handle before it expires.
func (sc *scene) expireLater() {
	_ = sc.topic.Publish(context.Background(), 1, herald.WithDelay(time.Hour), herald.WithTTL(time.Millisecond))
}

// settling is a trigger that calls settle on a delivery, while behind it a message has expired.
func settling(settle func(*herald.Delivery[int])) func(*scene) {
	return func(sc *scene) {
		d := sc.leased()
		sc.expireBehind()
		settle(d)
	}
}

// leaseLost is a trigger that lets a lease run out, and look find it.
func leaseLost(look func(*scene)) func(*scene) {
	return func(sc *scene) {
		sc.leased()
		for {
			select {
			case <-sc.acted:
				return
			default:
				look(sc)
			}
		}
	}
}

// whileConsuming is a trigger that lets a message expire while consume, whose context ends afterwards, waits.
func whileConsuming(consume func(context.Context, *scene)) func(*scene) {
	return func(sc *scene) {
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() {
			defer close(ended) // also by Goexit
			consume(ctx, sc)
		}()
		sc.expireLater()
		<-sc.acted
		cancel()
		<-ended
	}
}

func receiveAndAck(ctx context.Context, sc *scene) {
	var got tape[int]
	receiveAll(ctx, sc.own, &got)
}

func runWell(ctx context.Context, sc *scene) {
	_ = sc.own.Run(ctx, func(context.Context, herald.Message[int]) error { return nil })
}

func shortLease(*scene) []herald.SubOption {
	return []herald.SubOption{herald.WithLease(1), herald.WithRetry(policy.Never())}
}

func userRetry(sc *scene) []herald.SubOption {
	return []herald.SubOption{herald.WithLease(1), herald.WithRetry(retryFunc(func(int, error) (time.Duration, bool) {
		sc.user(context.Background())
		return 0, false
	}))}
}

func stats(sc *scene) { sc.own.Stats() }

func init() {
	for name, s := range map[string]site{
		"put, expired in Ack":     {trigger: settling(func(d *herald.Delivery[int]) { _ = d.Ack() }), build: with(toPut, nil)},
		"put, expired in Nack":    {trigger: settling(func(d *herald.Delivery[int]) { _ = d.Nack(errAttempt) }), build: with(toPut, retryAtOnce)},
		"put, expired in Release": {trigger: settling(func(d *herald.Delivery[int]) { _ = d.Release() }), build: with(toPut, nil)},
		"put, expired in Extend": {build: with(toPut, nil), trigger: settling(func(d *herald.Delivery[int]) {
			defer d.Release()
			_ = d.Extend(time.Hour)
		})},
		"put, expired in Run":        {trigger: whileConsuming(runWell), build: with(toPut, nil)},
		"put, expired in Receive":    {trigger: whileConsuming(receiveAndAck), build: with(toPut, nil)},
		"put, lease lost":            {trigger: leaseLost(stats), build: with(toPut, shortLease)},
		"put, lease lost in Publish": {trigger: leaseLost((*scene).publish), build: with(toPut, func(sc *scene) []herald.SubOption { return append(shortLease(sc), capacityOne(sc)...) })},
		"retry policy, lease lost":   {trigger: leaseLost(stats), build: with(nil, userRetry)},
		"put, expired in a wait": {build: with(toPut, func(sc *scene) []herald.SubOption {
			return append(capacityOne(sc), herald.WithOverflow(policy.Block(5*time.Millisecond)))
		}), trigger: func(sc *scene) {
			sc.expireLater()
			sc.publish()
		}},
	} {
		sites[name] = s
	}
}
