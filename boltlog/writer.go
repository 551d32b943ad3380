package boltlog

import (
	"context"
	"fmt"
	"os"
	"sync"

	"go.etcd.io/bbolt"

	"github.com/heraldbus/herald/store"
)

// A writer makes changes durable, many in one transaction. It has no
// goroutine: of the callers that wait one leads. It takes all that is queued,
// writes it, tells the others, and hands the lead to the first that has come
// meanwhile.
//
// While there's a leader, it alone touches the database's write transaction and what
// of a Log is marked as the leader's.
type writer struct {
	db      *bbolt.DB
	file    *os.File // of db
	relaxed bool     // ops aren't withdrawn, since others are promised places behind them
	stuck   bool     // the leader's: a transaction couldn't be ended; db.Close would wait for it for ever

	mu     sync.Mutex // protects what is below, Log.tail and the marked fields of ops
	queue  []*op
	led    bool  // there's a leader, or somebody was told that it is
	loose  int   // records that Append acknowledged and that aren't durable yet
	failed error // set by the first write that failed, for good
}

// An op is one change. Whoever waits for it reads what apply found out once
// it's over; whoever gave up reads nothing of it any more.
type op struct {
	log    *Log                 // nil: only what was queued before matters
	apply  func(*changes) error // an error takes back all it did; it's called anew if another op failed
	size   int                  // bytes, about
	odd    bool                 // it appends who knows how many records
	loose  int                  // records that were acknowledged already; nobody waits for the op
	places int                  // records that it appends, unless odd
	err    error                // the leader's until it's over
	wake   chan bool            // true: you lead; false: it's over

	leads bool // under writer.mu: told to lead
	taken bool // under writer.mu: in a transaction
	gone  bool // under writer.mu: nobody waits for it any more
}

// transactionSize is how many bytes of ops go into one transaction, at least
// one op.
const transactionSize = 32 << 20

func newOp(l *Log, size int, apply func(*changes) error) *op {
	return &op{log: l, apply: apply, size: size, wake: make(chan bool, 2)}
}

// do makes a change durable, or says why not.
func (w *writer) do(ctx context.Context, o *op) error {
	w.mu.Lock()
	err := w.failed
	lead := err == nil && w.enqueueLocked(o)
	w.mu.Unlock()
	if err != nil {
		return err
	}
	return w.await(ctx, o, lead)
}

// enqueueLocked queues o and reports whether the caller, who will wait, leads.
func (w *writer) enqueueLocked(o *op) (lead bool) {
	w.queue = append(w.queue, o)
	if o.log != nil {
		o.log.tail.queued++
		o.log.tail.blind = o.log.tail.blind || o.odd
	}
	w.loose += o.loose
	if o.loose > 0 || w.led {
		return false
	}
	w.led = true
	return true
}

func (w *writer) await(ctx context.Context, o *op, lead bool) error {
	for !lead {
		select {
		case lead = <-o.wake:
			if !lead {
				return o.err
			}
		case <-ctx.Done():
			return w.giveUp(ctx, o)
		}
	}
	w.lead(o)
	return o.err
}

// giveUp withdraws o, or says that it's too late for that. Whoever was told to
// lead does so first; then it's known how o ended.
func (w *writer) giveUp(ctx context.Context, o *op) error {
	w.mu.Lock()
	leads := o.leads
	withdrawn := !leads && w.withdrawLocked(o)
	o.gone = !leads
	w.mu.Unlock()
	if leads {
		w.lead(o)
		return o.err
	}
	if withdrawn {
		return context.Cause(ctx)
	}
	select {
	case <-o.wake: // it ended at the same time
		return o.err
	default:
		return fmt.Errorf("%w: %w", store.ErrUncertain, context.Cause(ctx))
	}
}

// withdrawLocked takes o out of the queue, where that is possible.
func (w *writer) withdrawLocked(o *op) bool {
	if o.taken || w.relaxed {
		return false
	}
	for i := range w.queue {
		if w.queue[i] == o {
			w.queue = append(w.queue[:i:i], w.queue[i+1:]...)
			o.settleLocked()
			return true
		}
	}
	return false
}

// lead writes what is queued until the caller's own op was written, and hands on.
func (w *writer) lead(own *op) {
	for mine := false; !mine; {
		w.mu.Lock()
		batch, err := w.takeLocked(), w.failed
		mine = own.taken
		w.mu.Unlock()
		w.round(batch, err)
	}
	w.mu.Lock()
	next := w.nextLocked()
	w.mu.Unlock()
	if next != nil {
		next.wake <- true
	}
}

// round writes a batch, unless writing has failed before, and tells those who wait.
func (w *writer) round(batch []*op, err error) {
	var failed *failedError
	if err == nil {
		failed = w.write(batch)
	}
	w.mu.Lock()
	if failed != nil {
		err = failed
		w.failed = fmt.Errorf("%w: %w", store.ErrFailed, failed.cause)
	}
	for _, o := range batch {
		w.loose -= o.loose
		o.settleLocked()
	}
	w.mu.Unlock()
	for _, o := range batch {
		if err != nil && o.err == nil {
			o.err = err
		}
		o.wake <- false
	}
}

// settleLocked notes that o isn't queued any more.
func (o *op) settleLocked() {
	if o.log == nil {
		return
	}
	t := &o.log.tail
	t.queued--
	if t.queued == 0 {
		t.blind = false
		t.next, t.time = o.log.durable()
	}
}

// nextLocked chooses the next leader, the first that waits. What nobody waits for stays until somebody comes.
func (w *writer) nextLocked() *op {
	for _, o := range w.queue {
		if o.loose == 0 && !o.gone {
			o.leads = true
			return o
		}
	}
	w.led = false
	return nil
}

func (w *writer) takeLocked() []*op {
	n, size := 0, 0
	for n < len(w.queue) && (n == 0 || size+w.queue[n].size <= transactionSize) {
		size += w.queue[n].size
		w.queue[n].taken = true
		n++
	}
	batch := w.queue[:n:n]
	w.queue = w.queue[n:]
	return batch
}

// fail lets nothing be written any more.
func (w *writer) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed == nil {
		w.failed = err
	}
}

// close closes the database, or, where that isn't possible, at least gives back the file and its lock.
func (w *writer) close() error {
	if w.stuck {
		return w.file.Close()
	}
	return guard(w.db.Close)
}
