package main

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain makes the test binary webhooks itself when a test starts it so, and else proves that no test leaves a
// goroutine behind.
func TestMain(m *testing.M) {
	if os.Getenv("WEBHOOKS_MAIN") != "" {
		main()
	}
	goleak.VerifyTestMain(m)
}
