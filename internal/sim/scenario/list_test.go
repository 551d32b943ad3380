//go:build sim

package scenario

import "github.com/heraldbus/herald/internal/sim"

// small are the scenarios of which every schedule is tried, within the bound
// of each.
var small = []sim.Scenario{
	cancelWhileFull,
	publishersAtTheDoor,
	closeWhilePublishing,
	closeWhileBlocked,
	evictWhilePicking,
	expireWhileAcking,
	expireWhileReceiving,
	replayTwice,
	pauseWhileRetrying,
	keysChangeHands,
	publishWhileParking,
	discardWhileWalking,
	urgentWhileWalking,
	drainWhileRunning,
	publishWhileParkingDeep,
	discardWhileTaking,
	waitWhileWalking,
	queueUpWhileWalking,
	lookWhileWalking,
	urgentWhileWalkingDeep,
	pauseWhileRetryingDeep,
}

// large are those of which schedules are drawn.
var large = []sim.Scenario{
	market,
	leases,
	keys,
	postOffice,
	evictions,
	walk,
}
