package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/dlq"
	"github.com/heraldbus/herald/middleware"
	"github.com/heraldbus/herald/policy"
)

const (
	letterLimit = 10_000 // dead letters that are kept; events that die beyond are lost, counted and logged
	workerLimit = 256
)

// A dispatcher posts events to their receivers: one topic, one subscription, its dead letters.
//
// Every receiver gets its events in the order of the input, whatever fails. Half of that is the key: events of one
// receiver are never under way together, retries included. The other half is the rule of [dispatcher.send]: once an
// event is dead, all later ones of its receiver are held, so that a replay finds nothing that went ahead. It also means that
// a receiver that is down costs the retries of one event, not of all.
type dispatcher struct {
	setup
	known   map[string]Receiver // by name
	events  *herald.Topic[Event]
	deliver *herald.Subscription[Event]
	dead    *dlq.Queue[Event]
	ledger  *ledger
}

// newDispatcher makes a dispatcher; ms wrap every attempt.
func newDispatcher(s setup, ms ...herald.Middleware) (*dispatcher, error) {
	known, err := byName(s.receivers)
	if err != nil {
		return nil, err
	}
	events, err := herald.NewTopic[Event]("webhooks")
	if err != nil {
		return nil, err
	}
	d := &dispatcher{
		setup:  s,
		known:  known,
		events: events,
		dead:   dlq.New[Event](letterLimit), // as the ledger has the same limit, it never evicts
		ledger: newLedger(letterLimit),
	}
	return d, d.subscribe(ms)
}

// subscribe is all that there is of queueing, retrying, ordering and dead letters.
func (d *dispatcher) subscribe(ms []herald.Middleware) (err error) {
	d.deliver, err = d.events.
		KeyBy(func(m herald.Message[Event]) string { return m.Payload.Receiver }).
		DeadLetterTo(d.bury).
		Subscribe("deliver",
			// A worker for each receiver, so that the slow and the dead one hold up nobody else.
			herald.WithConcurrency(min(len(d.known), workerLimit)),
			herald.WithRetry(d.retry),
			// A full queue is back pressure first. An input that can't wait longer goes on, and what finds no
			// room is owed, like anything else that died.
			herald.WithCapacity(d.capacity),
			herald.WithOverflow(policy.Block(d.patience).Else(policy.DeadLetter())),
			herald.WithMiddleware(ms...),
			herald.WithMiddleware(middleware.Timeout(d.timeout)))
	return err
}

// knows returns an error if nobody is there to receive e.
func (d *dispatcher) knows(e Event) error {
	if _, ok := d.known[e.Receiver]; !ok {
		return fmt.Errorf("unknown receiver %q", e.Receiver)
	}
	return nil
}

// run delivers until the topic is closed and all is done.
func (d *dispatcher) run(ctx context.Context) error { return d.deliver.Run(ctx, d.send) }

// send makes one attempt at one event, unless its receiver is owed an earlier one.
func (d *dispatcher) send(ctx context.Context, m herald.Message[Event]) error {
	if first, ok := d.ledger.owedBefore(m.Meta); ok {
		return policy.Permanent(&heldError{behind: first.ID()})
	}
	if err := d.post(ctx, m); err != nil {
		return err
	}
	d.ledger.delivered(m.Meta)
	return nil
}

// bury keeps a dead letter. herald calls it before it looks at the next event of the receiver, so that send knows of it.
func (d *dispatcher) bury(l herald.DeadLetter[Event]) error {
	if !d.ledger.died(l.Meta, isOwed(l)) {
		return fmt.Errorf("more than %d dead letters", letterLimit)
	}
	return d.dead.Put(l)
}

// redeliver sends back what is owed, in rounds, as the queue may have room for some only. A receiver is left alone once a
// round has brought it nothing.
func (d *dispatcher) redeliver(ctx context.Context) error {
	for waiting := d.ledger.owed(); len(waiting) > 0; {
		tried, err := d.replay(ctx, waiting)
		if err != nil {
			return err
		}
		if err := d.deliver.WaitIdle(ctx); err != nil {
			return err
		}
		left := d.ledger.owed()
		for to := range tried {
			if left[to] == 0 || left[to] == waiting[to] {
				delete(waiting, to)
			} else {
				waiting[to] = left[to]
			}
		}
	}
	return nil
}

// replay sends back the letters of the receivers that wait, until the queue is full, and returns to whom. It goes by
// sequence and not by age, since what the queue had no room for died before what was ahead of it. It ends at the first
// letter that finds no room: a moment later there may be room for the next one, which would only be held.
func (d *dispatcher) replay(ctx context.Context, waiting map[string]int) (tried map[string]bool, err error) {
	tried = map[string]bool{}
	for _, l := range slices.SortedFunc(d.dead.All(), bySequence) {
		if waiting[l.Key] == 0 || !isOwed(l) {
			continue
		}
		if err := l.Replay(ctx); errors.Is(err, herald.ErrFull) {
			return tried, nil
		} else if err != nil {
			return tried, err
		}
		tried[l.Key] = true
	}
	return tried, nil
}

func bySequence(a, b herald.DeadLetter[Event]) int { return cmp.Compare(a.Seq, b.Seq) }

// isOwed reports whether l may still be delivered. It may not if its receiver refused it.
func isOwed(l herald.DeadLetter[Event]) bool {
	_, held := errors.AsType[*heldError](l.Err)
	return held || l.Reason != herald.Permanent
}

// A heldError says that an event wasn't sent because an earlier one is owed.
type heldError struct{ behind string }

func (e *heldError) Error() string { return "held behind " + e.behind }
