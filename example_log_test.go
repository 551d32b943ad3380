package herald_test

import (
	"context"
	"fmt"

	"github.com/heraldbus/herald"
)

// A topic that retains lets a subscription begin in the past.
func ExampleWithRetain() {
	ctx := context.Background()
	topic, _ := herald.NewTopic[string]("news", herald.WithRetain(herald.Retention{Count: 2}))
	topic.PublishBatch(ctx, []string{"old", "recent", "latest"})
	sub, _ := topic.Subscribe("late", herald.WithStart(herald.Oldest()))
	topic.Close()
	sub.Run(ctx, func(_ context.Context, m herald.Message[string]) error {
		fmt.Println(m.Seq, m.Payload)
		return nil
	})
	// Output:
	// 2 recent
	// 3 latest
}

// Seek goes back, to handle messages once more.
func ExampleSubscription_Seek() {
	ctx := context.Background()
	topic, _ := herald.NewTopic[string]("news", herald.WithRetain(herald.Retention{}))
	sub, _ := topic.Subscribe("reader")
	topic.Publish(ctx, "one")
	read := func(_ context.Context, m herald.Message[string]) error {
		fmt.Println(m.Payload)
		return nil
	}
	sub.Step(ctx, read)
	sub.Seek(ctx, herald.Oldest())
	sub.Step(ctx, read)
	fmt.Println("replayed:", sub.Stats().Replayed)
	// Output:
	// one
	// one
	// replayed: 1
}
