// Package policytest checks that a policy of one's own keeps to the rules of package policy. One call in a test of
// yours runs all the checks:
//
//	func TestMyRetry(t *testing.T) {
//		policytest.TestRetry(t, MyRetry{Budget: 5})
//	}
//
// What the checks report is what would go wrong in production: a panic or a negative delay for an argument nobody thought
// of, a retry without end, an answer that depends on what another message did, a data race between two subscriptions that
// share the policy (run with -race). Each finding says what was asked and what came back.
//
// A policy that draws at random or never gives up says so with [Randomised] or [Unbounded]; the checks it can't pass
// are then left out or turned around.
package policytest
