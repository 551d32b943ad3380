package herald_test

import (
	"context"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/heraldbus/herald"
)

// Retention removes a prefix: by count, by bytes, by age (G40).
func TestG40_Retention(t *testing.T) {
	size := int64(unsafe.Sizeof(herald.Message[string]{})) + 100
	for name, c := range map[string]struct {
		keep herald.Retention
		want int
	}{
		"count":          {herald.Retention{Count: 3}, 3},
		"bytes":          {herald.Retention{Bytes: 4 * size}, 4},
		"less than four": {herald.Retention{Bytes: 4*size - 1}, 3},
		"one at least":   {herald.Retention{Bytes: 1}, 1},
		"age":            {herald.Retention{Age: 2 * time.Second}, 3},
		"the least":      {herald.Retention{Count: 5, Bytes: 2 * size, Age: time.Hour}, 2},
		"segments":       {herald.Retention{Count: 250}, 250},
	} {
		bubble(t, name, func(_ context.Context, t *testing.T) {
			topic := newLog[string](t, c.keep)
			for range 300 {
				time.Sleep(time.Second)
				publishAll(t, topic, strings.Repeat("x", 100))
			}
			s := subscribe(t, topic, "s", herald.WithStart(herald.Oldest()))
			var got []uint64
			for d, ok := s.TryReceive(); ok; d, ok = s.TryReceive() {
				got = append(got, d.Seq)
				if err := d.Ack(); err != nil {
					t.Fatal(err)
				}
			}
			if len(got) != c.want || got[0] != uint64(301-c.want) || got[len(got)-1] != 300 {
				t.Errorf("retained %v, want the last %d", got, c.want)
			}
		})
	}
}

// What grows too old while nobody publishes is gone for those who read (G40).
func TestG40_AgeWithoutPublishing(t *testing.T) {
	inBubble(t, func(_ context.Context, t *testing.T) {
		topic := newLog[int](t, herald.Retention{Age: time.Minute})
		s := subscribe(t, topic, "s")
		publishN(t, topic, 3)
		time.Sleep(time.Minute)
		wantEqual(t, 3, len(seqs(t, subscribe(t, topic, "now", herald.WithStart(herald.Oldest())))))
		time.Sleep(time.Nanosecond)
		wantEqual(t, []int{-3}, seqs(t, s))
		wantEqual(t, []int(nil), seqs(t, subscribe(t, topic, "late", herald.WithStart(herald.Oldest()))))
	})
}
