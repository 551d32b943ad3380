// Package store is the seam between herald and what keeps its logs: a
// durable topic writes and reads through a [Log] and knows no more of the
// storage than this package says. Programs open a store, such as boltlog's,
// and hand it to herald; only the makers of stores need to read on.
//
// # Records and offsets
//
// A log is a sequence of records with the offsets 1, 2, 3, …, given by
// [Log.Append], never reused, also over restarts. Records disappear from the
// front only, by [Retention]. All records of one Append are stored or none.
//
// # What nil means
//
// Where [Capabilities] say Durable, a nil of Append, Commit, Forget, Replay,
// Purge, Delay and Release means that what they did survives the end of the
// process and a loss of power. Each of them is one atomic change: what one Commit
// moves, counts and buries is there as a whole or not at all. A change that
// failed, or whose ctx ended before it began, left nothing; if that can't be
// known the error is [ErrUncertain].
//
// # Concurrency
//
// All methods may be called at the same time. A topic is open once: the
// herald topic that opened it is the only publisher, and wakes its own readers,
// so there's no notification here. A log keeps nothing of what it's given
// after a call has returned, and what it returns belongs to the caller.
//
// Package storetest checks that a store keeps to all of this.
package store
