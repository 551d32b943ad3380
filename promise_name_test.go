package herald_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

var badTopicNames = map[string]string{
	"empty":               "",
	"a byte too long":     strings.Repeat("a", 256),
	"a rune too long":     strings.Repeat("é", 127) + "ab",
	"not UTF-8":           "a\xff",
	"half a rune":         "a\xc3",
	"newline":             "a\nb",
	"NUL":                 "a\x00",
	"delete":              "a\x7f",
	"C1 control":          "a\u0085b",
	"only a dot":          ".",
	"empty first word":    ".a",
	"empty last word":     "a.",
	"empty word inside":   "a..b",
	"star":                "*",
	"star as first word":  "*.a",
	"star as last word":   "a.*",
	"star inside":         "a.*.b",
	"arrow":               ">",
	"arrow as last word":  "a.>",
	"arrow as first word": ">.a",
}

var goodTopicNames = []string{
	"a", "a.b", "a.b.c.d.e.f", "orders.eu-west.created", "a b", "ä.ö", "注文", "a*", "*a", "a>b", "a.b*", "**", ">>", "🙂",
	strings.Repeat("a", 255), strings.Repeat("é", 127) + "a", strings.Repeat("a.", 127) + "a",
}

// A topic name is dotted words, 1 to 255 bytes of valid UTF-8 without control characters, no word empty or a wildcard;
// anything else is a typed error at once (G1).
func TestG01_TopicNames(t *testing.T) {
	for what, name := range badTopicNames {
		topic, err := herald.NewTopic[int](name)
		if topic != nil || !errors.Is(err, herald.ErrName) {
			t.Errorf("%s: NewTopic(%q) = %v, %v", what, name, topic, err)
		}
		if e, ok := errors.AsType[*herald.Error](err); !ok || e.Topic != name || e.Op == "" {
			t.Errorf("%s: error %#v does not name the topic", what, err)
		}
	}
	for _, name := range goodTopicNames {
		topic, err := herald.NewTopic[int](name)
		if err != nil {
			t.Errorf("NewTopic(%q) = %v", name, err)
		} else if topic.Name() != name || topic.Stats().Name != name {
			t.Errorf("NewTopic(%q) is named %q", name, topic.Name())
		}
	}
}

// Only the zero topic has no name, and it works (G1).
func TestG01_ZeroTopicHasNoName(t *testing.T) {
	var topic herald.Topic[int]
	s := subscribe(t, &topic, "s")
	if topic.Name() != "" || s.Stats().Topic != "" {
		t.Errorf("the zero topic is named %q", topic.Name())
	}
	publishAll(t, &topic, 1)
	wantEqual(t, []int{1}, takeAll(t, s))
}

var badSubscriptionNames = map[string]string{
	"empty":           "",
	"a byte too long": strings.Repeat("a", 256),
	"not UTF-8":       "a\xff",
	"tab":             "a\tb",
	"escape":          "\x1b[1m",
	"C1 control":      "a\u009f",
}

// A subscription name is 1 to 255 bytes of valid UTF-8 without control characters (G1). Dots and wildcards have no
// meaning in it.
func TestG01_SubscriptionNames(t *testing.T) {
	topic := newBus[int](t)
	for what, name := range badSubscriptionNames {
		s, err := topic.Subscribe(name)
		if s != nil || !errors.Is(err, herald.ErrName) {
			t.Errorf("%s: Subscribe(%q) = %v, %v", what, name, s, err)
		}
		if e, ok := errors.AsType[*herald.Error](err); !ok || e.Topic != "bus" || e.Subscription != name {
			t.Errorf("%s: error %#v does not name topic and subscription", what, err)
		}
	}
	for _, name := range []string{"a", "a..b", "*", ">", " ", "é", strings.Repeat("x", 255)} {
		if s := subscribe(t, topic, name); s.Name() != name || s.Stats().Name != name {
			t.Errorf("Subscribe(%q) is named %q", name, s.Name())
		}
	}
}

// A subscription name is unique in its topic while the subscription lives, and only there (G1).
func TestG01_NamesAreUniqueInTheirTopic(t *testing.T) {
	topic, other := newBus[int](t), newBusNamed[int](t, "other")
	subscribe(t, topic, "s")
	subscribe(t, other, "s")
	views := map[string]viewed[int]{
		"topic":  topic,
		"filter": topic.Filter(func(herald.Message[int]) bool { return true }),
		"keys":   topic.KeyBy(func(herald.Message[int]) string { return "" }),
		"put":    topic.DeadLetterTo(func(herald.DeadLetter[int]) error { return nil }),
	}
	for what, v := range views {
		s, err := v.Subscribe("s")
		if s != nil || !errors.Is(err, herald.ErrDuplicate) {
			t.Errorf("%s: second Subscribe = %v, %v", what, s, err)
		}
		if e, ok := errors.AsType[*herald.Error](err); !ok || e.Topic != "bus" || e.Subscription != "s" {
			t.Errorf("%s: error %#v does not name topic and subscription", what, err)
		}
	}
}

// A Subscribe that fails changes no state: nobody more is offered a message, and the name stays free (G1).
func TestG01_ErrorsChangeNothing(t *testing.T) {
	topic := newBus[int](t, herald.WithSubscriptionLimit(2))
	first := subscribe(t, topic, "first")
	fails := map[string]func() error{
		"name":   func() error { _, err := topic.Subscribe("\x00"); return err },
		"twice":  func() error { _, err := topic.Subscribe("first"); return err },
		"option": func() error { _, err := topic.Subscribe("second", herald.WithCapacity(0)); return err },
		"filter": func() error { _, err := topic.Filter(nil).Subscribe("second"); return err },
		"no store": func() error {
			_, err := topic.Subscribe("second", herald.WithOverflow(policy.DeadLetter()))
			return err
		},
	}
	for what, fail := range fails {
		if fail() == nil {
			t.Errorf("%s: no error", what)
		}
		wantEqual(t, herald.TopicStats{Name: "bus", Subscriptions: 1}, topic.Stats())
	}
	second := subscribe(t, topic, "second") // its name and its place are free
	publishAll(t, topic, 1)
	wantTally(t, first, tally{Offered: 1, Accepted: 1, Queued: 1})
	wantTally(t, second, tally{Offered: 1, Accepted: 1, Queued: 1})
}

// A name is free again when Close has returned, also while the closed subscription still delivers (G1), and it's
// another subscription that has it then.
func TestG01_NameIsFreeAfterClose(t *testing.T) {
	topic := newBus[int](t)
	old := subscribe(t, topic, "s")
	publishAll(t, topic, 1)
	old.Close()
	s := subscribe(t, topic, "s")
	publishAll(t, topic, 2)
	old.Close() // of the old one: nothing to the new one
	wantEqual(t, []int{1}, takeAll(t, old))
	if _, err := topic.Subscribe("s"); !errors.Is(err, herald.ErrDuplicate) {
		t.Errorf("the old one's end freed the new one's name: %v", err)
	}
	publishAll(t, topic, 3)
	wantEqual(t, []int{2, 3}, takeAll(t, s))
}

// So it is when the subscription was closed by its Drain, its handler, or policy.Disconnect.
func TestG01_NameIsFreeHoweverItWasClosed(t *testing.T) {
	for what, end := range map[string]func(*herald.Topic[int], *herald.Subscription[int]){
		"drain": func(_ *herald.Topic[int], s *herald.Subscription[int]) {
			takeAll(t, s)
			s.Drain(t.Context())
		},
		"handler": func(_ *herald.Topic[int], s *herald.Subscription[int]) {
			stepWith(t, s, func(context.Context, herald.Message[int]) error { return s.Close() })
		},
		"disconnect": func(topic *herald.Topic[int], _ *herald.Subscription[int]) {
			topic.Publish(t.Context(), 2)
		},
	} {
		topic := newBus[int](t)
		s := subscribe(t, topic, "s", herald.WithCapacity(1), herald.WithOverflow(policy.Disconnect()))
		publishAll(t, topic, 1)
		end(topic, s)
		if _, err := topic.Subscribe("s"); err != nil {
			t.Errorf("after %s: %v", what, err)
		}
	}
}

// Of several who ask for one name at the same time, one gets it (G1).
func TestG01_OneWinsTheName(t *testing.T) {
	topic := newBus[int](t)
	for range 100 {
		var won atomic.Int32
		var winner atomic.Pointer[herald.Subscription[int]]
		var g sync.WaitGroup
		for range 4 {
			g.Go(func() {
				s, err := topic.Subscribe("s")
				if err == nil {
					won.Add(1)
					winner.Store(s)
				} else if s != nil || !errors.Is(err, herald.ErrDuplicate) {
					t.Errorf("Subscribe = %v, %v", s, err)
				}
			})
		}
		g.Wait()
		if won.Load() != 1 || topic.Stats().Subscriptions != 1 {
			t.Fatalf("%d have the name, %d subscribe", won.Load(), topic.Stats().Subscriptions)
		}
		winner.Load().Close()
	}
}
