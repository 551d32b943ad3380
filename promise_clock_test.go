package herald_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// The time is read in one place, as a monotonic number, so that a step of the wall clock can change nothing (G25): no
// other file so much as mentions time.Now, Since or Until.
func TestG25_TimeIsReadInOnePlace(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || name == "clock.go" {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" && (s.Sel.Name == "Now" || s.Sel.Name == "Since" || s.Sel.Name == "Until") {
				t.Errorf("%s reads the time with time.%s", name, s.Sel.Name)
			}
			return true
		})
	}
}

// What herald says about times is all of one clock: publish, start, death and expiry are as far apart as they were
// (G25).
func TestG25_TimesAreOfOneClock(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic, box := newBus[int](t), letterBox[int]{}
		time.Sleep(12345 * time.Millisecond) // the topic's clock doesn't begin at the first message
		s := subscribe(t, topic.DeadLetterTo(box.put), "s", herald.WithRetry(policy.Never()))
		start := time.Now()
		wantErr(t, "Publish", topic.Publish(ctx, 1, herald.WithTTL(time.Hour)), nil)
		time.Sleep(time.Minute)
		stepWith(t, s, func(_ context.Context, m herald.Message[int]) error {
			time.Sleep(time.Second)
			wantEqual(t, []time.Duration{0, time.Hour, time.Minute}, []time.Duration{m.Time().Sub(start), m.Expires().Sub(start),
				s.Stats().Running[0].Since.Sub(start)})
			return errAttempt
		})
		d := box.list()[0]
		wantEqual(t, []time.Duration{0, time.Minute + time.Second}, []time.Duration{d.Time().Sub(start), d.At.Sub(start)})
		if d.At.String() != d.At.Round(0).String() {
			t.Errorf("%v carries a reading of a clock that is not its own", d.At)
		}
	})
}

// Durations as long as there are mean never; no sum of times overflows (G25).
func TestG25_EndlessDurations(t *testing.T) {
	const endless = time.Duration(math.MaxInt64)
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newBus[int](t, herald.WithDefaultTTL(endless))
		opts := []herald.SubOption{herald.WithCapacity(2), herald.WithMaxAge(endless), herald.WithLease(endless),
			herald.WithRetry(policy.Schedule{endless}), herald.WithOverflow(policy.Block(endless))}
		s := subscribe(t, topic, "s", opts...)
		wantErr(t, "Publish", topic.Publish(ctx, 1, herald.WithDelay(endless)), nil)
		wantErr(t, "Publish", topic.Publish(ctx, 2, herald.WithTTL(endless)), nil)
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		wantRefused(t, topic.Publish(ctx, 3), map[string]error{"s": context.DeadlineExceeded})
		d, ok := s.TryReceive()
		if !ok || d.Payload != 2 || !d.Expires().After(time.Now()) {
			t.Fatalf("got %+v, %v", d, ok)
		}
		wantErr(t, "Extend", d.Extend(endless), nil)
		time.Sleep(time.Hour)
		wantErr(t, "Nack", d.Nack(policy.RetryAfter(endless, errAttempt)), nil)
		wantTally(t, s, tally{Offered: 3, Accepted: 2, Refused: 1, Delayed: 1, InFlight: 1})
	})
}

// A topic without time gives messages none, and what depends on time works all the same.
func TestG25_WithoutTime(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic, box := newBus[int](t, herald.WithoutTime()), letterBox[int]{}
		s := subscribe(t, topic.DeadLetterTo(box.put), "s", herald.WithMaxAge(time.Minute))
		wantErr(t, "Publish", topic.Publish(ctx, 1, herald.WithDelay(time.Second)), nil)
		wantErr(t, "Publish", topic.Publish(ctx, 2), nil)
		wantErr(t, "Publish", topic.Publish(ctx, 3, herald.WithTTL(time.Millisecond)), nil)
		start := time.Now()
		stepWith(t, s, func(_ context.Context, m herald.Message[int]) error {
			if m.Payload != 2 || !m.Time().IsZero() || !m.Expires().Equal(start.Add(time.Minute)) {
				t.Errorf("got %d of %v, expires %v", m.Payload, m.Time(), m.Expires())
			}
			return nil
		})
		time.Sleep(time.Second)
		wantEqual(t, []int{1}, takeAll(t, s))
		if all := box.list(); len(all) != 1 || all[0].Payload != 3 || !all[0].At.Equal(start.Add(time.Millisecond)) {
			t.Errorf("letters %v", all)
		}
	})
}
