package boltlog

import (
	"context"

	"github.com/heraldbus/herald/store"
)

// An appending is the records of one Append on their way to the disk. It
// shares nothing with the caller, who may be gone before they are there.
type appending struct {
	records []pending
}

type pending struct {
	value  []byte
	id     string
	size   int64
	offset uint64
	time   int64
}

// Append implements [store.Log].
func (l *Log) Append(ctx context.Context, records []store.Record) error {
	if err := l.enter(ctx); err != nil {
		return err
	}
	defer l.leave()
	if err := store.CheckAppend(records); err != nil {
		return err
	}
	a, size := newAppending(records)
	o := newOp(l, size, l.edits(a.apply))
	o.places = len(records)
	loose, err := l.append(ctx, o, a, records)
	if err != nil || loose {
		return err
	}
	for i, p := range a.records {
		records[i].Offset, records[i].Time = p.offset, timeOf(p.time)
	}
	return nil
}

func newAppending(records []store.Record) (a *appending, size int) {
	a = &appending{make([]pending, len(records))}
	for i := range records {
		r := &records[i]
		a.records[i] = pending{value: encodeRecord(r), id: r.ID, size: r.Size(), time: nanos(r.Time)}
		size += len(a.records[i].value)
	}
	return a, size
}

// append waits until a is durable. Where that is allowed it only queues it, and
// gives records the places that they'll get when all that is queued is written.
func (l *Log) append(ctx context.Context, o *op, a *appending, records []store.Record) (loose bool, err error) {
	w := &l.store.writer
	w.mu.Lock()
	if w.failed != nil {
		defer w.mu.Unlock()
		return false, w.failed
	}
	loose = !l.tail.blind && w.loose+len(records) <= l.store.config.relaxed
	if loose {
		o.loose = len(records)
		l.tail.promise(records)
	} else {
		l.tail.next += uint64(len(records))
		l.tail.time = max(l.tail.time, a.latest())
	}
	lead := w.enqueueLocked(o)
	w.mu.Unlock()
	if loose {
		return true, nil
	}
	return false, w.await(ctx, o, lead)
}

// promise gives records the places behind all that is queued.
func (t *tail) promise(records []store.Record) {
	for i := range records {
		r := &records[i]
		t.time = max(t.time, nanos(r.Time))
		r.Offset, r.Time = t.next, timeOf(t.time)
		t.next++
	}
}

func (a *appending) latest() int64 {
	latest := a.records[0].time
	for _, p := range a.records {
		latest = max(latest, p.time)
	}
	return latest
}

func (a *appending) apply(e *edit) error {
	for i := range a.records {
		if err := a.records[i].apply(e); err != nil {
			return err
		}
	}
	return nil
}

func (p *pending) apply(e *edit) (err error) {
	if offset, ok := e.known(p.id); ok {
		p.offset = offset
		return nil
	}
	p.offset, p.time, err = e.append(p.value, p.time, p.size)
	if err != nil {
		return err
	}
	return e.remember(p.id, p.offset)
}
