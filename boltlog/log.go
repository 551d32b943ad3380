package boltlog

import (
	"context"
	"fmt"
	"math"
	"sync"

	"go.etcd.io/bbolt"

	"github.com/heraldbus/herald/store"
)

// A Log is one time that a topic is open.
type Log struct {
	name     string
	store    *Store
	config   *config
	settings store.Settings
	scopes   scopes
	ids      map[string]uint64 // the leader's: IDs of the last records
	tail     tail              // writer.mu protects it

	gate   sync.RWMutex // each call holds it for reading, Close for writing
	closed bool         // under gate

	mu    sync.RWMutex // protects known, which is changed by the leader only
	known state        // what is durable
}

// scopes are where the values of a topic live.
type scopes struct{ state, records, cursors, dead, delayed, ids scope }

func newScopes(topic string) scopes {
	in := func(bucket []byte) scope { return newScope(topic, string(bucket)) }
	return scopes{in(stateKey), in(segmentsBucket), in(cursorsBucket), in(deadBucket), in(delayedBucket), in(idsBucket)}
}

// A tail is the end that a log will have when all that is queued is written.
type tail struct {
	queued int    // ops of the log that are queued or being written
	blind  bool   // one of them appends who knows how many records
	next   uint64 // while not blind
	time   int64  // while not blind
}

// durable returns the end that the log has on disk.
func (l *Log) durable() (next uint64, time int64) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.known.next, l.known.time
}

func (l *Log) publish(s state) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known = s
}

// enter holds the log, and the store, open until leave, unless it returns an error.
func (l *Log) enter(ctx context.Context) error {
	if err := l.store.enter(); err != nil {
		return err
	}
	l.gate.RLock()
	err := error(nil)
	if l.closed {
		err = store.ErrClosed
	} else if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		l.leave()
	}
	return err
}

func (l *Log) leave() {
	l.gate.RUnlock()
	l.store.leave()
}

// change makes an op of apply and waits until it's durable.
func (l *Log) change(ctx context.Context, o *op) error { return l.store.writer.do(ctx, o) }

// edits is the apply of an op that changes this log.
func (l *Log) edits(fn func(*edit) error) func(*changes) error {
	return func(c *changes) error {
		e, err := c.edit(l)
		if err != nil {
			return err
		}
		return fn(e)
	}
}

// Bounds implements [store.Log]. Records that aren't on disk yet, see
// [Relaxed], count.
func (l *Log) Bounds() store.Bounds {
	w := &l.store.writer
	w.mu.Lock()
	defer w.mu.Unlock()
	l.mu.RLock()
	defer l.mu.RUnlock()
	b := store.Bounds{First: l.known.first, Next: l.known.next}
	if w.loose > 0 && !l.tail.blind {
		b.Next = max(b.Next, l.tail.next)
	}
	return b
}

// Close implements [store.Log].
func (l *Log) Close() error {
	if l.store.enter() != nil {
		return nil // with the store
	}
	defer l.store.leave()
	l.gate.Lock()
	was := l.closed
	l.closed = true
	l.gate.Unlock()
	if was {
		return nil
	}
	err := l.store.flush()
	l.store.release(l)
	return err
}

// bucket returns the bucket of the topic.
func (l *Log) bucket(tx *bbolt.Tx) (*bbolt.Bucket, error) {
	topics := tx.Bucket(topicsBucket)
	if topics == nil {
		return nil, l.corrupt(0, "no topics")
	}
	b := topics.Bucket([]byte(l.name))
	if b == nil {
		return nil, l.corrupt(0, "no topic")
	}
	return b, nil
}

// view reads from a bucket of the topic, in a transaction of its own.
func (l *Log) view(name []byte, fn func(topic, b *bbolt.Bucket) error) error {
	return l.store.view(func(tx *bbolt.Tx) error {
		topic, err := l.bucket(tx)
		if err != nil {
			return err
		}
		b, err := l.child(topic, name)
		if err != nil {
			return err
		}
		return fn(topic, b)
	})
}

// create makes the topic's buckets if they aren't there, and reads what is.
func (l *Log) create(c *changes) error {
	topics := c.tx.Bucket(topicsBucket)
	if topics == nil {
		return l.corrupt(0, "no topics")
	}
	if topics.Bucket([]byte(l.name)) == nil {
		b, err := topics.CreateBucket([]byte(l.name))
		if err != nil {
			return fmt.Errorf("%w: %w", store.ErrInvalid, err)
		}
		for _, name := range [][]byte{segmentsBucket, cursorsBucket, deadBucket, delayedBucket, idsBucket} {
			if _, err := b.CreateBucket(name); err != nil {
				return err
			}
		}
		s := state{first: 1, next: 1, time: math.MinInt64}
		if err := b.Put(stateKey, l.scopes.state.seal(stateKey, s.encode())); err != nil {
			return err
		}
	}
	return l.load(c)
}

// loadOnly reads what is there, without changing it.
func (l *Log) loadOnly(tx *bbolt.Tx) error {
	topics := tx.Bucket(topicsBucket)
	if topics != nil && topics.Bucket([]byte(l.name)) == nil {
		return store.ErrNotFound
	}
	c := &changes{tx: tx}
	if err := l.load(c); err != nil {
		return err
	}
	c.publish()
	return nil
}

// load reads all that is kept in memory, and checks what nobody would miss: a cursor whose name has changed looks
// like a new subscription, a delayed record whose due has changed comes at another time.
func (l *Log) load(c *changes) error {
	e, err := c.edit(l) // which also trims, by the new settings
	if err != nil {
		return err
	}
	if err := e.findSegment(); err != nil {
		return err
	}
	l.ids = map[string]uint64{}
	if err := l.loadIDs(e.topic); err != nil {
		return err
	}
	if err := l.each(e.topic, deadBucket, l.checkLetter); err != nil {
		return err
	}
	if err := l.each(e.topic, delayedBucket, l.checkDelayed); err != nil {
		return err
	}
	_, err = e.lowestCommitted()
	return err
}

// each calls check with all that is in a bucket of the topic, up to the first error.
func (l *Log) each(topic *bbolt.Bucket, name []byte, check func(key, value []byte) error) error {
	b, err := l.child(topic, name)
	if err != nil {
		return err
	}
	return b.ForEach(check)
}
