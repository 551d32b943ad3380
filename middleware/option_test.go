package middleware

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/heraldbus/herald"
)

// A bad argument is an error of Subscribe that says which, and changes nothing.
func TestG02_BadArguments(t *testing.T) {
	var none *fakeLimiter
	for want, m := range map[string]herald.Middleware{
		"Timeout: 0s is not positive":   Timeout(0),
		"Timeout: -1s is not positive":  Timeout(-time.Second),
		"Dedupe: a window of 0 IDs":     Dedupe(0),
		"Dedupe: a window of -5 IDs":    Dedupe(-5),
		"RateLimit: nil limiter":        RateLimit(nil),
		"RateLimit: nil limiter (more)": RateLimit(none),
	} {
		want = strings.TrimSuffix(want, " (more)")
		var topic herald.Topic[int]
		_, err := topic.Subscribe("s", herald.WithMiddleware(Log(nil), m))
		if !errors.Is(err, herald.ErrOption) || !strings.Contains(err.Error(), "middleware 1: ") ||
			!strings.Contains(err.Error(), "middleware."+want) {
			t.Errorf("want %q, got %v", want, err)
		}
		if _, err := topic.Subscribe("s"); err != nil {
			t.Errorf("after %q: %v", want, err)
		}
	}
}

// Limits cost nothing until they are used.
func TestG02_LargeArguments(t *testing.T) {
	topic, sub := subscribe(t, []herald.Middleware{Timeout(math.MaxInt64), Dedupe(math.MaxInt)})
	publish(t, topic, 1)
	runAll(t, topic, sub, succeed)
	if n := sub.Stats().Delivered; n != 1 {
		t.Errorf("delivered %d", n)
	}
}

// The first middleware is outermost.
func TestG16_Order(t *testing.T) {
	var got []string
	mark := func(name string) herald.Middleware {
		return func(next herald.Next) herald.Next {
			return func(ctx context.Context, m herald.Meta) error {
				got = append(got, name)
				defer func() { got = append(got, "/"+name) }()
				return next(ctx, m)
			}
		}
	}
	topic, sub := subscribe(t, []herald.Middleware{mark("a"), Log(discard), mark("b"), Dedupe(1), mark("c"),
		RateLimit(&fakeLimiter{}), mark("d"), Timeout(time.Hour), mark("e")})
	publish(t, topic, 1)
	runAll(t, topic, sub, succeed)
	if s := strings.Join(got, " "); s != "a b c d e /e /d /c /b /a" {
		t.Errorf("got %s", s)
	}
}
