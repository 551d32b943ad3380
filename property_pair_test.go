package herald_test

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	godiff "github.com/google/go-cmp/cmp"
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

// A way consumes s until ctx ends. The handler gives the outcome of each attempt.
type way func(ctx context.Context, st *story, s *herald.Subscription[storyMessage], h herald.Handler[storyMessage])

// TestPropertyPairs tells the same story in two ways that must come to the same attempts at the same times, the same dead
// letters and the same accounts: G11 to G13, G20, G22 to G24, G27.
func TestPropertyPairs(t *testing.T) {
	alter := func(change func(*story)) func(story) story {
		return func(s story) story {
			s.groups = slices.Clone(s.groups)
			for i, g := range s.groups {
				s.groups[i] = slices.Clone(g)
			}
			s.options = slices.Clone(s.options)
			change(&s)
			return s
		}
	}
	option := func(o herald.SubOption) func(story) story {
		return alter(func(s *story) { s.options = append(s.options, o) })
	}
	same := alter(func(*story) {})
	priorities := func(p herald.Priority) func(story) story {
		return alter(func(s *story) {
			for _, g := range s.groups {
				for i := range g {
					g[i].priority = p
				}
			}
		})
	}
	for name, pair := range map[string]struct {
		a, b       func(story) story
		wayA, wayB way
	}{
		"Run is Steps":                   {same, same, byRun, bySteps},
		"Messages is Run":                {same, same, byMessages, byRun},
		"TryReceive is Step":             {same, same, byTryReceive, bySteps},
		"RunBatch of one is Run":         {same, same, byRunBatch, byRun},
		"one priority is none":           {priorities(herald.Critical), priorities(herald.Normal), byRun, byRun},
		"latest of other keys is no key": {option(herald.WithLatest()), same, byRun, byRun},
		"the fast lane is the slow lane": {same, option(herald.WithMaxAge(time.Hour)), byRun, byRun},
		"the fast lane by Step":          {same, option(herald.WithMaxAge(time.Hour)), bySteps, byRun},
	} {
		t.Run(name, func(t *testing.T) {
			checkProperty(t, 40, 10, func(r *rapid.T) {
				rapid.SyncTest(r, func(r *rapid.T) {
					s := drawStory(r)
					a, b := pair.a(s), pair.b(s)
					one, two := a.tell(r, pair.wayA), b.tell(r, pair.wayB)
					if name == "one priority is none" && !one.fifo(s) {
						r.Fatalf("not in order of publishing: %v", one.attempts)
					}
					if diff := godiff.Diff(one, two, godiff.AllowUnexported(told{}, specAttempt{})); diff != "" {
						r.Fatalf("-one +other\n%s", diff)
					}
				})
			})
		})
	}
}

func drawStory(r *rapid.T) story {
	s := story{keyed: rapid.Bool().Draw(r, "keyed"), store: rapid.Bool().Draw(r, "store")}
	overflow := rapid.SampledFrom([]policy.Action{policy.Reject(), policy.DropNewest(), policy.DropOldest()}).Draw(r, "overflow")
	s.options = []herald.SubOption{
		herald.WithCapacity(rapid.SampledFrom([]int{1, 3, 10, 1000}).Draw(r, "capacity")),
		herald.WithOverflow(overflow),
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
	view := topic.Filter(func(herald.Message[storyMessage]) bool { return true })
	if st.store {
		view = view.DeadLetterTo(func(d herald.DeadLetter[storyMessage]) error {
			got.dead = append(got.dead, specAttempt{moment(d.At), d.Seq, d.Attempt, int(d.Reason)})
			return nil
		})
	}
	s, err := view.Subscribe("s", st.options...)
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
			_ = topic.Publish(ctx, m, m.options(st.keyed, fmtKey(i, j))...)
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

func fmtKey(i, j int) string { return strconv.Itoa(i) + "." + strconv.Itoa(j) }

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

func byRun(ctx context.Context, _ *story, s *herald.Subscription[storyMessage], h herald.Handler[storyMessage]) {
	_ = s.Run(ctx, h)
}

func byRunBatch(ctx context.Context, _ *story, s *herald.Subscription[storyMessage], h herald.Handler[storyMessage]) {
	_ = s.RunBatch(ctx, 1, 0, func(ctx context.Context, ms []herald.Message[storyMessage]) error { return h(ctx, ms[0]) })
}

func byMessages(ctx context.Context, _ *story, s *herald.Subscription[storyMessage], h herald.Handler[storyMessage]) {
	for d := range s.Messages(ctx) {
		settleWith(d, h(ctx, d.Message))
	}
}

func settleWith(d *herald.Delivery[storyMessage], err error) {
	if err == nil {
		err = d.Ack()
	} else {
		err = d.Nack(err)
	}
	if err != nil {
		panic(err)
	}
}

func bySteps(ctx context.Context, st *story, s *herald.Subscription[storyMessage], h herald.Handler[storyMessage]) {
	st.eachMoment(ctx, func() bool {
		ok, _ := s.Step(context.Background(), h)
		return ok
	})
}

func byTryReceive(ctx context.Context, st *story, s *herald.Subscription[storyMessage], h herald.Handler[storyMessage]) {
	st.eachMoment(ctx, func() bool {
		d, ok := s.TryReceive()
		if ok {
			settleWith(d, h(ctx, d.Message))
		}
		return ok
	})
}

// eachMoment calls f, for as long as it's true, just after every moment at which anything may happen.
func (st *story) eachMoment(ctx context.Context, f func() bool) {
	begun := time.Now()
	for tenth := time.Microsecond; ctx.Err() == nil; tenth += 100 * time.Millisecond {
		for i := range st.groups {
			time.Sleep(tenth + time.Duration(i)*time.Millisecond - time.Since(begun))
			for f() {
			}
		}
	}
}
