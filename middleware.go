package herald

import (
	"context"
	"fmt"
)

// A Middleware wraps the attempts of a subscription: it's given what comes
// after it and returns what is to be called instead. It's called once for a
// subscription, by Subscribe, so that what it keeps lasts as long as the
// subscription does.
type Middleware func(next Next) Next

// Next makes an attempt. The context passed on must descend from the one
// given, which carries the message's payload; anything else is a failed attempt
// with [ErrOption]. Middleware has to be ready for concurrent calls where the
// subscription's concurrency is above 1.
type Next func(ctx context.Context, m Meta) error

// wrap builds the middleware around the handler that a consumer will bring.
func (s *Subscription[T]) wrap(ms []Middleware) error {
	if len(ms) == 0 {
		return nil
	}
	next := Next(s.invoke)
	for i := len(ms) - 1; i >= 0; i-- {
		var wrapped Next
		if err := guard(func() error { wrapped = ms[i](next); return nil }); err != nil {
			return fmt.Errorf("%w: middleware %d: %w", ErrOption, i, err)
		}
		if wrapped == nil {
			return fmt.Errorf("%w: middleware %d returned nil", ErrOption, i)
		}
		next = wrapped
	}
	s.next = next
	return nil
}

// caller returns how a worker calls h.
func (s *Subscription[T]) caller(h Handler[T]) calls {
	return calls{
		item: func(ctx context.Context, w *worker) error {
			n := nodeOf[T](w.cur)
			return s.call(ctx, w, h, &n.Meta, &n.payload)
		},
		begin: s.begin,
		walk:  func(w *worker) error { return s.walk(w, h) },
	}
}

// call calls h, through the middleware if there's any.
func (s *Subscription[T]) call(ctx context.Context, w *worker, h Handler[T], m *Meta, v *T) error {
	if s.next == nil {
		return h(ctx, Message[T]{*m, *v})
	}
	w.handler, w.payload = h, v
	defer func() { w.handler, w.payload = nil, nil }()
	return s.next(ctx, *m)
}

// invoke is what the innermost middleware calls: it finds handler and payload
// by the worker that ctx descends from.
func (s *Subscription[T]) invoke(ctx context.Context, m Meta) error {
	if ctx == nil {
		return fmt.Errorf("%w: middleware passed on a nil context", ErrOption)
	}
	w := workerOf(ctx)
	if w == nil || w.core != &s.core || w.handler == nil {
		return fmt.Errorf("%w: middleware passed on a context that doesn't descend from the one it was given", ErrOption)
	}
	return w.handler.(Handler[T])(ctx, Message[T]{m, *w.payload.(*T)})
}
