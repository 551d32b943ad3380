package boltlog

import (
	"fmt"
	"time"

	"github.com/heraldbus/herald/store"
)

// An Option changes how a file is opened.
type Option func(*config) error

type config struct {
	lockTimeout time.Duration
	relaxed     int
	maxSize     int64
	segment     uint64 // records of one segment
	pageSize    int    // of a file that is made; 0: the system's
	readOnly    bool
}

func newConfig(opts []Option) (config, error) {
	c := config{lockTimeout: time.Second, segment: 4096}
	for _, o := range opts {
		if err := o(&c); err != nil {
			return c, err
		}
	}
	return c, nil
}

// WithLockTimeout sets how long Open waits for another process to close the
// file before it's [store.ErrLocked]. Default: one second; 0: not at all.
func WithLockTimeout(d time.Duration) Option {
	return func(c *config) error {
		c.lockTimeout = d
		return check(d >= 0, "a lock timeout of %v", d)
	}
}

// ReadOnly opens a file without changing anything: what would change it is
// [store.ErrUnsupported], a file that isn't there [io/fs.ErrNotExist], a topic that isn't there [store.ErrNotFound]. Any number of
// processes may have a file open in this way, while none has it in the other.
func ReadOnly() Option {
	return func(c *config) error {
		c.readOnly = true
		return nil
	}
}

// Relaxed lets Append return before its records are on disk, while there are at most n such records in the
// store. A crash of the process or of the machine takes those, and nothing else:
// what is left is still a prefix. They are written, in one transaction, by the Append that finds n of
// them, by every other call that changes something, by a Read that reaches them,
// so that nothing is delivered that a crash can take back, by [Store.Sync] and
// by Close. Settings.Dedupe isn't supported.
func Relaxed(n int) Option {
	return func(c *config) error {
		c.relaxed = n
		return check(n > 0 && n <= 1<<20, "relaxed by %d records", n)
	}
}

// WithMaxSize limits the file. What would need more is [store.ErrFull]; nothing
// is written then, and the store is as good as before. Default: no limit.
func WithMaxSize(bytes int64) Option {
	return func(c *config) error {
		c.maxSize = bytes
		return check(bytes >= 1<<20, "a size of %d bytes, 1 MiB is the least", bytes)
	}
}

func check(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf("%w: %s", store.ErrInvalid, fmt.Sprintf(format, args...))
}
