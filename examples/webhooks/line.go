package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
)

const lineLimit = 64 << 10 // bytes

var errLongLine = fmt.Errorf("longer than %d bytes", lineLimit)

func newLineReader(in io.Reader) *bufio.Reader { return bufio.NewReaderSize(in, lineLimit) }

// nextLine returns the next line of r, which is valid until the next call. A line longer than the limit is skipped, and
// is errLongLine.
func nextLine(r *bufio.Reader) ([]byte, error) {
	line, more, err := r.ReadLine()
	if !more {
		return line, err
	}
	for more && err == nil {
		_, more, err = r.ReadLine()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return nil, errLongLine
}

// until returns a reader of what in has, which ends when ctx does. A read of in that is under way then can't be called
// back: its goroutine ends once that returns, and whoever reads from the result doesn't wait for it.
func until(ctx context.Context, in io.Reader) io.Reader {
	r, w := io.Pipe()
	stop := context.AfterFunc(ctx, func() { w.Close() })
	go func() {
		defer stop()
		_, err := io.Copy(w, in)
		w.CloseWithError(err)
	}()
	return r
}
