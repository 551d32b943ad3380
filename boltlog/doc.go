// Package boltlog keeps herald's logs in one file, on go.etcd.io/bbolt: a
// [store.Store] whose records, cursors and dead letters survive a crash of the program
// and a loss of power.
//
//	store, err := boltlog.Open("orders.db")
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//
// # What a write costs and means
//
// Nil means that it's on the disk. Publishers that come while the disk is
// busy share the next transaction and its syncs; there's no goroutine and no timer for
// it: the first one that waits writes for all that wait. [Relaxed] acknowledges
// records before they're on disk and says how many a crash may take.
//
// A write or sync that fails leaves the store failed: nobody knows what the
// disk holds. Whoever waited for it gets [store.ErrUncertain] and [store.ErrFailed], and
// [store.ErrFull] too if the disk is full. Nothing more is written until the file is opened anew;
// reads of what is certain go on.
//
// # What is checked
//
// Every value carries a CRC-32C over its place and its content, and offsets must
// have no gaps. Open reads the structure of the whole file before it uses any of it. What
// isn't as it was written is [store.ErrCorrupt], not other data and not a
// crash, and a file that is shorter than it was is too. It's not authenticated: somebody who
// can write the file can write what they like.
//
// # Files
//
// The file has mode 0600 and is locked: a second process gets [store.ErrLocked]. Its format has a
// version; a newer one is [store.ErrFormat]. Space of removed records is used again, and given back
// by [Store.Compact], which Open calls when more than a quarter of the file is free.
package boltlog
