package herald_test

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
	"time"

	godiff "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/heraldbus/herald"
)

// sometimes leaves a comparison out, since what Stats finds out changes what comes after.
func (t *trial) sometimes(compare func()) func(*rapid.T) {
	return func(r *rapid.T) {
		if rapid.IntRange(0, 2).Draw(r, "unseen") < 2 {
			compare()
		}
	}
}

// compare fails unless topic and model agree on everything that can be asked.
func (t *trial) compare() {
	if now := time.Since(t.spec.begun); now != t.spec.now {
		t.Errorf("it's %v, want %v", now, t.spec.now)
	}
	open := 0
	var names []string
	for _, u := range t.subs {
		u.compare(t)
		closing := slices.Contains(t.spec.closing, u.spec) && !u.spec.quiet()
		if !u.spec.count.Closed || closing {
			names = append(names, u.spec.name)
		}
		if !u.spec.count.Closed {
			open++
		}
	}
	var got []string
	for s := range t.topic.Subscriptions() {
		got = append(got, s.Name)
	}
	if !slices.Equal(got, names) {
		t.Errorf("the topic's subscriptions are %q, want %q", got, names)
	}
	want := herald.TopicStats{Name: "spec", Published: t.spec.seq, Subscriptions: open, Closed: t.spec.closed}
	if got := t.topic.Stats(); got != want {
		t.Errorf("topic: -want +got\n%s", godiff.Diff(want, got))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Equal(t.fulls, t.spec.fulls) {
		t.Errorf("policy.Full: -want +got\n%s", godiff.Diff(t.spec.fulls, t.fulls))
	}
	t.fulls, t.spec.fulls = nil, nil
}

func (u *trialSub) compare(t *trial) {
	got := u.Stats()
	u.spec.same(t, "Stats", got)
	if got.Accepted != got.Delivered+got.Dead+got.Dropped+got.Discarded+got.Queued+got.Delayed+got.InFlight {
		t.Errorf("G4: accepted and ended or held: %+v", got)
	}
	if got.Offered+got.Replayed != got.Accepted+got.Filtered+got.Refused {
		t.Errorf("G4: offered and answered: %+v", got)
	}
	if name := wentDown(u.before, got); name != "" {
		t.Errorf("G4: %s went down: -before +now\n%s", name, godiff.Diff(u.before, got))
	}
	u.before = got
	u.compareLetters(t)
}

// same fails unless statistics are those of s.
func (s *specSub) same(t *trial, what string, got herald.SubStats) {
	want := s.stats()
	slices.SortFunc(got.Running, byHandout)
	if len(got.Running) == 1 && len(want.Running) == 1 && s.began(got.Running[0].Since) {
		got.Running[0].Since = want.Running[0].Since
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("at %v, %s of %q: -want +got\n%s", t.spec.now, what, want.Name, godiff.Diff(want, got))
	}
}

// began reports whether a Run with concurrency 1, which isn't exact about it where many are queued, may say that the
// attempt under way began then: when that on one of the messages shortly before did.
func (s *specSub) began(at time.Time) bool {
	latest := s.starts[max(0, len(s.starts)-100):]
	return s.run != nil && s.concurrency == 1 && slices.Contains(latest, at.Sub(s.topic.begun))
}

// wentDown names a counter that went down.
func wentDown(before, now any) string {
	b, n := reflect.ValueOf(before), reflect.ValueOf(now)
	for i := range b.NumField() {
		name := b.Type().Field(i).Name
		switch {
		case name == "Queued" || name == "Delayed" || name == "InFlight":
		case b.Field(i).Kind() == reflect.Struct:
			if name := wentDown(b.Field(i).Interface(), n.Field(i).Interface()); name != "" {
				return name
			}
		case b.Field(i).Kind() == reflect.Uint64 && n.Field(i).Uint() < b.Field(i).Uint():
			return name
		}
	}
	return ""
}

// compareLetters compares what DeadLetterTo was given since the latest time. The order of what died at once is not
// promised.
func (u *trialSub) compareLetters(t *trial) {
	u.look(t)
	if len(u.letters) != len(u.spec.letters) {
		t.Errorf("%q: %d dead letters, want %d", u.Name(), len(u.letters), len(u.spec.letters))
		return
	}
	puts, letters := u.letters[u.checked:], u.spec.letters[u.checked:]
	u.checked = len(u.letters)
	slices.SortFunc(puts, func(a, b herald.DeadLetter[int]) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), a.Replays()-b.Replays())
	})
	slices.SortFunc(letters, func(a, b *specLetter) int { return cmp.Or(cmp.Compare(a.seq, b.seq), a.replays-b.replays) })
	for i, d := range puts {
		l := letters[i]
		t.same("dead letter", d.Message, &l.specMessage)
		if at := d.At.Sub(t.spec.begun); d.Subscription != u.spec.name || d.Reason != l.reason || at != l.at {
			t.Errorf("dead letter %d of %q: %v at %v, want %q: %v at %v",
				d.Seq, d.Subscription, d.Reason, at, u.spec.name, l.reason, l.at)
		}
		if !errors.Is(d.Err, l.err) && (l.err != errAny || d.Err == nil) {
			t.Errorf("dead letter %d of %q, %v: error %v, want %v", d.Seq, u.spec.name, d.Reason, d.Err, l.err)
		}
	}
}

// look takes note of new dead letters.
func (u *trialSub) look(t *trial) {
	t.mu.Lock()
	defer t.mu.Unlock()
	u.letters = append(u.letters, u.puts...)
	u.puts = nil
}

// specFacts are all that a message says.
type specFacts struct {
	seq                uint64
	payload            int
	key, topic, header string
	attempt            int32
	priority           herald.Priority
	replays, headers   int
	published, expires time.Duration
}

// same fails unless a message that somebody was given is the one of the model.
func (t *trial) same(what string, m herald.Message[int], want *specMessage) {
	since := func(at time.Time) time.Duration {
		if at.IsZero() {
			return 0
		}
		return at.Sub(t.spec.begun)
	}
	got := specFacts{
		m.Seq, m.Payload, m.Key, m.Topic(), m.Headers().Get("h"), m.Attempt, m.Priority, m.Replays(), m.Headers().Len(),
		since(m.Time()), since(m.Expires()),
	}
	w := specFacts{
		want.seq, want.payload, want.key, "spec", want.headers.Get("h"), want.attempt, want.priority, want.replays,
		want.headers.Len(), want.published, want.expires,
	}
	if got != w {
		t.Errorf("at %v, %s\n got %+v\nwant %+v", t.spec.now, what, got, w)
	}
}
