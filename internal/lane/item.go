package lane

import "fmt"

// A State says where in its life an [Item] stands.
type State uint8

const (
	Free    State = iota // in no lane: new, or at its end
	Queued               // due; waits for a worker, or behind an earlier message of its key
	Delayed              // waits for its time: accepted with a delay, or a retry that went aside
	Running              // its consumer has it
	Parked               // a retry in place: waits for its time and keeps its slot
)

var stateNames = [...]string{"free", "queued", "delayed", "running", "parked"}

func (s State) String() string { return stateNames[s] }

// waits reports whether an item in this state is accepted and not in flight: it counts towards the capacity, and
// may be evicted.
func (s State) waits() bool { return s == Queued || s == Delayed }

// An Item is one message's stand-in in a [Lane]. Its maker owns it, embeds it where it likes and reuses it once it
// is Free again; in between, only the lane writes the unexported fields, and nobody the exported ones.
type Item struct {
	Owner    any    // the node that embeds or holds this item; set once by its maker, never looked at here
	Key      string // set before Add; empty: none
	Expires  int64  // set before Add; 0: never
	Priority int8   // -1..2, set before Add

	state     State
	ready     bool            // stands in Lane.ready
	resumable bool            // Parked and due: stands in Lane.resume, not in Lane.late
	slot      int32           // 1 + index in Lane.slots; 0: holds no slot but the one it runs in
	pos       [2]int32        // 1 + index in the heaps that [byTurn] and [byExpiry] name; 0: in none
	due       int64           // see Due
	born      uint64          // acceptance number, the tie-break of everything timed but retries in place
	failed    uint64          // number of its failure in place, the tie-break of those
	rank      rank            // its place and level; zero until it is due for the first time
	line      *keyLine        // the line of its key, from when it is due until its end
	links     [listKinds]link // its neighbours
}

// An item stands in at most one heap of each kind, so that a position for each is enough.
const (
	byTurn   = iota // Lane.late, Lane.resume or Lane.ready.late, as its state tells
	byExpiry        // Lane.expiry
)

// State returns where it stands.
func (it *Item) State() State { return it.state }

// Due returns the time a Delayed or Parked item waits for, or the end of a Running one's lease; 0 is none. A Queued
// item that had to wait for its time keeps it.
func (it *Item) Due() int64 { return it.due }

func (it *Item) level() int { return int(it.Priority) + 1 }

// isHead reports whether no other item of its key is before it; without a key, it is.
func (it *Item) isHead() bool { return it.links[ofKey].prev == nil }

// mustBe ends the program's luck: a call in the wrong state is a bug of the caller, and going on would corrupt the
// order of every other message.
func (it *Item) mustBe(ok bool, op string) {
	if !ok {
		panic(fmt.Sprintf("lane: %s of an item that is %v", op, it.state))
	}
}

// A rank orders the items of one lane: less is first. The level is folded in, so that one comparison decides by
// priority, then by place {cut, tie}.
type rank struct{ hi, lo uint64 }

const (
	levelShift = 62
	maxTie     = ^uint64(0) // the tie of a plain message: behind side messages with the same cut
)

func rankOf(level int, cut, tie uint64) rank {
	return rank{uint64(Levels-1-level)<<levelShift | cut, tie}
}

func (r rank) less(s rank) bool { return r.hi < s.hi || r.hi == s.hi && r.lo < s.lo }
