//go:build unix && !aix && !android && !solaris && !illumos

package boltlog

import (
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/heraldbus/herald/store"
)

// lockRetry is how often a lock is tried that somebody else has.
const lockRetry = 5 * time.Millisecond

// lock takes the same lock that bbolt takes, on the same open file, which has no
// effect then. It comes first so that nobody writes while we inspect.
func lock(f *os.File, shared bool, deadline time.Time) error {
	how := syscall.LOCK_EX
	if shared {
		how = syscall.LOCK_SH
	}
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		if err == nil {
			return nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return err
		}
		if time.Now().After(deadline) {
			return store.ErrLocked
		}
		time.Sleep(lockRetry)
	}
}
