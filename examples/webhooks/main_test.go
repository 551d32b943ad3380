package main

import (
	"log/slog"
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
	slog.SetDefault(slog.New(slog.DiscardHandler)) // herald warns of an input that waits for room, as some tests let it
	goleak.VerifyTestMain(m)
}
