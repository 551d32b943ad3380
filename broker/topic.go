package broker

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"log/slog"
	"reflect"
	"slices"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/internal/seam"
)

// A topic is one of the broker's topics, apart from the type of its values.
type topic struct {
	name   string
	number uint64
	elem   reflect.Type
	typed  anyTopic
}

// anyTopic is a *herald.Topic of any T.
type anyTopic interface {
	Stats() herald.TopicStats
	Close() error
}

// Topic returns the topic of that name, which it makes if there's none:
// opts and the rules for names are those of [herald.NewTopic], and for a topic
// that is there already opts aren't looked at. All subscriptions whose pattern
// matches have it before Topic returns. If there's one with values of another
// type the error is a [*TypeError]; beyond the limit it's [herald.ErrLimit],
// also where the matching subscriptions are too many for the topic. After
// Close it's [herald.ErrClosed].
//
// A topic that its user closes keeps its name, and Topic goes on returning
// it, until [Broker.Delete].
func Topic[T any](b *Broker, name string, opts ...herald.TopicOption) (*herald.Topic[T], error) {
	const op = "topic"
	if b.closed.Load() {
		return nil, fail(op, name, "", herald.ErrClosed)
	}
	if t := b.lookup(name); t != nil {
		return as[T](op, t)
	}
	opts = append([]herald.TopicOption{herald.WithLogger(b.log())}, opts...)
	typed, err := herald.NewTopic[T](name, opts...)
	if err != nil {
		return nil, err
	}
	seam.SetKeeper(typed, seam.Keeper{
		Claim:   b.claim,
		Release: b.release,
		Put:     func(letter any) error { return put(b, letter.(herald.DeadLetter[T])) },
	})
	t, err := b.add(&topic{name: name, elem: reflect.TypeFor[T](), typed: typed})
	if err != nil {
		return nil, fail(op, name, "", err)
	}
	return as[T](op, t)
}

// Lookup returns the topic of that name. If there's none the error is
// [ErrNotFound], if it has values of another type a [*TypeError].
func Lookup[T any](b *Broker, name string) (*herald.Topic[T], error) {
	const op = "lookup"
	t := b.lookup(name)
	if t == nil {
		return nil, fail(op, name, "", ErrNotFound)
	}
	return as[T](op, t)
}

// Publish publishes v to the topic of that name, see [herald.Topic.Publish].
// It doesn't make one: if there's none the error is [ErrNotFound], if it has
// values of another type a [*TypeError]. Whoever publishes often to one topic
// does better to keep it, and publish there.
func Publish[T any](ctx context.Context, b *Broker, name string, v T, opts ...herald.PublishOption) error {
	const op = "publish"
	t := b.lookup(name)
	switch {
	case t != nil:
	case b.closed.Load():
		return fail(op, name, "", herald.ErrClosed)
	default:
		return fail(op, name, "", ErrNotFound)
	}
	typed, err := as[T](op, t)
	if err != nil {
		return err
	}
	return typed.Publish(ctx, v, opts...)
}

// Delete closes the topic of that name and its own subscriptions, as
// [herald.Topic.Close] does, and forgets it: when Delete has returned its name
// and theirs are free, for a topic of another type too. Subscriptions by
// pattern lose it, but stay. What it has published is still delivered: by the
// broker, to the subscriptions that it handles. If there's none the error is
// [ErrNotFound].
func (b *Broker) Delete(name string) error {
	t := b.remove(name)
	if t == nil {
		return fail("delete", name, "", ErrNotFound)
	}
	return t.typed.Close()
}

// Topics yields the statistics of the topics, in order of their making.
func (b *Broker) Topics() iter.Seq[herald.TopicStats] {
	return func(yield func(herald.TopicStats) bool) {
		for _, t := range b.listTopics() {
			if !yield(t.typed.Stats()) {
				return
			}
		}
	}
}

// as returns a topic with its type.
func as[T any](op string, t *topic) (*herald.Topic[T], error) {
	if typed, ok := t.typed.(*herald.Topic[T]); ok {
		return typed, nil
	}
	return nil, fail(op, t.name, "", &TypeError{Topic: t.name, Has: t.elem, Asked: reflect.TypeFor[T]()})
}

func (b *Broker) lookup(name string) *topic {
	t, ok := b.byName.Load(name)
	if !ok {
		return nil
	}
	return t.(*topic)
}

// add adds a new topic, and gives it the subscriptions whose pattern
// matches. It returns the topic of that name, which is another one if
// somebody was faster.
func (b *Broker) add(t *topic) (*topic, error) {
	there, deaf, err := b.addLocking(t)
	for _, m := range deaf {
		b.warn("topic has values of another type than a subscription to it", slog.String("topic", t.name),
			slog.String("subscription", m.name), slog.String("has", t.elem.String()), slog.String("wants", m.elem.String()))
	}
	return there, err
}

// addLocking is add without its log: deaf are the subscriptions to just that
// name, but another type.
func (b *Broker) addLocking(t *topic) (there *topic, deaf []*member, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed.Load() {
		return nil, nil, herald.ErrClosed
	}
	if there = b.lookup(t.name); there != nil {
		return there, nil, nil
	}
	if n := b.topics.Len(); n >= limit(b.cfg.topics, defaultTopics) {
		return nil, nil, fmt.Errorf("%w: %d topics", herald.ErrLimit, n)
	}
	var subs []any
	for _, m := range inOrder(b.patterns.Matching(t.name), (*member).order) {
		switch {
		case m.takes(t):
			subs = append(subs, m.sub)
		case m.pattern == t.name:
			deaf = append(deaf, m)
		}
	}
	if err := seam.Attach(t.typed, subs...); err != nil {
		return nil, nil, fmt.Errorf("its subscriptions by pattern: %w", err)
	}
	t.number = b.nextNumberLocked()
	b.topics.Add(t.name, t)
	b.byName.Store(t.name, t)
	return t, deaf, nil
}

// remove forgets the topic of that name and returns it, or nil.
func (b *Broker) remove(name string) *topic {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.lookup(name)
	if t != nil {
		b.byName.Delete(name)
		b.topics.Remove(name, t)
	}
	return t
}

// withinLocked returns the topics that a pattern matches.
func (b *Broker) withinLocked(pattern string) []*topic {
	return inOrder(b.topics.Within(pattern), (*topic).order)
}

func (b *Broker) listTopics() []*topic {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.withinLocked(">")
}

// inOrder sorts, so that what the broker does depends on no map.
func inOrder[E any](seq iter.Seq[E], order func(a, b E) int) []E {
	return slices.SortedFunc(seq, order)
}

func (t *topic) order(o *topic) int { return cmp.Compare(t.number, o.number) }
