// Package seam is how the packages on top of herald, such as broker, reach
// what the root package doesn't export: joining a subscription to several
// topics, and asking when it has something to do. The root package fills in
// the functions. Topics, subscriptions and views go through here as any,
// since their types carry a parameter; a value of another type is a bug of
// this module and panics.
package seam

import (
	"context"
	"log/slog"
	"time"
)

// A Source is what a view's subscriptions get their messages from.
type Source interface {
	// Describe returns what errors and statistics call the source, and where
	// its subscriptions log.
	Describe() (topic string, log *slog.Logger)
	// Add begins to offer messages to a subscription of that name.
	Add(sub any, name string) error
	// Remove ends that; idempotent.
	Remove(sub any)
}

// A Keeper has a say about the subscriptions made of one topic directly.
type Keeper struct {
	// Claim is asked before a subscription with that name is added; its error
	// is that of Subscribe. Release tells that the name is free again.
	Claim   func(name string, sub any) error
	Release func(name string)
	// Put takes dead letters, as herald.DeadLetter[T] of the topic's T, where
	// the view says nothing else. May be nil.
	Put func(letter any) error
}

var (
	// SetSource makes the *herald.View[T] a view of src.
	SetSource func(view any, src Source)
	// SetKeeper gives a *herald.Topic[T] that nobody uses yet its keeper.
	SetKeeper func(topic any, k Keeper)
	// Attach lets a *herald.Topic[U] offer its messages to each
	// *herald.Subscription[T] of another source, in one step: to all or, with an
	// error, to none. U is T, or T is an interface that U implements. Detach
	// ends that; idempotent.
	Attach func(topic any, subs ...any) error
	Detach func(topic, sub any)
	// Rest puts a value into wake, a channel of size 1, once a
	// *herald.Subscription[T] has something to do other than what becomes due in
	// next by itself (ok false: nothing will). leave ends that, and must be
	// called before anybody consumes from it again.
	Rest func(sub any, wake chan struct{}) (next time.Duration, ok bool, leave func())
	// Step is Step of a *herald.Subscription[T] with a herald.Handler[T]. stopped
	// reports whether its attempt ended with policy.Stop, which may be without
	// an error.
	Step func(ctx context.Context, sub, h any) (ok, stopped bool, err error)
	// Home identifies the subscription that a herald.DeadLetter[T] goes back to;
	// nil: there's none. It's comparable, and keeps nothing alive that is closed.
	Home func(letter any) any
	// EndRun makes the Run that consumes a *herald.Subscription[T] return err
	// once its handlers have returned, as policy.Stop does. It reports whether
	// there is one.
	EndRun func(sub any, err error) bool
)
