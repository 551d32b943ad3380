// Package scenario holds the scenarios that package sim tries in all orders.
// They're tests behind the build tag sim, run by internal/sim/cmd/explore.
package scenario
