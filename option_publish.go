package herald

import (
	"context"
	"fmt"
	"time"
)

// A PublishOption changes the message of one Publish, or all of one
// PublishBatch. It's a small value: options cost no allocation where they're
// passed directly to Publish, except for headers.
type PublishOption struct {
	what *setting // nil only in the zero option
	n    int64
	s    string
} // four words: of more, the compiler would make copies in memory

// A setting says what an option sets. Those of options without headers are
// shared.
type setting struct {
	kind    settingKind
	value   string // of a header
	headers Headers
}

type settingKind uint8

const (
	setKey settingKind = iota
	setPriority
	setTTL
	setDelay
	setHeader
	setHeaders
	setID
)

var settings = [...]setting{setKey: {}, setPriority: {kind: setPriority}, setTTL: {kind: setTTL}, setDelay: {kind: setDelay}, setID: {kind: setID}}

// WithKey gives the message a key: messages with equal non-empty keys stay
// in order, whatever the concurrency.
func WithKey(key string) PublishOption { return PublishOption{what: &settings[setKey], s: key} }

// WithPriority lets the message overtake all of lower priority that wait.
func WithPriority(p Priority) PublishOption {
	return PublishOption{what: &settings[setPriority], n: int64(p)}
}

// WithTTL makes the message expire d after Publish. Zero means never, also
// where the topic has a default.
func WithTTL(d time.Duration) PublishOption {
	return PublishOption{what: &settings[setTTL], n: int64(d)}
}

// WithDelay makes the message wait for d after Publish before it takes its
// place in line. It counts against the capacity meanwhile.
func WithDelay(d time.Duration) PublishOption {
	return PublishOption{what: &settings[setDelay], n: int64(d)}
}

// WithHeader adds one header. Of several with the same key the last wins.
func WithHeader(key, value string) PublishOption {
	return PublishOption{what: &setting{kind: setHeader, value: value}, s: key}
}

// WithHeaders adds all of h.
func WithHeaders(h Headers) PublishOption {
	return PublishOption{what: &setting{kind: setHeaders, headers: h}}
}

// WithID sets the message's ID, which herald otherwise makes. It's the
// publisher's business to keep it unique; middleware.Dedupe goes by it. An empty
// ID is an error at Publish.
func WithID(id string) PublishOption { return PublishOption{what: &settings[setID], s: id} }

// An envelope is what a publish adds to its payloads: the same Meta for all
// of them but for Seq, and when they are due.
type envelope struct {
	Meta
	due   int64 // 0: at once
	plain bool  // none of it has to do with key or time
}

// compose makes the blank e the envelope of the n messages of one publish. It
// checks everything that can be wrong with that, so that what fails here has
// changed nothing.
func (e *envelope) compose(ctx context.Context, o *origin, n int, opts []PublishOption) error {
	e.rare, e.plain = &o.plain, o.plain.ttl == 0
	if !o.untimed || !e.plain {
		e.at = clock()
	}
	if len(opts) == 0 && !o.values {
		return nil
	}
	return e.dress(ctx, n, opts)
}

// dress adds what is rare.
func (e *envelope) dress(ctx context.Context, n int, opts []PublishOption) error {
	if e.rare.origin.values {
		e.own().values = context.WithoutCancel(ctx)
	}
	for i := range opts {
		o := &opts[i]
		if o.what == &settings[setPriority] && Priority(o.n).Valid() {
			e.Priority = Priority(o.n) // often the only option
			continue
		}
		if err := e.set(o, n); err != nil {
			return err
		}
		e.plain = isPlain(&e.Meta, e.due)
	}
	return nil
}

// own returns a rare that only this envelope has.
func (e *envelope) own() *rare {
	if plain := &e.rare.origin.plain; e.rare == plain {
		r := *plain
		e.rare = &r
	}
	return e.rare
}

func (e *envelope) set(o *PublishOption, n int) error {
	if o.what == nil {
		return fmt.Errorf("%w: zero PublishOption", ErrOption)
	}
	switch o.what.kind {
	case setKey:
		e.Key = o.s
	case setPriority:
		e.Priority = Priority(o.n)
		if !e.Priority.Valid() {
			return fmt.Errorf("%w: priority %d", ErrOption, o.n)
		}
	case setTTL:
		if o.n < 0 {
			return fmt.Errorf("%w: TTL %v is negative", ErrOption, time.Duration(o.n))
		}
		e.own().ttl, e.own().expires = 0, 0
		if o.n > 0 {
			e.own().expires = later(e.read(), time.Duration(o.n))
		}
	case setDelay:
		if o.n < 0 {
			return fmt.Errorf("%w: delay %v is negative", ErrOption, time.Duration(o.n))
		}
		e.due = 0
		if o.n > 0 {
			e.due = later(e.read(), time.Duration(o.n))
		}
	case setHeader:
		e.own().headers = e.rare.headers.with(o.s, o.what.value)
		return e.rare.headers.check()
	case setHeaders:
		e.own().headers = e.rare.headers.merge(o.what.headers)
		return e.rare.headers.check()
	case setID:
		switch {
		case o.s == "":
			return fmt.Errorf("%w: empty ID", ErrOption)
		case n > 1:
			return fmt.Errorf("%w: one ID for %d messages", ErrOption, n)
		}
		e.own().id = o.s
	}
	return nil
}

// read returns the time of this publish, reading the clock if that wasn't
// done yet.
func (e *envelope) read() int64 {
	if e.at == 0 {
		e.at = clock()
	}
	return e.at
}
