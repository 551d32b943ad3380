package herald

import (
	"context"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/heraldbus/herald/policy"
)

// Priority orders the messages that wait in a subscription: higher first.
// The zero value is [Normal].
type Priority = policy.Priority

// The four priorities. Any other value is an error at Publish.
const (
	Low      = policy.Low
	Normal   = policy.Normal
	High     = policy.High
	Critical = policy.Critical
)

// A Message is what a handler gets: the payload as it was published, and
// what herald knows about it. The struct is the handler's own copy; what the
// payload points to is shared by all subscriptions and must not be changed.
// Where T is large (some hundred bytes) use a pointer, since every
// subscription copies the message.
type Message[T any] struct {
	Meta
	Payload T
}

// Meta is everything about a message except its payload. It has no type
// parameter, so that middleware and tools serve all topics. It's small,
// because every subscription copies it: what is rare stands behind one
// shared pointer.
type Meta struct {
	Seq      uint64   // given by the topic at Publish: 1, 2, 3, …; the same in every subscription
	Key      string   // messages with equal non-empty keys stay in order
	Attempt  int32    // 1 on first delivery
	Priority Priority // higher first

	at   int64 // clock at Publish; 0 where nobody needs it
	rare *rare // nil only in a Meta that wasn't published
}

// rare holds what few messages have. A message without any of it points to
// the one that its topic shares among all such messages. Never written once
// a message points to it.
type rare struct {
	origin  *origin
	id      string
	headers Headers
	ttl     int64           // lifetime counted from at, ns; 0: none
	expires int64           // clock at which it expires; 0: by ttl
	replays int             // how often it came back from a dead-letter queue
	values  context.Context // the publisher's context, for its values only
}

// An origin is what a message remembers of its topic. It's a thing of its
// own, so that a message or dead letter that outlives the topic keeps
// nothing else of it in memory.
type origin struct {
	topic    string
	instance string // tells topics of one name apart
	start    moment
	untimed  bool // WithoutTime
	values   bool // WithPublisherValues
	plain    rare // of all messages that have nothing rare
}

func newOrigin(topic string, cfg topicConfig) *origin {
	o := &origin{
		topic:    topic,
		instance: strconv.FormatUint(rand.Uint64(), 36),
		start:    newMoment(),
		untimed:  cfg.untimed,
		values:   cfg.values,
	}
	o.plain = rare{origin: o, ttl: int64(cfg.ttl)}
	return o
}

// ID identifies the message: what [WithID] gave, else a string made of the
// topic's name, an identifier of this instance of the topic and Seq. The
// latter is formed at each call.
func (m Meta) ID() string {
	switch {
	case m.rare == nil:
		return ""
	case m.rare.id != "":
		return m.rare.id
	}
	o := m.rare.origin
	b := make([]byte, 0, len(o.topic)+len(o.instance)+22)
	b = append(b, o.topic...)
	b = append(b, '-')
	b = append(b, o.instance...)
	b = append(b, '-')
	return string(strconv.AppendUint(b, m.Seq, 10))
}

// Topic returns the name of the topic that the message was published to; it's
// empty for a message of a zero [Topic].
func (m Meta) Topic() string {
	if m.rare == nil {
		return ""
	}
	return m.rare.origin.topic
}

// Time returns when Publish accepted the message, or zero if the topic is
// [WithoutTime]. It's counted from the topic's creation on a monotonic
// clock, so later steps of the wall clock don't show.
func (m Meta) Time() time.Time {
	if m.rare == nil || m.rare.origin.untimed {
		return time.Time{}
	}
	return m.rare.origin.start.at(m.at)
}

// Expires returns the time at and after which no handler starts on the
// message. Zero: it never expires.
func (m Meta) Expires() time.Time {
	if m.rare == nil {
		return time.Time{}
	}
	return m.rare.origin.start.at(m.expires())
}

// Headers returns the headers that the publisher gave.
func (m Meta) Headers() Headers {
	if m.rare == nil {
		return Headers{}
	}
	return m.rare.headers
}

// Replays returns how often the message came back from a dead-letter queue.
func (m Meta) Replays() int {
	if m.rare == nil {
		return 0
	}
	return m.rare.replays
}

// Equal reports whether m and o say the same. It lets cmp.Diff compare
// messages.
func (m Meta) Equal(o Meta) bool {
	return m.Seq == o.Seq && m.Key == o.Key && m.Attempt == o.Attempt && m.Priority == o.Priority &&
		m.ID() == o.ID() && m.Topic() == o.Topic() && m.Replays() == o.Replays() &&
		m.Time().Equal(o.Time()) && m.Expires().Equal(o.Expires()) && m.Headers().Equal(o.Headers())
}

// expires is the clock reading at which the message expires; 0: never.
func (m *Meta) expires() int64 {
	switch {
	case m.rare.expires != 0:
		return m.rare.expires
	case m.rare.ttl != 0:
		return later(m.at, time.Duration(m.rare.ttl))
	}
	return 0
}
