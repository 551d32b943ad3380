package dlq_test

import (
	"testing"

	"github.com/heraldbus/herald/dlq"
	"github.com/heraldbus/herald/dlq/dlqtest"
)

// TestConformance: the store that comes with herald passes the kit that users
// run on theirs (G28, G29).
func TestConformance(t *testing.T) {
	dlqtest.TestStore(t, func(_ *testing.T, capacity int) dlqtest.Store { return dlq.New[int](capacity) })
}
