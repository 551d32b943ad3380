package store

import (
	"context"
	"time"
)

// A Store holds the logs of topics.
type Store interface {
	// Open returns the log of a topic, which it makes if there is none. A topic
	// that is open already, and not closed, is [ErrLocked]. What the store can't do
	// and settings ask for is [ErrUnsupported]; what makes no sense is
	// [ErrInvalid].
	Open(ctx context.Context, topic string, settings Settings) (Log, error)

	// Capabilities says what the store can do. It never changes.
	Capabilities() Capabilities

	// Close closes all logs. It waits for calls under way. Calls after it are
	// [ErrClosed]; a second Close is nil.
	Close() error
}

// A Log is the log of one topic.
type Log interface {
	// Append stores records at the end, next to each other and in this order,
	// and sets the Offset and Time of each. Time never goes back along a log: one
	// that is earlier than that of the record before becomes equal to it. For,
	// Replays and Offset must be zero.
	//
	// A record with an ID that one of the last Settings.Dedupe records has, be it
	// retained or not, is not stored again; it gets the Offset of that one and
	// keeps its Time. Release does so too; records of Replay come again and count as none.
	Append(ctx context.Context, records []Record) error

	// Read returns the records from an offset on: at least one if there is one,
	// at most limit, fewer when the store likes. At the end of the log it returns
	// none; beyond it it's [ErrInvalid]. From below the first record it's a
	// [*TrimmedError]; reading may go on at its First. If the record at from is
	// damaged it's a [*CorruptError]; reading may go on behind it.
	Read(ctx context.Context, from uint64, limit int) ([]Record, error)

	// Bounds returns the current ends of the log.
	Bounds() Bounds

	// At returns the offset of the first record whose Time is at or after t,
	// Bounds().Next if there is none.
	At(ctx context.Context, t time.Time) (uint64, error)

	// Cursor returns the state of a subscription, [ErrNotFound] if it never
	// committed.
	Cursor(ctx context.Context, subscription string) (Cursor, error)

	// Commit changes the state of a subscription and buries dead letters, in one
	// step. The first one makes the cursor.
	Commit(ctx context.Context, subscription string, c Commit) error

	// Forget removes a subscription's cursor, so that it holds back no record
	// any more. Its dead letters stay. [ErrNotFound] if there is none.
	Forget(ctx context.Context, subscription string) error

	// Dead returns dead letters with numbers greater than after, in order, at
	// most limit, fewer when the store likes; none: there are no more.
	Dead(ctx context.Context, after uint64, limit int) ([]DeadLetter, error)

	// Replay removes dead letters and appends their records anew for the
	// subscriptions that failed: with For, a grown Replays and new Offsets, in the
	// order of numbers, without Due and Expires. It returns the offset of the first. If one
	// of the numbers doesn't exist it's [ErrNotFound] and nothing changes.
	Replay(ctx context.Context, now time.Time, numbers ...uint64) (first uint64, err error)

	// Purge removes dead letters; those that don't exist are no error.
	Purge(ctx context.Context, numbers ...uint64) error

	// Delay stores records outside the log until their Due, which must be set. They
	// have no Offset before [Log.Release] appends them.
	Delay(ctx context.Context, records []Record) error

	// Release appends delayed records that are due at now, in order of Due and
	// then of Delay, with now as their Time, and says when the next one is due. It
	// may stop early; Next is then not after now.
	Release(ctx context.Context, now time.Time) (Released, error)

	// Close gives the topic back. It waits for calls under way. Calls after it
	// are [ErrClosed]; a second Close is nil.
	Close() error
}

// Bounds are the ends of a log: it holds the offsets First <= o < Next.
type Bounds struct {
	First uint64 // 1 or more; of the oldest record, Next if there is none
	Next  uint64 // of the record to come
}

// Released is what [Log.Release] did.
type Released struct {
	Count int       // records appended
	Next  time.Time // when the next delayed record is due; zero: there is none
}

// Limits that every store keeps. More is [ErrInvalid].
const (
	MaxRecord = 16 << 20 // bytes of Data
	MaxAhead  = 4096     // entries of Cursor.Ahead, and of Cursor.Attempts
	MaxBatch  = 1 << 16  // records of one Append, Delay or Replay, and letters of one Commit
)

// Settings are how a topic is opened.
type Settings struct {
	Retention Retention
	Dedupe    int // how many of the last records are known by their ID; 0: none
}

// Retention says which records may go. They go from the front, when something is
// appended or committed, and at Open. A store may keep Capabilities.Slack records
// more than asked. The zero value keeps all.
type Retention struct {
	Count int           // keep at most so many records; 0: any number
	Bytes int64         // keep at most so many bytes of Key, ID and Data together; 0: any number
	Age   time.Duration // keep what is at most so much older than the newest record; 0: any age

	// Consumed also removes what all cursors have committed, and keeps what one
	// has not: within Count, Bytes and Age, at least one of which must be set, so
	// that a subscription that never comes back doesn't fill the disk. Before
	// there is a cursor it removes nothing.
	Consumed bool
}

// Capabilities are what a store can do.
type Capabilities struct {
	Durable   bool // see the package comment
	MayLose   int  // acknowledged records, at most, that a crash may take with it; 0: none
	Retention bool
	Dedupe    bool
	Dead      bool // Commit.Dead, Dead, Replay, Purge
	Delay     bool // Delay, Release
	Slack     int  // records
}
