package main

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain makes the test binary testwatch itself when a test starts it so.
func TestMain(m *testing.M) {
	if os.Getenv("TESTWATCH_MAIN") != "" {
		main()
	}
	goleak.VerifyTestMain(m)
}
