package storetest

import (
	"context"
	"sync"

	"github.com/heraldbus/herald/store"
)

// A Memory keeps logs in memory: a store for tests, and the model that the
// kit's promises are written after. It outlives the stores that it opens, as a
// disk does. The zero value is empty.
type Memory struct {
	mu     sync.Mutex // protects all that is below, and all topics
	open   *memoryStore
	topics map[string]*topic
}

// Open returns a store over what m holds; [store.ErrLocked] while another one is
// open.
func (m *Memory) Open() (store.Store, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.open != nil {
		return nil, store.ErrLocked
	}
	if m.topics == nil {
		m.topics = map[string]*topic{}
	}
	m.open = &memoryStore{m}
	return m.open, nil
}

// A memoryStore is one time that a Memory is open.
type memoryStore struct{ m *Memory }

func (s *memoryStore) Capabilities() store.Capabilities {
	return store.Capabilities{Retention: true, Dedupe: true, Dead: true, Delay: true}
}

func (s *memoryStore) Open(ctx context.Context, name string, settings store.Settings) (store.Log, error) {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	if s.m.open != s {
		return nil, store.ErrClosed
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := store.CheckName(name); err != nil {
		return nil, err
	}
	if err := settings.Check(s.Capabilities()); err != nil {
		return nil, err
	}
	t := s.m.topics[name]
	if t == nil {
		t = newTopic(name)
		s.m.topics[name] = t
	}
	if t.open != nil {
		return nil, store.ErrLocked
	}
	t.open = &memoryLog{s, t}
	t.settings = settings
	t.trim()
	return t.open, nil
}

func (s *memoryStore) Close() error {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	if s.m.open != s {
		return nil
	}
	s.m.open = nil
	for _, t := range s.m.topics {
		t.open = nil
	}
	return nil
}
