package herald_test

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// A story is what happens to one subscription from outside: groups of messages, a second apart. It can be told in many
// ways that must come to the same.
type story struct {
	groups  [][]storyMessage
	options []herald.SubOption
	keyed   bool // each message has a key of its own
	store   bool
}

type storyMessage struct {
	priority herald.Priority
	ttl      time.Duration
	delay    time.Duration
	fails    int32 // so many attempts fail
	how      outcomeKind
}

// A told is what came of it.
type told struct {
	attempts []specAttempt
	dead     []specAttempt
	stats    herald.SubStats
}

// fifo reports whether the messages of a story that don't wait for their time were first handled in the order of their
// publishing.
func (o told) fifo(s story) bool {
	last := uint64(0)
	for _, a := range o.attempts {
		if a.attempt > 1 || s.at(a.seq).delay > 0 {
			continue
		}
		if a.seq <= last {
			return false
		}
		last = a.seq
	}
	return true
}

// at returns message number seq of a story, where the first is number 1.
func (st *story) at(seq uint64) storyMessage { return slices.Concat(st.groups...)[seq-1] }

func drawStory(r *rapid.T) story {
	s := story{keyed: rapid.Bool().Draw(r, "keyed"), store: rapid.Bool().Draw(r, "store")}
	overflow := []policy.Action{policy.Reject(), policy.DropNewest(), policy.DropOldest()}
	s.options = []herald.SubOption{
		herald.WithCapacity(rapid.SampledFrom([]int{1, 3, 10, 1000}).Draw(r, "capacity")),
		herald.WithOverflow(rapid.SampledFrom(overflow).Draw(r, "overflow")),
		herald.WithRetry(policy.Schedule{300 * time.Millisecond, 0, 400 * time.Millisecond}),
	}
	if rapid.Bool().Draw(r, "aside") {
		s.options = append(s.options, herald.WithRetryAside())
	}
	plain := rapid.Bool().Draw(r, "plain")
	message := rapid.Custom(func(r *rapid.T) storyMessage {
		tenths := func(label string, of ...int) time.Duration {
			return time.Duration(rapid.SampledFrom(of).Draw(r, label)) * 100 * time.Millisecond
		}
		m := storyMessage{priority: rapid.SampledFrom(somePriorities).Draw(r, "priority")}
		if rapid.IntRange(0, 3).Draw(r, "failing") == 0 {
			m.fails = rapid.Int32Range(1, 4).Draw(r, "fails")
			m.how = rapid.SampledFrom([]outcomeKind{byError, byPermanent, byRetryAfter}).Draw(r, "how")
		}
		if !plain {
			m.ttl, m.delay = tenths("ttl", 0, 0, 9, 25), tenths("delay", 0, 0, 2, 15)
		}
		return m
	})
	s.groups = rapid.SliceOfN(rapid.SliceOfN(message, 0, 12), 1, 5).Draw(r, "groups")
	return s
}

// tell tells a story on a topic of its own. Each group is published at once, in a moment that is not that of anything
// else: all that follows from group i happens i milliseconds after a tenth of a second.
func (st *story) tell(r *rapid.T, by way) told {
	topic, err := herald.NewTopic[storyMessage]("story", herald.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { topic.Close() })
	var got told
	begun := time.Now()
	moment := func(at time.Time) time.Duration { return at.Sub(begun).Truncate(time.Millisecond) }
	subscribe := topic.Subscribe
	if st.store {
		subscribe = topic.DeadLetterTo(func(d herald.DeadLetter[storyMessage]) error {
			got.dead = append(got.dead, specAttempt{moment(d.At), d.Seq, d.Attempt, int(d.Reason)})
			return nil
		}).Subscribe
	}
	s, err := subscribe("s", st.options...)
	if err != nil {
		r.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	consumed := make(chan struct{})
	go func() {
		defer close(consumed)
		by(ctx, st, s, func(_ context.Context, m herald.Message[storyMessage]) error {
			got.attempts = append(got.attempts, specAttempt{moment(time.Now()), m.Seq, m.Attempt, 0})
			return m.Payload.outcome(m.Attempt).error()
		})
	}()
	for i, g := range st.groups {
		time.Sleep(time.Duration(i)*(time.Second+time.Millisecond) - time.Since(begun))
		synctest.Wait()
		s.Pause() // so that all of the group is there before any of it is handled
		for j, m := range g {
			_ = topic.Publish(ctx, m, m.options(st.keyed, strconv.Itoa(i)+"."+strconv.Itoa(j))...) // refusals are in Stats
		}
		s.Resume()
		synctest.Wait()
	}
	time.Sleep(15*time.Second + time.Millisecond/2)
	synctest.Wait()
	cancel()
	<-consumed
	got.stats = s.Stats()
	got.stats.Capacity = 0
	slices.SortFunc(got.dead, func(a, b specAttempt) int { return int(a.seq) - int(b.seq) })
	return got
}

func (m storyMessage) options(keyed bool, key string) []herald.PublishOption {
	opts := []herald.PublishOption{herald.WithPriority(m.priority), herald.WithTTL(m.ttl), herald.WithDelay(m.delay)}
	if keyed {
		opts = append(opts, herald.WithKey(key))
	}
	return opts
}

// outcome is that of an attempt.
func (m storyMessage) outcome(attempt int32) outcome {
	if attempt > m.fails {
		return outcome{}
	}
	return outcome{kind: m.how, delay: 500 * time.Millisecond}
}
