package herald_test

import (
	"context"
	"testing"
	"weak"

	"github.com/heraldbus/herald"
)

// A payload that retention has removed is collectable at once, while the topic and its cursors live; what is retained is not
// (G36, G40).
func TestG36_ATrimmedPayloadIsCollectable(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) {
		topic := newLog[big](t, herald.Retention{Count: 2})
		s, behind := subscribe(t, topic, "s"), subscribe(t, topic, "behind")
		over := running(ctx, s, func(context.Context, herald.Message[big]) error { return nil })
		leave := func() weak.Pointer[[1 << 12]byte] {
			p := new([1 << 12]byte)
			publishAll(t, topic, p)
			return weak.Make(p)
		}
		old := []weak.Pointer[[1 << 12]byte]{leave(), leave()}
		kept := []weak.Pointer[[1 << 12]byte]{leave(), leave()}
		settle()
		for _, w := range old {
			wantGone(t, w)
		}
		for _, w := range kept {
			if w.Value() == nil {
				t.Error("a retained payload was collected")
			}
		}
		if d, ok := behind.TryReceive(); !ok || d.Seq != 3 {
			t.Errorf("received %v", d)
		}
		if err := topic.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-over; err != nil {
			t.Fatal(err)
		}
	})
}
