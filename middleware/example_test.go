package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/middleware"
	"github.com/heraldbus/herald/policy"
)

// printed is a logger whose records say nothing that changes from run to run.
func printed() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "duration" {
				return slog.Attr{}
			}
			return a
		},
	}))
}

// A handler that minds its context gets no longer than the timeout.
func ExampleTimeout() {
	ctx := context.Background()
	var orders herald.Topic[string]
	sub, err := orders.Subscribe("slow", herald.WithMiddleware(middleware.Timeout(time.Millisecond)))
	if err != nil {
		fmt.Println(err)
		return
	}
	orders.Publish(ctx, "order 1")
	sub.Step(ctx, func(ctx context.Context, m herald.Message[string]) error {
		<-ctx.Done() // a query that takes too long
		fmt.Println(context.Cause(ctx))
		return ctx.Err()
	})
	// Output:
	// attempt timed out after 1ms: context deadline exceeded
}

// A bad argument is an error of Subscribe.
func ExampleTimeout_badArgument() {
	var orders herald.Topic[string]
	_, err := orders.Subscribe("slow", herald.WithMiddleware(middleware.Timeout(0)))
	fmt.Println(errors.Is(err, herald.ErrOption))
	fmt.Println(err)
	// Output:
	// true
	// subscribe slow: herald: bad option: middleware 0: panic: middleware.Timeout: 0s is not positive
}

func ExampleLog() {
	ctx := context.Background()
	orders, err := herald.NewTopic[string]("orders")
	if err != nil {
		fmt.Println(err)
		return
	}
	log := middleware.Log(printed().With("subscription", "store"))
	sub, err := orders.Subscribe("store", herald.WithMiddleware(log), herald.WithRetry(policy.Schedule{0}))
	if err != nil {
		fmt.Println(err)
		return
	}
	orders.Publish(ctx, "order 1", herald.WithID("1"), herald.WithKey("alice"))
	orders.Close()
	sub.Run(ctx, func(_ context.Context, m herald.Message[string]) error {
		if m.Attempt == 1 {
			return errors.New("connection refused")
		}
		return nil
	})
	// Output:
	// level=INFO msg="herald: attempt failed" subscription=store topic=orders id=1 seq=1 key=alice attempt=1 priority=normal error="connection refused"
	// level=DEBUG msg="herald: attempt succeeded" subscription=store topic=orders id=1 seq=1 key=alice attempt=2 priority=normal
}

// A publisher that isn't sure sends again. The ID is its order's, so the
// handler sees each order once.
func ExampleDedupe() {
	ctx := context.Background()
	var orders herald.Topic[string]
	sub, err := orders.Subscribe("charge", herald.WithMiddleware(middleware.Dedupe(4096)))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, order := range []string{"order 1", "order 2", "order 1"} {
		orders.Publish(ctx, order, herald.WithID(order))
	}
	orders.Close()
	sub.Run(ctx, func(_ context.Context, m herald.Message[string]) error {
		fmt.Println("charge", m.Payload)
		return nil
	})
	fmt.Println("delivered", sub.Stats().Delivered)
	// Output:
	// charge order 1
	// charge order 2
	// delivered 3
}

// A turnstile is a limiter that lets one through at a time, when told to.
type turnstile chan struct{}

func (t turnstile) Wait(ctx context.Context) error {
	select {
	case <-t:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// In a program the limiter is rate.NewLimiter(100, 10) of golang.org/x/time/rate:
// a hundred attempts a second, ten of them at once.
func ExampleRateLimit() {
	ctx := context.Background()
	limiter := make(turnstile, 1)
	var orders herald.Topic[string]
	sub, err := orders.Subscribe("mail", herald.WithMiddleware(middleware.RateLimit(limiter)))
	if err != nil {
		fmt.Println(err)
		return
	}
	orders.Publish(ctx, "order 1")
	orders.Publish(ctx, "order 2")

	limiter <- struct{}{} // one turn
	ctx, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	err = sub.Run(ctx, func(_ context.Context, m herald.Message[string]) error {
		fmt.Println("mail about", m.Payload)
		return nil
	})
	s := sub.Stats()
	fmt.Println(err, "with", s.Queued, "queued and", s.Dead, "dead")
	// Output:
	// mail about order 1
	// context deadline exceeded with 1 queued and 0 dead
}

// A breaker stands for that of a library, such as sony/gobreaker, whose Execute
// is much like Do. This one opens after two failures in a row, for good.
type breaker struct{ failures int }

var errOpen = errors.New("circuit open")

func (b *breaker) Do(f func() error) error {
	if b.failures >= 2 {
		return errOpen
	}
	err := f()
	if err != nil {
		b.failures++
	} else {
		b.failures = 0
	}
	return err
}

// breakWith makes a middleware of a circuit breaker. A message that finds the
// circuit open is none the worse for it: it's tried again later, whatever the
// retry policy says.
func breakWith(b interface{ Do(func() error) error }, retryAfter time.Duration) herald.Middleware {
	return func(next herald.Next) herald.Next {
		return func(ctx context.Context, m herald.Meta) error {
			err := b.Do(func() error { return next(ctx, m) })
			if errors.Is(err, errOpen) {
				return policy.RetryAfter(retryAfter, err)
			}
			return err
		}
	}
}

// A circuit breaker isn't built in; it takes one function to fit one in.
func Example_circuitBreaker() {
	ctx := context.Background()
	var orders herald.Topic[string]
	sub, err := orders.Subscribe("store",
		herald.WithMiddleware(breakWith(&breaker{}, time.Hour)),
		herald.WithRetry(policy.Schedule{0, 0, 0}),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	orders.Publish(ctx, "order 1")
	for range 4 {
		ok, _ := sub.Step(ctx, func(context.Context, herald.Message[string]) error {
			fmt.Println("handled")
			return errors.New("connection refused")
		})
		fmt.Println("attempt:", ok)
	}
	s := sub.Stats()
	fmt.Println("in flight", s.InFlight, "dead", s.Dead)
	// Output:
	// handled
	// attempt: true
	// handled
	// attempt: true
	// attempt: true
	// attempt: false
	// in flight 1 dead 0
}
