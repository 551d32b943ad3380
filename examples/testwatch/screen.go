package main

import (
	"io"
	"sync"
)

const (
	eraseLine = "\r\x1b[K"
	red       = "\x1b[31m"
	plain     = "\x1b[0m"
)

// A screen writes text to the output and, on a terminal, keeps a live line below it. After a write has failed it writes
// no more. Any goroutine may use it.
type screen struct {
	terminal bool

	mu   sync.Mutex // protects what follows, and is held while writing so that texts don't mix
	out  io.Writer
	live string // what stands on the last line, without newline
	err  error  // of the first write that failed
}

// print writes text, which ends with a newline, above the live line.
func (s *screen) print(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live != "" {
		text = eraseLine + text + s.live
	}
	s.writeLocked(text)
}

// draw replaces the live line; an empty one erases it. It does nothing unless the output is a terminal.
func (s *screen) draw(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.terminal || line == s.live {
		return
	}
	s.live = line
	s.writeLocked(eraseLine + line)
}

// failed returns the error of the first write that failed.
func (s *screen) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// alarm returns text in red where there are colours.
func (s *screen) alarm(text string) string {
	if !s.terminal {
		return text
	}
	return red + text + plain
}

func (s *screen) writeLocked(text string) {
	if s.err == nil {
		_, s.err = io.WriteString(s.out, text)
	}
}
