package main

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/heraldbus/herald"
)

// stages are the parts of a pipeline, each the consumer of one subscription.
type stages struct {
	run []func(ctx context.Context) error
	err error // of the subscriptions that could not be made
}

// A source is a topic or a view of one.
type source[T any] interface {
	Subscribe(name string, opts ...herald.SubOption) (*herald.Subscription[T], error)
}

// addStage subscribes to from. The stage handles what comes until from is closed and nothing is left; then it calls the
// functions in after, where it says what it found and closes what it feeds.
func addStage[T any](s *stages, from source[T], name string, handle herald.Handler[T], after []finish,
	opts ...herald.SubOption) {
	sub, err := from.Subscribe(name, opts...)
	s.err = errors.Join(s.err, err)
	s.run = append(s.run, func(ctx context.Context) error {
		if err := sub.Run(ctx, handle); err != nil {
			return err
		}
		for _, f := range after {
			if err := f(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// A finish is called when a stage has nothing left to handle.
type finish func(ctx context.Context) error

// start runs the stages in g; each ends when ctx does.
func (s *stages) start(ctx context.Context, g *errgroup.Group) {
	for _, run := range s.run {
		g.Go(func() error { return run(ctx) })
	}
}
