package dlq_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/dlq"
	"github.com/heraldbus/herald/policy"
)

// G29: where a subscription is full, a later letter doesn't overtake one that has to stay, even if room arises while
// Replay goes on (here by a Step from match, in real life by Run).
func TestG29_ReplayKeepsOrderWhereRoomArises(t *testing.T) {
	ctx := context.Background()
	dead := dlq.New[int](10)
	topic, _ := herald.NewTopic[int]("t")
	sub, err := topic.KeyBy(func(herald.Message[int]) string { return "k" }).DeadLetterTo(dead.Put).
		Subscribe("s", herald.WithCapacity(1), herald.WithRetry(policy.Never()))
	if err != nil {
		t.Fatal(err)
	}
	down, got := true, []int(nil)
	h := func(_ context.Context, m herald.Message[int]) error {
		if down {
			return errors.New("down")
		}
		got = append(got, m.Payload)
		return nil
	}
	for i := 1; i <= 4; i++ {
		topic.Publish(ctx, i)
		sub.Step(ctx, h)
	}
	down = false
	n, err := dead.Replay(ctx, func(d herald.DeadLetter[int]) bool {
		if d.Payload == 3 { // the consumer takes 1 just after 2 found no room
			sub.Step(ctx, h)
		}
		return true
	})
	if n != 1 || !errors.Is(err, herald.ErrFull) {
		t.Errorf("Replay = %d, %v, want 1 and %v", n, err, herald.ErrFull)
	}
	for {
		for {
			if ok, _ := sub.Step(ctx, h); !ok {
				break
			}
		}
		if dead.Len() == 0 {
			break
		}
		dead.Replay(ctx, nil)
	}
	if !slices.IsSorted(got) {
		t.Errorf("order %v", got)
	}
}

// G29: a full subscription holds up its own letters only, not those of another that happens to have the same names.
func TestG29_ReplayTellsNamesakesApart(t *testing.T) {
	dead := dlq.New[int](10)
	var topics [2]herald.Topic[int]
	var subs [2]*herald.Subscription[int]
	for i := range topics {
		s, err := topics[i].DeadLetterTo(dead.Put).Subscribe("s", herald.WithCapacity(1), herald.WithRetry(policy.Never()))
		if err != nil {
			t.Fatal(err)
		}
		subs[i] = s
		_ = topics[i].Publish(t.Context(), i)
		_, _ = s.Step(t.Context(), func(context.Context, herald.Message[int]) error { return errors.New("down") })
	}
	if err := topics[0].Publish(t.Context(), 9); err != nil {
		t.Fatal(err)
	}
	n, err := dead.Replay(t.Context(), nil)
	if n != 1 || !errors.Is(err, herald.ErrFull) || subs[1].Stats().Replayed != 1 {
		t.Errorf("Replay = %d, %v, want 1 and %v; second one: %+v", n, err, herald.ErrFull, subs[1].Stats())
	}
}
