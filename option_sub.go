package herald

import (
	"fmt"
	"reflect"
	"time"

	"github.com/heraldbus/herald/policy"
)

// Defaults and limits of a subscription.
const (
	defaultCapacity = 1024
	maxCapacity     = 1 << 30
	maxConcurrency  = 1 << 16
	defaultLease    = 30 * time.Second
	maxWaiting      = 1 << 16 // publishers that may wait for room at a time
)

// A SubOption changes what Subscribe makes.
type SubOption struct{ apply func(*subConfig) error }

type subConfig struct {
	capacity    int
	sized       bool // WithCapacity
	concurrency int
	overflow    policy.Overflow // nil: by default
	retry       policy.Retry
	aside       bool
	latest      bool
	crash       bool
	lease       time.Duration
	maxAge      time.Duration
	middleware  []Middleware
	start       Start
}

func newSubConfig(opts []SubOption) (subConfig, error) {
	cfg := subConfig{
		capacity:    defaultCapacity,
		concurrency: 1,
		retry:       policy.Exponential{},
		lease:       defaultLease,
	}
	for _, o := range opts {
		if o.apply == nil {
			return cfg, fmt.Errorf("%w: zero SubOption", ErrOption)
		}
		if err := o.apply(&cfg); err != nil {
			return cfg, err
		}
	}
	return cfg, nil
}

// WithCapacity sets how many messages may wait in the subscription, queued
// and delayed together, before its overflow policy acts. The default is
// 1024. Memory follows what waits, not the capacity.
func WithCapacity(n int) SubOption {
	return SubOption{func(c *subConfig) error {
		c.capacity, c.sized = n, true
		if err := atLeastOne("capacity", n); err != nil {
			return err
		}
		return atMost("capacity", n, maxCapacity)
	}}
}

// WithOverflow sets what happens to a message that meets a full queue. The
// default is policy.DeadLetter where the view has DeadLetterTo, else
// policy.Reject.
func WithOverflow(o policy.Overflow) SubOption {
	return SubOption{func(c *subConfig) error {
		c.overflow = o
		return checkPolicy("overflow policy", o)
	}}
}

// WithRetry sets whether and when a failed message is tried again. The
// default is policy.Exponential{}: three attempts, 100 ms and 200 ms apart.
func WithRetry(r policy.Retry) SubOption {
	return SubOption{func(c *subConfig) error {
		c.retry = r
		return checkPolicy("retry policy", r)
	}}
}

// WithRetryAside lets a message that waits for its next attempt step aside:
// others overtake it, except those of its key. It counts as delayed and
// takes capacity. By default it's waited for, with the one worker that a
// subscription has by default.
func WithRetryAside() SubOption {
	return SubOption{func(c *subConfig) error {
		c.aside = true
		return nil
	}}
}

// WithConcurrency sets how many messages may be in flight at a time: so many
// workers a Run starts, and so many deliveries Receive hands out. Messages
// of one key are never in flight together. The default is 1, the most 65,536.
func WithConcurrency(n int) SubOption {
	return SubOption{func(c *subConfig) error {
		c.concurrency = n
		if err := atLeastOne("concurrency", n); err != nil {
			return err
		}
		return atMost("concurrency", n, maxConcurrency)
	}}
}

// WithLease sets how long a [Delivery] stays with who received it. The default
// is 30 s. It doesn't concern Run and Step.
func WithLease(d time.Duration) SubOption {
	return SubOption{func(c *subConfig) error {
		c.lease = d
		return positive("lease", d)
	}}
}

// WithMaxAge makes a message expire in this subscription that long after it
// was published, or when its own lifetime ends, if that is earlier.
func WithMaxAge(d time.Duration) SubOption {
	return SubOption{func(c *subConfig) error {
		c.maxAge = d
		return positive("maximum age", d)
	}}
}

// WithLatest keeps at most one queued message of each non-empty key: a newer
// one takes the place in line of the one that waits, which is counted as
// dropped (superseded).
func WithLatest() SubOption {
	return SubOption{func(c *subConfig) error {
		c.latest = true
		return nil
	}}
}

// WithMiddleware wraps every attempt of Run and Step. The first one is outermost. It adds
// to what an earlier WithMiddleware gave.
func WithMiddleware(ms ...Middleware) SubOption {
	return SubOption{func(c *subConfig) error {
		for i, m := range ms {
			if m == nil {
				return fmt.Errorf("%w: middleware %d is nil", ErrOption, i)
			}
		}
		c.middleware = append(c.middleware, ms...)
		return nil
	}}
}

// WithCrashOnPanic lets a panic of the handler end the program, as it would
// without herald, instead of counting as a failed attempt.
func WithCrashOnPanic() SubOption {
	return SubOption{func(c *subConfig) error {
		c.crash = true
		return nil
	}}
}

// checkPolicy asks a policy that can tell whether its fields are right.
func checkPolicy(what string, p any) error {
	if isNil(p) {
		return fmt.Errorf("%w: nil %s", ErrOption, what)
	}
	v, ok := p.(interface{ Validate() error })
	if !ok {
		return nil
	}
	if err := guard(v.Validate); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrOption, what, err)
	}
	return nil
}

// isNil reports whether p is nil or holds a nil pointer or function.
func isNil(p any) bool {
	if p == nil {
		return true
	}
	switch v := reflect.ValueOf(p); v.Kind() {
	case reflect.Pointer, reflect.Func:
		return v.IsNil()
	}
	return false
}
