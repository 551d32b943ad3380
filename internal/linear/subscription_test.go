package linear

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

// TestSubscriptionIsLinearizable shows that a subscription under Reject does,
// for those who publish, receive, settle, discard, pause and ask for its
// statistics at the same time, what a list would (G4 to G6, G11, G12, G26, G33). With concurrency
// 1 its messages go through the plain lane, above that through the side lane.
func TestSubscriptionIsLinearizable(t *testing.T) {
	for _, s := range []subState{{capacity: 1, concurrency: 1}, {capacity: 4, concurrency: 1}, {capacity: 3, concurrency: 2}} {
		name := fmt.Sprintf("subscription-%d-%d", s.capacity, s.concurrency)
		check(t, name, subModel(s), func(seed uint64) subject { return newSubSubject(t, s) })
	}
}

const (
	publish    kind = "Publish"
	receive    kind = "Receive"
	tryReceive kind = "TryReceive"
	ack        kind = "Ack"
	nack       kind = "Nack"
	release    kind = "Release"
	discard    kind = "Discard"
	pause      kind = "Pause"
	resume     kind = "Resume"
	statistics kind = "Stats"
)

// A subOp is what was asked of a subscription, and a subResult what came of it.
type subOp struct {
	kind kind
	elem element // published, or settled
}

type subResult struct {
	elem  element // received
	ok    bool    // there is one
	n     int     // discarded
	err   error   // one of herald's, or errCancelled
	stats subCounts
}

// subCounts are the statistics that the model knows.
type subCounts struct{ accepted, delivered, dead, discarded, queued, inFlight uint64 }

// A subSubject lets clients use a subscription. Each has at most one delivery.
type subSubject struct {
	queueSubject // for its contexts
	source       *herald.Topic[element]
	sub          *herald.Subscription[element]
	held         [clients]*herald.Delivery[element]
}

func newSubSubject(t *testing.T, s subState) *subSubject {
	topic, err := herald.NewTopic[element]("t", herald.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	sub, err := topic.Subscribe("s", herald.WithCapacity(s.capacity), herald.WithConcurrency(s.concurrency),
		herald.WithOverflow(policy.Reject()), herald.WithRetry(policy.Never()), herald.WithLease(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return &subSubject{source: topic, sub: sub}
}

func (s *subSubject) do(r *recorder, client int, rand *rand.Rand) {
	kinds := []kind{publish, publish, publish, receive, tryReceive, receive, tryReceive, discard, pause, resume, resume, statistics}
	op := subOp{kind: kinds[rand.IntN(len(kinds))]}
	d := s.held[client]
	if d != nil && rand.IntN(2) == 0 {
		op = subOp{kind: []kind{ack, ack, nack, release}[rand.IntN(4)], elem: d.Payload}
	}
	switch {
	case d != nil && (op.kind == receive || op.kind == tryReceive):
		return
	case op.kind == discard && rand.IntN(4) > 0:
		return
	case op.kind == publish:
		op.elem = element{uint16(s.ids.Add(1)), policy.Priority(rand.IntN(3)) + policy.Low}
	}
	ctx := s.patient(client)
	r.call(client, rand, op, func() any { return s.carryOut(ctx, client, op) })
}

func (s *subSubject) carryOut(ctx context.Context, client int, op subOp) (r subResult) {
	switch op.kind {
	case publish:
		r.err = plain(s.source.Publish(ctx, op.elem, herald.WithPriority(op.elem.priority)))
	case receive:
		d, err := s.sub.Receive(ctx)
		r.take(&s.held[client], d)
		r.err = plain(err)
	case tryReceive:
		d, _ := s.sub.TryReceive()
		r.take(&s.held[client], d)
	case ack, nack, release:
		r.err = plain(settle(s.held[client], op.kind))
		s.held[client] = nil
	case discard:
		r.n = s.sub.Discard()
	case pause:
		s.sub.Pause()
	case resume:
		s.sub.Resume()
	case statistics:
		n := s.sub.Stats()
		r.stats = subCounts{n.Accepted, n.Delivered, n.Dead, n.Discarded, n.Queued + n.Delayed, n.InFlight}
	}
	return r
}

func settle(d *herald.Delivery[element], how kind) error {
	switch how {
	case nack:
		return d.Nack(errors.New("attempt"))
	case release:
		return d.Release()
	}
	return d.Ack()
}

func (r *subResult) take(held **herald.Delivery[element], d *herald.Delivery[element]) {
	if d != nil {
		*held, r.elem, r.ok = d, d.Payload, true
	}
}

// plain is the sentinel behind an error.
func plain(err error) error {
	for _, sentinel := range []error{herald.ErrFull, errCancelled} {
		if errors.Is(err, sentinel) {
			return sentinel
		}
	}
	return err
}

// A subState is the subscription as one goroutine sees it.
type subState struct {
	capacity, concurrency int
	subView
}

// A subView is the part of it that changes: a comparable value.
type subView struct {
	list   string // all messages that have no end, in order of their places
	flying string // those of list that are in flight
	paused bool
	counts subCounts // but for queued and inFlight
}

func subModel(s subState) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return subView{} },
		Step: func(state, input, output any) (bool, any) {
			next := s
			next.subView = state.(subView)
			ok := next.step(input.(subOp), output.(subResult))
			return ok, next.subView
		},
		Hash: func(state any) uint64 { return hashString(state.(subView).list + "/" + state.(subView).flying) },
	}
}

// step makes s what it is after an operation, and reports whether the
// operation could have that result.
func (s *subState) step(op subOp, r subResult) bool {
	switch op.kind {
	case publish:
		return s.publish(op, r)
	case receive, tryReceive:
		return s.receive(op, r)
	case ack, nack, release:
		return s.settle(op) && r.err == nil
	case discard:
		n := s.queued()
		s.list = s.flying
		s.counts.discarded += uint64(n)
		return r.n == n
	case pause, resume:
		s.paused = op.kind == pause
		return true
	}
	want := s.counts
	want.queued, want.inFlight = uint64(s.queued()), uint64(len(s.flying)/elementSize)
	return r.stats == want
}

func (s *subState) queued() int { return (len(s.list) - len(s.flying)) / elementSize }

func (s *subState) publish(op subOp, r subResult) bool {
	switch {
	case r.err == errCancelled: // before it began
		return true
	case s.queued() >= s.capacity:
		return r.err == herald.ErrFull
	}
	s.list += op.elem.encode()
	s.counts.accepted++
	return r.err == nil
}

func (s *subState) receive(op subOp, r subResult) bool {
	next, ok := s.next()
	ready := ok && !s.paused && len(s.flying)/elementSize < s.concurrency
	switch {
	case r.ok:
		s.flying = inOrderOf(s.list, s.flying+next.encode())
		return ready && r.elem == next
	case op.kind == receive:
		return r.err == errCancelled
	}
	return !ready
}

// next is the message to be received next: of those queued with the highest
// priority the first.
func (s *subState) next() (best element, ok bool) {
	for i := 0; i < len(s.list); i += elementSize {
		e := elementAt(s.list, i)
		if !has(s.flying, e) && (!ok || e.priority > best.priority) {
			best, ok = e, true
		}
	}
	return best, ok
}

// settle ends the attempt on a message, which must be in flight.
func (s *subState) settle(op subOp) bool {
	if !has(s.flying, op.elem) {
		return false
	}
	s.flying = remove(s.flying, op.elem)
	switch op.kind {
	case release:
		return true
	case ack:
		s.counts.delivered++
	case nack:
		s.counts.dead++
	}
	s.list = remove(s.list, op.elem)
	return true
}
