package boltlog

import (
	"path/filepath"
	"testing"

	"github.com/heraldbus/herald/store"
	"github.com/heraldbus/herald/store/storetest"
)

// TestStore_G37_G38_G39_G40_G41_G42 shows that a file is a store like any other.
func TestStore_G37_G38_G39_G40_G41_G42(t *testing.T) {
	t.Parallel() // it waits for the disk most of the time
	storetest.Run(t, opener())
}

// TestStoreRelaxed shows that a relaxed one is too.
func TestStoreRelaxed(t *testing.T) {
	t.Parallel() // it waits for the disk most of the time
	storetest.Run(t, opener(Relaxed(100)))
}

func opener(opts ...Option) func(t *testing.T) storetest.Opener {
	return func(t *testing.T) storetest.Opener {
		path := filepath.Join(t.TempDir(), "store.db")
		all := append([]Option{WithLockTimeout(0), small}, opts...)
		return func() (store.Store, error) {
			s, err := Open(path, all...)
			if err != nil {
				return nil, err
			}
			return s, nil
		}
	}
}
