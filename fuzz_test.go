package herald_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/heraldbus/herald"
)

// isText is what G1 says about any name.
func isText(name string) bool {
	return len(name) >= 1 && len(name) <= 255 && utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsControl)
}

// isTopicName is what G1 says about the name of a topic, written down once more.
func isTopicName(name string) bool {
	if !isText(name) {
		return false
	}
	for _, word := range strings.Split(name, ".") {
		if word == "" || word == "*" || word == ">" {
			return false
		}
	}
	return true
}

// FuzzTopicName shows that NewTopic takes exactly the names that G1 allows, and calls anything else ErrName.
func FuzzTopicName(f *testing.F) {
	for _, name := range badTopicNames {
		f.Add(name)
	}
	for _, name := range goodTopicNames {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		topic, err := herald.NewTopic[int](name)
		if good := isTopicName(name); good != (err == nil) || good != (topic != nil) {
			t.Fatalf("NewTopic(%q) = %v, %v", name, topic, err)
		}
		if err != nil {
			if !errors.Is(err, herald.ErrName) || err.Error() == "" {
				t.Errorf("error %v", err)
			}
			return
		}
		s := subscribe(t, topic, "s")
		publishAll(t, topic, 1)
		d, ok := s.TryReceive()
		if !ok || d.Topic() != name || !strings.HasPrefix(d.ID(), name) {
			t.Errorf("message of topic %q, ID %q", d.Topic(), d.ID())
		}
		d.Ack()
	})
}

// FuzzSubscriptionName shows the same of Subscribe.
func FuzzSubscriptionName(f *testing.F) {
	for _, name := range badSubscriptionNames {
		f.Add(name)
	}
	for _, name := range goodTopicNames {
		f.Add(name)
	}
	f.Add("..")
	topic, err := herald.NewTopic[int]("bus")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name string) {
		s, err := topic.Subscribe(name)
		if good := isText(name); good != (err == nil) || good != (s != nil) {
			t.Fatalf("Subscribe(%q) = %v, %v", name, s, err)
		}
		if err != nil {
			if !errors.Is(err, herald.ErrName) || err.Error() == "" {
				t.Errorf("error %v", err)
			}
			return
		}
		if _, err := topic.Subscribe(name); !errors.Is(err, herald.ErrDuplicate) {
			t.Errorf("second Subscribe(%q) = %v", name, err)
		}
		s.Close()
	})
}

// A headerFuzz reads operations on headers from fuzzed bytes, and does them to options and to a map as well.
type headerFuzz struct {
	data  []byte
	opts  []herald.PublishOption
	model map[string]string
	bad   bool // a limit was passed on the way, or a key was empty
}

func (h *headerFuzz) next() byte {
	if len(h.data) == 0 {
		return 0
	}
	b := h.data[0]
	h.data = h.data[1:]
	return b
}

// text reads a string, of up to 255 bytes, or of as many kibibytes where long.
func (h *headerFuzz) text(long bool) string {
	n := int(h.next())
	if long {
		return strings.Repeat("v", n<<10/16)
	}
	n = min(n%8, len(h.data))
	s := string(h.data[:n])
	h.data = h.data[n:]
	return s
}

// step does one operation.
func (h *headerFuzz) step() {
	switch op := h.next(); op % 4 {
	case 0, 1:
		k, v := h.text(false), h.text(op%4 == 1)
		h.opts = append(h.opts, herald.WithHeader(k, v))
		h.model[k] = v
	case 2:
		kv := map[string]string{}
		for range h.next() % 70 {
			kv[h.text(false)] = h.text(false)
		}
		headers := herald.NewHeaders(kv)
		maps.Copy(h.model, kv)
		clear(kv) // it was copied
		h.opts = append(h.opts, herald.WithHeaders(headers))
	default:
		h.opts = append(h.opts, herald.WithHeaders(herald.Headers{}))
	}
	h.check()
}

// check is G2, by the model.
func (h *headerFuzz) check() {
	size := 0
	for k, v := range h.model {
		h.bad = h.bad || k == ""
		size += len(k) + len(v)
	}
	h.bad = h.bad || len(h.model) > 64 || size > 8<<10
}

// FuzzHeaders shows that headers, however given, arrive as a map would hold them, and that a limit passed or an empty
// key is an error and nothing arrives (G2, G35).
func FuzzHeaders(f *testing.F) {
	many := []byte{2, 65}
	for i := range byte(65) {
		many = append(many, 2, 'k', i, 1, 'v')
	}
	f.Add([]byte{})
	f.Add([]byte{0, 1, 'a', 1, '1', 0, 1, 'a', 1, '2'})
	f.Add([]byte{0, 0, 0})
	f.Add([]byte{1, 1, 'a', 128, 1, 1, 'b', 1})
	f.Add([]byte{1, 1, 'a', 255, 1, 1, 'a', 0, 3})
	f.Add([]byte{2, 2, 1, 'b', 1, 'x', 1, 'a', 1, 'y', 0, 1, 'c', 1, 'z', 2, 1, 1, 'b', 0})
	f.Add(many)
	f.Fuzz(func(t *testing.T, data []byte) {
		h := headerFuzz{data: data, model: map[string]string{}}
		for len(h.data) > 0 && len(h.opts) < 100 {
			h.step()
		}
		var topic herald.Topic[int]
		s := subscribe(t, &topic, "s")
		err := topic.Publish(t.Context(), 1, h.opts...)
		if h.bad {
			if !errors.Is(err, herald.ErrOption) || s.Stats().Offered != 0 {
				t.Fatalf("Publish with %d headers = %v", len(h.model), err)
			}
			return
		}
		if err != nil {
			t.Fatalf("Publish with %d headers = %v", len(h.model), err)
		}
		d, _ := s.TryReceive()
		got := d.Headers()
		wantEqual(t, h.model, maps.Collect(got.All()))
		var keys []string
		for k, v := range got.All() {
			keys = append(keys, k)
			if l, ok := got.Lookup(k); l != v || !ok || got.Get(k) != v {
				t.Errorf("Lookup(%q) = %q, %v", k, l, ok)
			}
		}
		if !slices.IsSorted(keys) || got.Len() != len(h.model) || !got.Equal(herald.NewHeaders(h.model)) {
			t.Errorf("headers %v", keys)
		}
		d.Ack()
	})
}
