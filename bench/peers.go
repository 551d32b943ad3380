package main

import (
	"context"
	"encoding/binary"
	"sync"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/pubsub/gochannel"
	"github.com/asaskevich/EventBus"
	cskr "github.com/cskr/pubsub/v2"
	"gocloud.dev/pubsub"
	"gocloud.dev/pubsub/mempubsub"
	"tailscale.com/util/eventbus"
)

// peers are other buses, each as its own documentation says to use it where
// nothing may be lost.
var peers = []system{
	{name: "cskr/pubsub", slow: 2, start: cskrBus},
	{name: "tailscale eventbus", slow: 10, start: tailscaleBus},
	{name: "asaskevich/EventBus async", slow: 10, start: asaskevichBus},
	{name: "watermill gochannel", slow: 40, start: watermillBus},
	// It takes a quarter of a second until its first message, which fewer messages would be charged with.
	{name: "gocloud mempubsub", slow: 200, least: 4000, start: gocloudBus},
}

// notServed says of the other peers that were looked at why they aren't here.
const notServed = "kelindar/event and leandro-lugaresi/hub could not be downloaded here and are missing."

func cskrBus(w workload, checks []checker) bus {
	b := cskr.New[string, payload](capacity)
	var done sync.WaitGroup
	for i := range w.subscriptions {
		c, h := b.Sub("bench"), &checks[i]
		done.Go(func() {
			for p := range c {
				h.see(&p)
			}
		})
	}
	return bus{
		publish: func(publisher, n int) {
			for i := range n {
				b.Pub(tagged(publisher, i), "bench")
			}
		},
		finish: func() {
			b.Shutdown()
			done.Wait()
		},
	}
}

// tailscaleBus can't be closed without loss, so it's waited for.
func tailscaleBus(w workload, checks []checker) bus {
	b := eventbus.New()
	var got sync.WaitGroup
	for i := range w.subscriptions {
		h := &checks[i]
		eventbus.SubscribeFunc(b.Client("s"), func(p payload) {
			h.see(&p)
			got.Done()
		})
	}
	return bus{
		publish: func(publisher, n int) {
			pub := eventbus.Publish[payload](b.Client("p"))
			got.Add(n * w.subscriptions)
			for i := range n {
				pub.Publish(tagged(publisher, i))
			}
		},
		finish: func() {
			got.Wait()
			b.Close()
		},
	}
}

// asaskevichBus is transactional: one handler at a time, as in every other
// system here. Its handlers take the payload by value, through reflection.
func asaskevichBus(w workload, checks []checker) bus {
	b := EventBus.New()
	for i := range w.subscriptions {
		h := &checks[i]
		check(b.SubscribeAsync("bench", func(p payload) { h.see(&p) }, true))
	}
	return bus{
		publish: func(publisher, n int) {
			for i := range n {
				b.Publish("bench", tagged(publisher, i))
			}
		},
		finish: b.WaitAsync,
	}
}

// bytesOf and fromBytes are a payload for those who take bytes.
func bytesOf(p payload) []byte {
	b := make([]byte, 0, 64)
	for _, x := range p {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	return b
}

func fromBytes(b []byte) (p payload) {
	for i := range p {
		p[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return p
}

func watermillBus(w workload, checks []checker) bus {
	b := gochannel.NewGoChannel(gochannel.Config{OutputChannelBuffer: capacity}, watermill.NopLogger{})
	var got sync.WaitGroup
	for i := range w.subscriptions {
		c, h := must(b.Subscribe(context.Background(), "bench")), &checks[i]
		go func() {
			for m := range c {
				p := fromBytes(m.Payload)
				h.see(&p)
				m.Ack()
				got.Done()
			}
		}()
	}
	return bus{
		publish: func(publisher, n int) {
			got.Add(n * w.subscriptions)
			for i := range n {
				check(b.Publish("bench", message.NewMessage(watermill.NewUUID(), bytesOf(tagged(publisher, i)))))
			}
		},
		finish: func() {
			got.Wait()
			check(b.Close())
		},
	}
}

func gocloudBus(w workload, checks []checker) bus {
	ctx, cancel := context.WithCancel(context.Background())
	topic := mempubsub.NewTopic()
	var got, done sync.WaitGroup
	for i := range w.subscriptions {
		sub, h := mempubsub.NewSubscription(topic, time.Minute), &checks[i]
		done.Go(func() {
			for {
				m, err := sub.Receive(ctx)
				if err != nil {
					check(sub.Shutdown(context.Background()))
					return
				}
				p := fromBytes(m.Body)
				h.see(&p)
				m.Ack()
				got.Done()
			}
		})
	}
	return bus{
		publish: func(publisher, n int) {
			got.Add(n * w.subscriptions)
			for i := range n {
				check(topic.Send(ctx, &pubsub.Message{Body: bytesOf(tagged(publisher, i))}))
			}
		},
		finish: func() {
			got.Wait()
			cancel()
			done.Wait()
			check(topic.Shutdown(context.Background()))
		},
	}
}
