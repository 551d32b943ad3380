package herald_test

import (
	"context"
	"slices"
	"testing"
	"time"

	godiff "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/heraldbus/herald"
)

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
			checkProperty(t, 30, 10, func(r *rapid.T) {
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
