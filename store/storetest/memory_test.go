package storetest_test

import (
	"testing"

	"github.com/heraldbus/herald/store/storetest"
)

// TestMemory shows that the store in memory is one.
func TestMemory(t *testing.T) {
	storetest.Run(t, func(*testing.T) storetest.Opener { return new(storetest.Memory).Open })
}
