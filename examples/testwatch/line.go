package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

const (
	lineLimit  = 1 << 20 // bytes; a longer line is malformed, and only its beginning is kept
	linePrefix = 120     // bytes of a malformed line that are kept to show it
)

// A Line is one line of the input.
type Line struct {
	Number int    // 1 for the first
	Text   []byte // without its newline; only a prefix if the line is longer than lineLimit
	Size   int    // bytes of the whole line
	Torn   bool   // the input ended before its newline
}

// prefix returns l with no more text than is shown of a malformed line, in memory of its own.
func (l Line) prefix() Line {
	l.Text = bytes.Clone(l.Text[:min(len(l.Text), linePrefix)])
	return l
}

// A lineReader reads lines of any length in bounded memory.
type lineReader struct {
	in     *bufio.Reader
	number int
}

func newLineReader(in io.Reader) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(in, 64<<10)}
}

// next returns the next line, which the caller owns. At the end of the input it returns io.EOF, after a last line that
// may be torn. Any other error is the reader's.
func (r *lineReader) next() (Line, error) {
	r.number++
	line := Line{Number: r.number}
	for {
		part, err := r.in.ReadSlice('\n')
		line.extend(bytes.TrimSuffix(part, []byte("\n")))
		switch {
		case err == nil:
			return line, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && line.Size > 0:
			line.Torn = true
			return line, nil
		default:
			return Line{}, err
		}
	}
}

// extend adds part to l, or skips it once l is over the limit.
func (l *Line) extend(part []byte) {
	l.Size += len(part)
	if l.Size <= lineLimit {
		l.Text = append(l.Text, part...)
	} else if len(l.Text) > linePrefix {
		*l = l.prefix()
	}
}

// isBlank reports whether there is nothing in l to decode.
func (l Line) isBlank() bool { return len(bytes.TrimSpace(l.Text)) == 0 && l.Size <= lineLimit }
