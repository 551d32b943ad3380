package storetest

import (
	"context"
	"time"

	"github.com/heraldbus/herald/store"
)

// A memoryLog is one time that a topic is open. Its methods lock, ask
// whether they may, and leave the rest to the topic.
type memoryLog struct {
	s *memoryStore
	t *topic
}

// enter locks the Memory. Where it returns an error the lock is free again.
func (l *memoryLog) enter(ctx context.Context) error {
	l.s.m.mu.Lock()
	err := l.usable(ctx)
	if err != nil {
		l.leave()
	}
	return err
}

func (l *memoryLog) usable(ctx context.Context) error {
	if l.t.open != l {
		return store.ErrClosed
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

func (l *memoryLog) leave() { l.s.m.mu.Unlock() }

func (l *memoryLog) Append(ctx context.Context, records []store.Record) error {
	if err := l.enter(ctx); err != nil {
		return err
	}
	defer l.leave()
	if err := store.CheckAppend(records); err != nil {
		return err
	}
	for i := range records {
		r := &records[i]
		r.Offset, r.Time, _ = l.t.append(*r)
	}
	l.t.trim()
	return nil
}

func (l *memoryLog) Read(ctx context.Context, from uint64, limit int) ([]store.Record, error) {
	if err := l.enter(ctx); err != nil {
		return nil, err
	}
	defer l.leave()
	return l.t.read(from, limit)
}

func (l *memoryLog) Bounds() store.Bounds {
	l.s.m.mu.Lock()
	defer l.leave()
	return l.t.bounds()
}

func (l *memoryLog) At(ctx context.Context, at time.Time) (uint64, error) {
	if err := l.enter(ctx); err != nil {
		return 0, err
	}
	defer l.leave()
	return l.t.at(at), nil
}

func (l *memoryLog) Cursor(ctx context.Context, sub string) (store.Cursor, error) {
	if err := l.enter(ctx); err != nil {
		return store.Cursor{}, err
	}
	defer l.leave()
	c, ok := l.t.cursors[sub]
	if !ok {
		return store.Cursor{}, store.ErrNotFound
	}
	return c.Clone(), nil
}

func (l *memoryLog) Commit(ctx context.Context, sub string, c store.Commit) error {
	if err := l.enter(ctx); err != nil {
		return err
	}
	defer l.leave()
	if err := store.CheckName(sub); err != nil {
		return err
	}
	return l.t.commit(sub, c)
}

func (l *memoryLog) Forget(ctx context.Context, sub string) error {
	if err := l.enter(ctx); err != nil {
		return err
	}
	defer l.leave()
	if _, ok := l.t.cursors[sub]; !ok {
		return store.ErrNotFound
	}
	delete(l.t.cursors, sub)
	return nil
}

func (l *memoryLog) Dead(ctx context.Context, after uint64, limit int) ([]store.DeadLetter, error) {
	if err := l.enter(ctx); err != nil {
		return nil, err
	}
	defer l.leave()
	return l.t.lettersAfter(after, limit), nil
}

func (l *memoryLog) Replay(ctx context.Context, now time.Time, numbers ...uint64) (uint64, error) {
	if err := l.enter(ctx); err != nil {
		return 0, err
	}
	defer l.leave()
	if err := store.CheckReplay(now, numbers); err != nil {
		return 0, err
	}
	return l.t.replay(now, numbers)
}

func (l *memoryLog) Purge(ctx context.Context, numbers ...uint64) error {
	if err := l.enter(ctx); err != nil {
		return err
	}
	defer l.leave()
	l.t.purge(numbers)
	return nil
}

func (l *memoryLog) Delay(ctx context.Context, records []store.Record) error {
	if err := l.enter(ctx); err != nil {
		return err
	}
	defer l.leave()
	if err := store.CheckDelay(records); err != nil {
		return err
	}
	l.t.delay(records)
	return nil
}

func (l *memoryLog) Release(ctx context.Context, now time.Time) (store.Released, error) {
	if err := l.enter(ctx); err != nil {
		return store.Released{}, err
	}
	defer l.leave()
	if err := store.CheckTime(now); err != nil {
		return store.Released{}, err
	}
	return l.t.release(now), nil
}

func (l *memoryLog) Close() error {
	l.s.m.mu.Lock()
	defer l.leave()
	if l.t.open == l {
		l.t.open = nil
	}
	return nil
}
