package main

import (
	"context"
	"strconv"
	"sync"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// heraldBus is the whole bus: topic, subscriptions, Run.
func heraldBus(w workload, checks []checker) bus {
	var opts []herald.TopicOption
	if !w.timed {
		opts = append(opts, herald.WithoutTime())
	}
	topic := must(herald.NewTopic[payload]("bench", opts...))
	subOpts := append([]herald.SubOption{
		herald.WithCapacity(capacity), herald.WithOverflow(policy.Block(0)), herald.WithConcurrency(max(1, w.workers)),
	}, w.sub...)
	var done sync.WaitGroup
	for i := range w.subscriptions {
		sub, h := must(topic.Subscribe("s"+strconv.Itoa(i), subOpts...)), &checks[i]
		done.Go(func() {
			check(sub.Run(context.Background(), func(_ context.Context, m herald.Message[payload]) error {
				h.see(&m.Payload)
				return nil
			}))
		})
	}
	return bus{
		publish: publisher(topic, w),
		finish: func() {
			check(topic.Close())
			done.Wait()
		},
	}
}

// publisher is the loop that the workload asks for.
func publisher(topic *herald.Topic[payload], w workload) func(publisher, n int) {
	ctx := context.Background()
	switch {
	case w.batch > 0:
		return func(publisher, n int) {
			vs := make([]payload, w.batch)
			for i := 0; i < n; i += w.batch {
				vs := vs[:min(w.batch, n-i)]
				for j := range vs {
					vs[j] = tagged(publisher, i+j)
				}
				must(topic.PublishBatch(ctx, vs))
			}
		}
	case w.priorities > 1:
		// Blocks of one priority each would be no mix, and one in turn is the hardest one. What is checked then is the order by
		// level, so the number is that of the level's message.
		return func(_, n int) {
			for i, level, turn := 0, 0, 0; i < n; i, level = i+1, level+1 {
				if level == w.priorities {
					level, turn = 0, turn+1
				}
				check(topic.Publish(ctx, tagged(level, turn), herald.WithPriority(herald.Priority(level-1))))
			}
		}
	case w.keys > 0:
		names := make([]string, w.keys)
		for i := range names {
			names[i] = "key-" + strconv.Itoa(i)
		}
		return func(publisher, n int) {
			for i, key := 0, 0; i < n; i, key = i+1, key+1 {
				if key == w.keys {
					key = 0
				}
				check(topic.Publish(ctx, tagged(publisher, i), herald.WithKey(names[key])))
			}
		}
	}
	return func(publisher, n int) {
		for i := range n {
			check(topic.Publish(ctx, tagged(publisher, i)))
		}
	}
}

// must and check end the program: nothing here may fail.
func must[V any](v V, err error) V {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
