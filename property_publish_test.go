package herald_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// What publishers and owners of subscriptions do, to topic and model alike.

// idle lets time pass, mostly none, so that nobody has asked the topic for its state since.
func (t *trial) idle(r *rapid.T) {
	if n := rapid.IntRange(-3, 2).Draw(r, "idle"); n > 0 {
		t.sleep(t.unit(n))
	}
}

func (t *trial) sleep(d time.Duration) {
	time.Sleep(d)
	t.spec.pass(t.spec.now + d)
}

// publish publishes one message and waits for what comes of it.
func (t *trial) publish(r *rapid.T) {
	t.before(r)
	t.publishEnvelope(t.drawEnvelope(r, 1))
}

func (t *trial) publishEnvelope(e specEnvelope) {
	ctx, cancel := t.context(e)
	defer cancel()
	err := t.topic.Publish(ctx, e.payloads[0], e.options...)
	t.checkPublish(err, t.specPublish(e))
}

// publishBatch publishes some, of which the first to be refused is the last (G8).
func (t *trial) publishBatch(r *rapid.T) {
	t.before(r)
	e := t.drawEnvelope(r, rapid.SampledFrom([]int{0, 1, 2, 3, 4, 30}).Draw(r, "batch"))
	ctx, cancel := t.context(e)
	defer cancel()
	vs := slices.Clone(e.payloads)
	accepted, err := t.topic.PublishBatch(ctx, vs, e.options...)
	clear(vs)
	want, last := 0, &specPublish{}
	for want < len(e.payloads) {
		one := e
		one.payloads = e.payloads[want:]
		if last = t.specPublish(one); len(last.refused) > 0 {
			break
		}
		want++
	}
	if accepted != want {
		t.Errorf("PublishBatch = %d, %v, want %d", accepted, err, want)
	}
	t.checkPublish(err, last)
}

// context is that of a publish. Its end matters only where it might wait.
func (t *trial) context(e specEnvelope) (context.Context, context.CancelFunc) {
	if !slices.ContainsFunc(t.spec.subs, func(s *specSub) bool { return !s.count.Closed && s.mayBlock() }) {
		return context.Background(), func() {}
	}
	return context.WithTimeout(context.Background(), e.deadline)
}

// mayBlock reports whether a publisher might wait for room.
func (o *specOptions) mayBlock() bool { return o.custom || o.overflow.Kind() == policy.KindBlock }

// specPublish is Publish of the model, to its end.
func (t *trial) specPublish(e specEnvelope) *specPublish {
	m := e.message
	m.payload = e.payloads[0]
	pub := t.spec.publish(m, m.published+e.deadline)
	t.spec.finish(pub)
	return pub
}

// checkPublish fails unless err says what became of pub, and nothing else.
func (t *trial) checkPublish(err error, pub *specPublish) {
	if len(pub.refused) == 0 {
		if err != nil {
			t.Errorf("message %d: Publish = %v, want nil", pub.seq, err)
		}
		return
	}
	p, ok := errors.AsType[*herald.PublishError](err)
	if !ok || p.Seq != pub.seq || p.Topic != "spec" || len(p.Refused) != len(pub.refused) {
		t.Errorf("message %d: Publish = %v, want refusals %v", pub.seq, err, pub.refused)
		return
	}
	names := map[string]bool{}
	for _, r := range p.Refused {
		names[r.Subscription] = true
		if want := pub.refused[r.Subscription]; want == nil || !errors.Is(r.Err, want) || !errors.Is(err, want) {
			t.Errorf("message %d: refusal %q: %v, want %v", pub.seq, r.Subscription, r.Err, want)
		}
	}
	if len(names) != len(pub.refused) {
		t.Errorf("message %d: refused by %v, want %v", pub.seq, slices.Collect(maps.Keys(names)), pub.refused)
	}
}

// replay replays a letter, be it for the second time, to a full or closed subscription, or one that the store refused.
func (t *trial) replay(r *rapid.T) {
	u := t.drawSub(r, func(u *trialSub) bool { return len(u.letters) > 0 })
	if u == nil {
		return
	}
	i := rapid.IntRange(0, len(u.letters)-1).Draw(r, "letter")
	t.before(r)
	letter := u.spec.letters[i]
	want, err := u.spec.replay(letter), u.letters[i].Replay(context.Background())
	if !errors.Is(err, want) || (err == nil) != (want == nil) {
		t.Errorf("Replay of %d to %q = %v, want %v", letter.seq, u.Name(), err, want)
	}
	if got := u.letters[i].Replayed(); got != letter.replayed {
		t.Errorf("Replayed = %v, want %v", got, letter.replayed)
	}
}

func (t *trial) subscribeOne(r *rapid.T) {
	t.before(r)
	if len(t.subs) < 8 {
		t.subscribe(t.drawOptions(r))
	}
}

func (t *trial) closeOne(r *rapid.T) {
	t.before(r)
	if u := t.drawSub(r, nil); u != nil && rapid.IntRange(0, 2).Draw(r, "really") == 0 {
		t.close(u)
	}
}

func (t *trial) close(u *trialSub) {
	if err := u.Close(); err != nil {
		t.Errorf("Close = %v", err)
	}
	u.spec.close()
	u.spec.work()
}

func (t *trial) discard(r *rapid.T) {
	t.before(r)
	if u := t.drawSub(r, nil); u != nil && rapid.IntRange(0, 2).Draw(r, "really") == 0 {
		if got, want := u.Discard(), u.spec.discard(); got != want {
			t.Errorf("Discard of %q = %d, want %d", u.Name(), got, want)
		}
	}
}

func (t *trial) pause(r *rapid.T) {
	t.before(r)
	u := t.drawSub(r, nil)
	switch {
	case u == nil:
	case u.spec.count.Paused:
		u.Resume()
		u.spec.resume()
	default:
		u.Pause()
		u.spec.count.Paused = true
	}
}

// drawSub draws one of the subscriptions that match, or returns nil.
func (t *trial) drawSub(r *rapid.T, match func(*trialSub) bool) *trialSub {
	var us []*trialSub
	for _, u := range t.subs {
		if match == nil || match(u) {
			us = append(us, u)
		}
	}
	if len(us) == 0 {
		return nil
	}
	return us[rapid.IntRange(0, len(us)-1).Draw(r, "subscription")]
}
