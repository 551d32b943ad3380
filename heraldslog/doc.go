// Package heraldslog is a [slog.Handler] behind which slow writers can hide:
// it publishes records to a herald topic, and each of its appenders (a console, a
// file, anything that is a slog.Handler itself) is a subscription with its own
// level, capacity and overflow policy. The program that logs pays for a copy of the
// record, however slow the disk.
//
//	log := heraldslog.New()
//	err := log.Add("console", slog.LevelWarn, slog.NewTextHandler(os.Stderr, nil))
//	err = log.Add("file", slog.LevelDebug, slog.NewJSONHandler(file, nil), herald.WithCapacity(1<<16))
//	go log.Run(ctx)
//	slog.SetDefault(slog.New(log))
//	…
//	err = log.Drain(ctx) // close and wait; then the file may be closed
//
// # What happens to a record
//
//	                                     the record              who counts it
//	no appender wants its level          isn't made              nobody: Enabled is false
//	Handle, queue has room               waits for its appender  Waiting
//	Handle, queue full                   takes the place of the  Lost (the oldest)
//	                                     oldest that waits
//	the appender's Handle returns nil    is written              Written
//	… an error, or it panics             is lost                 Lost, and the error function
//	Handle after Close                   is lost: ErrClosed      Late
//
// The two in the middle are defaults: [Handler.Add] takes the options of a
// subscription, so a full queue may also make the caller wait (policy.Block),
// and a failed write may be tried again (herald.WithRetry).
//
// Losses leave a mark in the log they are missing from: before the next record
// an appender writes a line of its own, of level warn, whatever the appender's level:
//
//	level=WARN msg="5 records lost" lost=5
//
// # What is guaranteed
//
//   - Order: an appender writes records in the order in which they were logged,
//     as far as one call of Handle ended before the other began. All have
//     the same priority: an error that overtakes the lines that led to it makes
//     a log harder to read. One that must not be lost among others can have an
//     appender of its own, with level error and a capacity of its own.
//   - No stall: logging waits for nobody, unless an appender was added with
//     policy.Block. No appender hinders another, be it slow, stuck, failing or
//     panicking.
//   - Accounts: for each appender, at every moment, Wanted == Written + Lost +
//     Waiting. A record handed to Handle before [Handler.Close] began was offered
//     to every appender; after it has returned each is counted [Stats].Late.
//   - Losses: the numbers in the lines of an appender that has ended add up to its
//     Lost, unless the lines themselves could not be written. There's at most one
//     such line for each record that it writes, and one at the end. Under
//     policy.DropOldest it stands where the loss was, or one record before; under
//     other policies it may stand earlier or later.
//   - Fidelity: an appender's handler sees the calls that a logger would have
//     made: WithAttrs and WithGroup in their order, each once, then Handle with the
//     time, level and program counter of the record. What it writes is what it would
//     have written without this package.
//   - Nothing starts a goroutine but Run, and when it returns all have ended.
//
// # What the caller pays
//
// Handle copies the record, whatever the number of appenders into one object of
// about 400 bytes, and resolves what has to be as it was when it was logged:
// LogValuers are called on the caller's goroutine, and groups are copied. The other values are formatted later, by the appender. What they
// point to must not change any more: give a copy, or a [slog.LogValuer] that makes
// one. That goes for attributes given to With too; they're resolved once, there.
//
// The context's values reach the appender's handler; its end does not. So a
// context lives as long as a record that was logged with it.
//
// # Logging from inside an appender
//
// It's safe: nothing waits for itself. A record that an appender's handler logs with
// the context it was given isn't offered to that appender again, directly or by
// way of others, so it can't feed itself. With another context nobody can know: each
// record written then makes another, without end, though bounded by the queue; and
// with policy.Block(0) a full appender would wait for itself. For the same reason
// the handler of slog.Default can't be an appender once this package's handler has
// been made the default: what it prints comes back.
//
// Failures are never logged but handed to the function of [WithErrorFunc], and herald
// itself doesn't log about this topic.
package heraldslog
