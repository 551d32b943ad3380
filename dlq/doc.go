// Package dlq keeps dead letters: the messages that a subscription could not
// deliver, for somebody to look at, to send back, or to throw away.
//
//	dead := dlq.New[Order](1000)
//	fraud, err := orders.DeadLetterTo(dead.Put).Subscribe("fraud")
//	…
//	for d := range dead.All() {
//		fmt.Println(d.Subscription, d.Reason, d.Err, d.ID())
//	}
//	n, err := dead.Replay(ctx, nil) // once the cause is gone
//
// One [Queue] may serve any number of subscriptions of any number of topics
// with the same T: a letter knows where it comes from, and goes back there and
// only there.
//
// # What happens to a letter
//
//	                                    the letter              who counts it
//	Put                                 is now the youngest     Len
//	Put into a full queue               the oldest leaves       Evicted
//	Replay, taken by its subscription   leaves                  Replay, SubStats.Replayed
//	Replay, subscription full           stays: ErrFull
//	Replay, subscription closed         stays: ErrClosed        for Purge to remove
//	Replay, won by another replay       leaves                  that one
//	its own Replay (DeadLetter.Replay)  leaves                  SubStats.Replayed
//	replayed, and dead again            is a new letter, the    Len
//	                                    youngest, with one
//	                                    more in Replays
//	Purge                               leaves                  Purge
//	time passes                         stays: neither a letter nor its replay expires
//
// So while no Replay is under way, Len, Evicted, the results of Replay and Purge,
// and the letters that were replayed by themselves while they were here add up
// to all letters put so far.
//
// # What it guarantees
//
//   - Bounds. A queue never has more letters than its capacity, and its memory
//     follows what it has. A letter that left is collectable at once, except
//     while a loop over All that began before is under way. One that was
//     replayed by itself is let go at the next call that looks at it.
//   - Put never waits and never fails, so it never holds up a dispatcher or a
//     publisher.
//   - Each replay moves one letter, once: it's in the store until its
//     subscription has accepted it, and from that instant on it isn't. Of
//     concurrent replays of one letter, of its copies too, one wins.
//   - All, Replay and Purge work on a snapshot, so they end, also when what they
//     replay dies again at once. They call match and the loop's body without a
//     lock: these may use the queue, and may panic.
//   - No goroutine, no timer, no clock. A letter keeps neither its subscription
//     nor its topic in memory.
//
// A program that ends loses what is in the queue. To keep letters, hand
// DeadLetterTo a function that writes them down, and then perhaps calls Put.
package dlq
