package heraldslog

// An Option changes what [New] makes.
type Option struct{ apply func(*core) }

// WithErrorFunc lets f know of each record that an appender could not write,
// however often it was allowed to try: its handler returned an error or
// panicked, the record grew too old, or whatever else the appender's options
// say ends a record; and of each loss that couldn't be written down. The error is a
// [*herald.Error] that names the appender. Records lost because a queue was full
// are not among them, but for policy.DeadLetter: they're counted, and the appender
// says so itself.
//
// f is called by the appender's goroutine, which waits for it, or by the one
// that logs, and by several at once. It must not log to the same handler, which
// may go on for ever. Its panics are ignored. Without f failures are counted in
// [Handler.Stats], and no more is said.
func WithErrorFunc(f func(error)) Option {
	return Option{func(c *core) { c.onError = f }}
}

// report tells the user's function about err.
func (c *core) report(err error) {
	if c.onError == nil {
		return
	}
	defer func() { _ = recover() }()
	c.onError(err)
}
