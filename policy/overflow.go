package policy

import "time"

// An Overflow decides what a publish does about a full queue. The plain decisions are [Action] values, which are
// themselves an Overflow; a type of one's own can decide by what it is told in [Full]:
//
//	type shedLow struct{}
//
//	func (shedLow) OnFull(f policy.Full) policy.Action {
//		if f.Priority == policy.Low {
//			return policy.DropNewest()
//		}
//		return policy.Block(time.Second).Else(policy.Reject())
//	}
//
// OnFull is called only when the queue is full, or when others already wait for room, and by any number of publishers
// at once. It holds no lock, so it may be slow, but the publisher waits for it. It must not keep state. If it panics, or
// returns an Action whose [Action.Validate] is not nil, the message is dead with reason PolicyFailed, and nobody else
// notices.
type Overflow interface {
	// OnFull says what to do about f. When the time of a Block without Else is up, it is asked again, with Waited set:
	// one that goes on answering Block makes the publish wait for as long as its context allows.
	OnFull(f Full) Action
}

// Full is what an [Overflow] is told about a queue that has no room, at the moment of the offer. By the time its answer
// is carried out the queue may have changed: the answer is applied to the queue as it is then.
type Full struct {
	// Capacity is the number of messages the queue holds at most, queued and delayed ones together: at least 1.
	Capacity int

	// Priority is that of the message which finds no room.
	Priority Priority

	// Lowest is the lowest priority now queued. DropOldest evicts a message of this priority, or drops the incoming one
	// where that ranks even lower.
	Lowest Priority

	// Waited is how long this publish has waited for room already: 0 when it is asked for the first time.
	Waited time.Duration

	// OldestAge is how long ago the message that DropOldest would evict was accepted.
	OldestAge time.Duration
}
