package main

import (
	"bytes"
	"fmt"
)

const outputLimit = 64 << 10 // bytes that are kept of what one test, package or build printed

// An excerpt keeps the beginning and the end of an output, at most half of outputLimit each; the end may hold twice
// that until it is trimmed. The zero value is empty.
type excerpt struct {
	head, tail []byte
	size       int // bytes of the whole output
}

// add appends s and returns by how many bytes the memory held has grown, less than 0 if it shrank.
func (x *excerpt) add(s string) (grown int) {
	const half = outputLimit / 2
	before := x.held()
	x.size += len(s)
	n := min(len(s), half-len(x.head))
	x.head = append(x.head, s[:n]...)
	x.tail = append(x.tail, s[n:]...)
	if len(x.tail) > 2*half {
		x.tail = append(x.tail[:0], x.tail[len(x.tail)-half:]...)
	}
	return x.held() - before
}

// leaveOut counts s as printed without keeping it.
func (x *excerpt) leaveOut(s string) { x.size += len(s) }

func (x *excerpt) held() int { return len(x.head) + len(x.tail) }

// text returns what is kept, with a line that says how much is missing between beginning and end.
func (x *excerpt) text() string {
	tail := x.tail[max(0, len(x.tail)-outputLimit/2):]
	missing := x.size - len(x.head) - len(tail)
	if missing == 0 {
		return string(x.head) + string(tail)
	}
	if _, whole, ok := bytes.Cut(tail, []byte("\n")); ok { // the first line may be torn
		missing += len(tail) - len(whole)
		tail = whole
	}
	return fmt.Sprintf("%s\n… %d bytes left out …\n%s", bytes.TrimSuffix(x.head, []byte("\n")), missing, tail)
}
