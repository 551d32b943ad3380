package broker_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails the whole run if a goroutine outlives it (G34).
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
