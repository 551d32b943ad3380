package boltlog

import (
	"context"
	"fmt"
	"sync"

	"go.etcd.io/bbolt"

	"github.com/heraldbus/herald/store"
)

// A Store is one open file. It implements [store.Store].
type Store struct {
	path   string
	config config
	writer writer

	gate   sync.RWMutex // each call holds it for reading; Close and Compact for writing
	closed bool         // under gate

	mu   sync.Mutex // protects logs
	logs map[string]*Log
}

// Open opens the file at path, which it makes if there is none.
//
// A file that another process has open is [store.ErrLocked], one that isn't
// ours or newer than we are [store.ErrFormat], a damaged one
// [store.ErrCorrupt].
func Open(path string, opts ...Option) (*Store, error) {
	c, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	s := &Store{path: path, config: c, logs: map[string]*Log{}}
	s.writer.relaxed = c.relaxed > 0
	free, err := s.open()
	if err != nil {
		return nil, err
	}
	if c.readOnly {
		s.writer.failed = fmt.Errorf("%w: %s is open to be read only", store.ErrUnsupported, path)
		return s, nil
	}
	s.sweep()
	if free.much() {
		if err := s.Compact(context.Background(), nil); err != nil {
			_ = s.Close()
			return nil, err
		}
	}
	return s, nil
}

// Capabilities implements [store.Store].
func (s *Store) Capabilities() store.Capabilities {
	return store.Capabilities{
		Durable: true, MayLose: s.config.relaxed, Slack: int(s.config.segment) + s.config.relaxed,
		Retention: true, Dedupe: s.config.relaxed == 0, Dead: true, Delay: true,
	}
}

// Open implements [store.Store].
func (s *Store) Open(ctx context.Context, topic string, settings store.Settings) (store.Log, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := store.CheckName(topic); err != nil {
		return nil, err
	}
	if err := settings.Check(s.Capabilities()); err != nil {
		return nil, err
	}
	l := &Log{name: topic, store: s, config: &s.config, settings: settings, scopes: newScopes(topic)}
	if !s.claim(l) {
		return nil, store.ErrLocked
	}
	if err := s.load(ctx, l); err != nil {
		s.release(l)
		return nil, err
	}
	return l, nil
}

// load makes the topic, unless it's there, and reads what is.
func (s *Store) load(ctx context.Context, l *Log) error {
	if s.config.readOnly {
		return s.view(l.loadOnly)
	}
	// Who gave up would leave a log that opens by itself later.
	return s.writer.do(context.WithoutCancel(ctx), newOp(l, 0, l.create))
}

// Sync makes all records durable that aren't yet, see [Relaxed].
func (s *Store) Sync() error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	return s.flush()
}

// Close implements [store.Store]. Its error says that records which [Relaxed] let Append
// acknowledge are lost.
func (s *Store) Close() error {
	s.gate.Lock()
	defer s.gate.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	err := s.flush()
	closed := s.writer.close()
	if err == nil {
		err = closed
	}
	return err
}

// flush writes what is queued, if somebody was told that it's there.
func (s *Store) flush() error {
	w := &s.writer
	if s.config.readOnly {
		return nil
	}
	w.mu.Lock()
	loose, failed := w.loose, w.failed
	w.mu.Unlock()
	if loose == 0 {
		return failed
	}
	return w.do(context.Background(), newOp(nil, 0, nil))
}

func (s *Store) enter() error {
	s.gate.RLock()
	if s.closed {
		s.gate.RUnlock()
		return store.ErrClosed
	}
	return nil
}

func (s *Store) leave() { s.gate.RUnlock() }

// claim reports whether l is the only log of its topic now.
func (s *Store) claim(l *Log) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logs[l.name] != nil {
		return false
	}
	s.logs[l.name] = l
	return true
}

func (s *Store) release(l *Log) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.logs, l.name)
}

// view reads in a short transaction. What fn hands out must be copies.
func (s *Store) view(fn func(tx *bbolt.Tx) error) error {
	return guard(func() error {
		tx, err := s.writer.db.Begin(false)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		return fn(tx)
	})
}
