package herald

import (
	"context"
	"fmt"
)

// Publish offers v to every subscription. nil means that all of them accepted
// it; what each does with a message when its queue is full is the business of its
// overflow policy. A [*PublishError] names those that did not accept it, and
// why; all others did.
//
// Publish waits only for subscriptions under policy.Block, after it has
// offered v to all others, and for all of those at once; ctx bounds that wait. If
// ctx is done before, nobody gets v and the error is its cause. A closed
// topic is [ErrClosed], a bad option [ErrOption]; nothing has happened then.
//
// Publishes of which one happens before the other keep that order in every
// subscription. Inside a handler use the handler's ctx: a Publish that would
// wait for ever because its subscriptions wait for each other is then refused with
// [ErrDeadlock].
func (t *Topic[T]) Publish(ctx context.Context, v T, opts ...PublishOption) error {
	h := t.hub.Load() // open written out, which isn't inlined
	if h == nil {
		h = t.open()
	}
	r := h.roster.Load()
	if ctx == nil || ctx.Err() != nil || r.closed {
		return h.fail("publish", whyNot(ctx))
	}
	var e envelope
	if err := e.compose(ctx, h.origin, 1, opts); err != nil {
		return h.fail("publish", err)
	}
	if h.log != nil {
		_, err := h.record(ctx, "publish", &e, []T{v})
		return err
	}
	return h.publish(ctx, r, &e, &v)
}

// PublishBatch publishes the values of vs in their order, as so many calls of
// Publish with the same options would, at less cost: they share one time. It
// stops at the first value that some subscription refuses: accepted values were
// taken by all, the next one by those that the [*PublishError] doesn't name,
// later ones by nobody. vs may be used again. [WithID] is an error with more
// than one value.
func (t *Topic[T]) PublishBatch(ctx context.Context, vs []T, opts ...PublishOption) (accepted int, err error) {
	h := t.open()
	r := h.roster.Load()
	if ctx == nil || ctx.Err() != nil || r.closed {
		return 0, h.fail("publish batch", whyNot(ctx))
	}
	var e envelope
	if err := e.compose(ctx, h.origin, len(vs), opts); err != nil {
		return 0, h.fail("publish batch", err)
	}
	if h.log != nil {
		return h.recordAll(ctx, &e, vs)
	}
	for accepted < len(vs) {
		n := 0
		if e.plain && len(r.subs) == 1 && len(r.foreign) == 0 && r.subs[0].core.plain.bare {
			n = r.subs[0].pushAll(&e.Meta, &h.seq, vs[accepted:])
		}
		if n == 0 {
			if err := h.publish(ctx, r, &e, &vs[accepted]); err != nil {
				return accepted, err
			}
			n = 1
		}
		accepted += n
		if accepted == len(vs) {
			break
		}
		r = h.roster.Load()
		if ctx.Err() != nil || r.closed {
			return accepted, h.fail("publish batch", whyNot(ctx))
		}
	}
	return accepted, nil
}

// whyNot says why a publish can't begin, or a batch not go on: it's the
// context, or else the topic is closed.
func whyNot(ctx context.Context) error {
	switch {
	case ctx == nil:
		return fmt.Errorf("%w: nil context", ErrOption)
	case ctx.Err() != nil:
		return ended(ctx)
	}
	return ErrClosed
}

func (h *hub[T]) fail(op string, err error) error {
	return &Error{Op: op, Topic: h.origin.topic, Err: err}
}

// publish offers one message to all of r: the fast way as long as that
// works, which it does where nobody has to wait or refuses.
func (h *hub[T]) publish(ctx context.Context, r *roster[T], e *envelope, v *T) error {
	e.Seq = h.seq.Add(1)
	for i, s := range r.subs {
		if !e.plain || !s.core.plain.bare || !s.push(&e.Meta, v) {
			return h.publishRest(ctx, r, i, e, v)
		}
	}
	if len(r.foreign) > 0 {
		return h.publishRest(ctx, r, len(r.subs), e, v)
	}
	return nil
}

// publishRest offers a message to the subscriptions from the one with that
// index on, then waits for those it must.
func (h *hub[T]) publishRest(ctx context.Context, r *roster[T], next int, e *envelope, v *T) error {
	var p *publishing
	var bad []Refusal
	returned := false
	defer func() {
		if !returned && p != nil { // user code called Goexit
			p.giveUp(ErrHandlerExited)
		}
	}()
	for _, s := range r.subs[next:] {
		o, err := s.offer(e, v, &p)
		bad = append(bad, s.refusal(o, err)...)
	}
	if len(r.foreign) > 0 {
		p, bad = offerForeign(r.foreign, *e, *v, p, bad)
	}
	if p != nil {
		bad = append(bad, p.wait(ctx)...)
	}
	returned = true
	if bad != nil {
		return &PublishError{Topic: h.origin.topic, Seq: e.Seq, Refused: bad}
	}
	return nil
}

// refusal lists s as one that refused, if it did.
func (s *Subscription[T]) refusal(o outcome, err error) []Refusal {
	if o != refused {
		return nil
	}
	return []Refusal{{s.core.name, err}}
}

// offerForeign offers a message to subscriptions of interface types. Its
// parameters escape; they're copies, so that a publish without such
// subscriptions allocates nothing.
func offerForeign[T any](rs []receiver, e envelope, v T, p *publishing, bad []Refusal) (*publishing, []Refusal) {
	for _, s := range rs {
		if o, err := s.offerAny(&e, v, &p); o == refused {
			bad = append(bad, Refusal{s.base().name, err})
		}
	}
	return p, bad
}

// offer offers a message to s. If it has to wait, *p, made if need be, holds it.
func (s *Subscription[T]) offer(e *envelope, v *T, p **publishing) (outcome, error) {
	c := &s.core
	key := e.Key
	if s.view.keep != nil || s.view.key != nil {
		keep, err := s.judge(e, v, &key)
		if err != nil || !keep {
			return s.reject(e, v, key, err)
		}
		if c.plain.on && e.plain && key == "" && s.push(&e.Meta, v) {
			return taken, nil
		}
	}
	c.mu.Lock()
	if c.plain.on && e.plain && key == "" && !c.closed && !c.crowded() {
		c.promote()
		s.append(&e.Meta, v)
		c.unlock()
		return taken, nil
	}
	it := c.spare.take(c.owner)
	it.Meta, it.due = e.Meta, e.due
	it.Key = key
	nodeOf[T](it).payload = *v
	c.limitAge(it)
	return c.offer(it, p)
}

// reject ends an offer that the filter, or a panic in it, kept out.
func (s *Subscription[T]) reject(e *envelope, v *T, key string, err error) (outcome, error) {
	c := &s.core
	c.mu.Lock()
	closed := c.closed
	if !closed && err == nil {
		c.counts.filtered++
	}
	c.unlock()
	if closed {
		return absent, nil
	}
	if err != nil {
		return c.doom(s.unheld(e, v, key), FilterFailed, err)
	}
	return taken, nil
}

// judge asks the filter and the key function.
func (s *Subscription[T]) judge(e *envelope, v *T, key *string) (keep bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = newPanicError(r)
		}
	}()
	m := Message[T]{e.Meta, *v}
	if s.view.keep != nil && !s.view.keep(m) {
		return false, nil
	}
	if s.view.key != nil {
		*key = s.view.key(m)
	}
	return true, nil
}

// unheld is an item made while the core's mutex is free.
func (s *Subscription[T]) unheld(e *envelope, v *T, key string) *item {
	it := s.newItem()
	it.Meta, it.due = e.Meta, e.due
	it.Key = key
	nodeOf[T](it).payload = *v
	return it
}

// limitAge applies WithMaxAge to a new item.
func (c *core) limitAge(it *item) {
	if c.cfg.maxAge == 0 {
		return
	}
	if it.at == 0 {
		it.at = clock()
	}
	end := later(it.at, c.cfg.maxAge)
	if e := it.expires(); e != 0 && e <= end {
		return
	}
	if it.rare == &it.rare.origin.plain {
		it.rare = c.aged(it.rare)
		return
	}
	r := *it.rare
	r.ttl, r.expires = 0, end
	it.rare = &r
}

// aged returns the rare that the plain messages of one topic share in a
// subscription with a maximum age.
func (c *core) aged(plain *rare) *rare {
	if c.plainAged == nil || c.plainAged.origin != plain.origin {
		r := *plain
		r.ttl = int64(c.cfg.maxAge)
		c.plainAged = &r
	}
	return c.plainAged
}
