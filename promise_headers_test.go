package herald_test

import (
	"context"
	"maps"
	"strings"
	"testing"

	"github.com/heraldbus/herald"
)

func headers(kv ...string) herald.Headers {
	m := map[string]string{}
	for i := 0; i < len(kv); i += 2 {
		m[kv[i]] = kv[i+1]
	}
	return herald.NewHeaders(m)
}

// Headers are a copy of the map that they're made of, and never change (G35).
func TestG35_HeadersAreACopy(t *testing.T) {
	kv := map[string]string{"a": "1", "b": "2"}
	h := herald.NewHeaders(kv)
	kv["a"], kv["c"] = "changed", "new"
	delete(kv, "b")
	wantEqual(t, map[string]string{"a": "1", "b": "2"}, maps.Collect(h.All()))
}

// They answer like a map that can't be written: sorted by key, with the empty value told from none (G35).
func TestG35_HeadersAnswer(t *testing.T) {
	h := headers("b", "2", "", "no key", "a", "1", "c", "")
	var keys []string
	for k := range h.All() {
		keys = append(keys, k)
		if k == "b" {
			break
		}
	}
	wantEqual(t, []string{"", "a", "b"}, keys)
	for key, want := range map[string]string{"a": "1", "b": "2", "c": "", "": "no key"} {
		if v, ok := h.Lookup(key); v != want || !ok || h.Get(key) != want {
			t.Errorf("%q is %q, %v", key, v, ok)
		}
	}
	if v, ok := h.Lookup("d"); v != "" || ok || h.Get("d") != "" || h.Len() != 4 {
		t.Errorf("there is a header d: %q", v)
	}
	var none herald.Headers
	if v, ok := none.Lookup("a"); v != "" || ok || none.Get("") != "" || none.Len() != 0 {
		t.Errorf("no headers have a: %q", v)
	}
}

// Equal is about entries, not about how they came (G35).
func TestG35_HeadersEqual(t *testing.T) {
	a := headers("a", "1", "b", "2")
	for what, c := range map[string]struct {
		other herald.Headers
		want  bool
	}{
		"same":    {headers("b", "2", "a", "1"), true},
		"value":   {headers("a", "1", "b", "3"), false},
		"key":     {headers("a", "1", "c", "2"), false},
		"fewer":   {headers("a", "1"), false},
		"more":    {headers("a", "1", "b", "2", "c", "3"), false},
		"nothing": {herald.Headers{}, false},
	} {
		if a.Equal(c.other) != c.want || c.other.Equal(a) != c.want {
			t.Errorf("%s: Equal is %v", what, !c.want)
		}
	}
	if !herald.NewHeaders(nil).Equal(herald.Headers{}) || !herald.NewHeaders(map[string]string{}).Equal(herald.Headers{}) {
		t.Error("no headers differ from no headers")
	}
}

// sent publishes with opts and returns the headers that arrive.
func sent(t *testing.T, opts ...herald.PublishOption) herald.Headers {
	t.Helper()
	topic := newBus[int](t)
	s := subscribe(t, topic, "s")
	wantErr(t, "Publish", topic.Publish(t.Context(), 1, opts...), nil)
	d, ok := s.TryReceive()
	if !ok {
		t.Fatal("nothing there")
	}
	d.Ack()
	return d.Headers()
}

// Of several options that give a key the last wins, in whatever form (G35).
func TestG35_LastHeaderWins(t *testing.T) {
	h := headers("a", "1", "b", "2")
	for what, c := range map[string]struct {
		got, want herald.Headers
	}{
		"none":            {sent(t), headers()},
		"one":             {sent(t, herald.WithHeader("a", "9")), headers("a", "9")},
		"twice":           {sent(t, herald.WithHeader("a", "9"), herald.WithHeader("a", "8")), headers("a", "8")},
		"all, then one":   {sent(t, herald.WithHeaders(h), herald.WithHeader("a", "9")), headers("a", "9", "b", "2")},
		"one, then all":   {sent(t, herald.WithHeader("a", "9"), herald.WithHeaders(h)), headers("a", "1", "b", "2")},
		"all, then all":   {sent(t, herald.WithHeaders(h), herald.WithHeaders(headers("b", "7", "c", "3"))), headers("a", "1", "b", "7", "c", "3")},
		"one beside all":  {sent(t, herald.WithHeader("0", "9"), herald.WithHeaders(h)), headers("0", "9", "a", "1", "b", "2")},
		"all, then none":  {sent(t, herald.WithHeaders(h), herald.WithHeaders(herald.Headers{})), h},
		"an empty value":  {sent(t, herald.WithHeaders(h), herald.WithHeader("a", "")), headers("a", "", "b", "2")},
		"a long key last": {sent(t, herald.WithHeader(strings.Repeat("z", 99), "9"), herald.WithHeaders(h)), headers("a", "1", "b", "2", strings.Repeat("z", 99), "9")},
	} {
		if !c.got.Equal(c.want) {
			t.Errorf("%s: got %v, want %v", what, maps.Collect(c.got.All()), maps.Collect(c.want.All()))
		}
	}
	wantEqual(t, map[string]string{"a": "1", "b": "2"}, maps.Collect(h.All())) // unchanged by it all
}

// A message is the handler's own copy: what it changes in it nobody else sees, not even the next attempt (G35).
func TestG35_MessageIsTheHandlersOwn(t *testing.T) {
	topic := newBus[int](t)
	a := subscribe(t, topic.Filter(func(m herald.Message[int]) bool {
		m.Key, m.Payload, m.Seq = "filter's", 99, 99
		return true
	}), "a", retryAtOnce(nil)...)
	b := subscribe(t, topic, "b")
	h := headers("h", "v")
	wantErr(t, "Publish", topic.Publish(t.Context(), 1, herald.WithKey("k"), herald.WithPriority(herald.High), herald.WithHeaders(h)), nil)
	check := func(attempt int32) herald.Handler[int] {
		return func(_ context.Context, m herald.Message[int]) error {
			wantEqual(t, []any{uint64(1), "k", attempt, herald.High, 1, "v", 1},
				[]any{m.Seq, m.Key, m.Attempt, m.Priority, m.Payload, m.Headers().Get("h"), m.Headers().Len()})
			m.Seq, m.Key, m.Attempt, m.Priority, m.Payload = 7, "mine", 7, herald.Low, 7
			m.Meta = herald.Meta{}
			if attempt == 1 {
				return errAttempt
			}
			return nil
		}
	}
	stepWith(t, a, check(1))
	stepWith(t, a, check(2))
	stepWith(t, b, check(1))
}

// What one publish gives its message no other message has: neither one before it, which waits still, nor one after it
// (G35).
func TestG35_OptionsConcernOneMessage(t *testing.T) {
	topic := newBus[int](t)
	s := subscribe(t, topic, "s")
	publishAll(t, topic, 1)
	wantErr(t, "Publish", topic.Publish(t.Context(), 2, herald.WithHeader("h", "v"), herald.WithID("id"), herald.WithKey("k"),
		herald.WithPriority(herald.High), herald.WithTTL(1<<40)), nil)
	publishAll(t, topic, 3)
	for range 3 {
		d, ok := s.TryReceive()
		if !ok {
			t.Fatal("nothing there")
		}
		if special := d.Payload == 2; special != (d.Headers().Len() == 1) || special != (d.ID() == "id") || special != (d.Key == "k") ||
			special != (d.Priority == herald.High) || special == d.Expires().IsZero() {
			t.Errorf("message %d has %v, ID %q, expires %v", d.Payload, d.Meta, d.ID(), d.Expires())
		}
		d.Ack()
	}
}

// Nor does a message share headers with one whose publish added to the same Headers (G35).
func TestG35_HeadersMayBeSharedByPublishes(t *testing.T) {
	topic, h := newBus[int](t), headers("a", "1")
	s := subscribe(t, topic, "s")
	for _, v := range []string{"x", "y"} {
		wantErr(t, "Publish", topic.Publish(t.Context(), 1, herald.WithHeaders(h), herald.WithHeader("b", v), herald.WithHeader("a", v)), nil)
	}
	for _, v := range []string{"x", "y"} {
		d, _ := s.TryReceive()
		if !d.Headers().Equal(headers("a", v, "b", v)) {
			t.Errorf("headers %v", d.Headers())
		}
		d.Ack()
	}
	if !h.Equal(headers("a", "1")) {
		t.Errorf("headers %v", h)
	}
}
