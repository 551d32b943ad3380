package middleware

import (
	"context"
	"errors"
	"flag"
	"strconv"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errNo = errors.New("no")

func fail(context.Context, herald.Message[int]) error    { return errNo }
func succeed(context.Context, herald.Message[int]) error { return nil }

// subscribe makes a quiet topic with one subscription behind middleware.
func subscribe(t rapid.TB, ms []herald.Middleware, opts ...herald.SubOption) (*herald.Topic[int], *herald.Subscription[int]) {
	t.Helper()
	topic, err := herald.NewTopic[int]("orders", herald.WithLogger(discard))
	if err != nil {
		t.Fatal(err)
	}
	sub, err := topic.Subscribe("s", append(opts, herald.WithMiddleware(ms...))...)
	if err != nil {
		t.Fatal(err)
	}
	return topic, sub
}

// runAll closes the topic and runs the subscription to its end.
func runAll(t testing.TB, topic *herald.Topic[int], sub *herald.Subscription[int], h herald.Handler[int]) {
	t.Helper()
	topic.Close()
	if err := sub.Run(context.Background(), h); err != nil {
		t.Errorf("Run = %v", err)
	}
}

func publish(t rapid.TB, topic *herald.Topic[int], v int, opts ...herald.PublishOption) {
	t.Helper()
	if err := topic.Publish(context.Background(), v, opts...); err != nil {
		t.Fatal(err)
	}
}

// attempts makes a retry policy without delays.
func attempts(n int) herald.SubOption { return herald.WithRetry(make(policy.Schedule, n-1)) }

// check is rapid.Check that fails where rapid, short of time, ran fewer checks than asked.
func check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	ran := 0
	rapid.Check(t, func(t *rapid.T) {
		ran++
		property(t)
	})
	asked, err := strconv.Atoi(flag.Lookup("rapid.checks").Value.String())
	if err != nil {
		t.Fatal(err)
	}
	if !testing.Short() && ran < asked {
		t.Errorf("rapid ran %d of %d checks", ran, asked)
	}
	t.Logf("%d checks", ran)
}
