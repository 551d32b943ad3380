package main

import (
	"bytes"
	"io"
	"strconv"
)

// A stream generates go test -json in small memory: packages of tests of four lines each, the last of which fails.
type stream struct {
	lines   int            // still to come
	each    func(left int) // told after every line how many are left; may be nil
	pending bytes.Buffer   // lines that were not read yet
	pkg     int
	test    int
}

const (
	streamTests   = 1000              // tests of a package
	streamPackage = 2 + 4*streamTests // lines of a package
)

func (s *stream) Read(p []byte) (int, error) {
	for s.pending.Len() < len(p) && s.lines > 0 {
		s.next()
	}
	if s.pending.Len() == 0 {
		return 0, io.EOF
	}
	return s.pending.Read(p)
}

// next generates a test, and the line that begins or ends its package where it is the first or the last.
func (s *stream) next() {
	if s.test == 0 {
		s.line("start", "", "", "")
	}
	name, action := "Test"+strconv.Itoa(s.test), "pass"
	if s.test == streamTests-1 {
		action = "fail"
	}
	s.line("run", name, "", "")
	s.line("output", name, `,"Output":"`, `=== RUN   `+name+`\n"`)
	s.line("output", name, `,"Output":"    x_test.go:12: some of what a test may have to say: `, name+`\n"`)
	s.line(action, name, `,"Elapsed":0.`, strconv.Itoa(1+s.test%97))
	s.test++
	if s.test == streamTests {
		s.line("fail", "", `,"Elapsed":`, "3.5")
		s.test, s.pkg = 0, s.pkg+1
	}
}

func (s *stream) line(action, test string, more ...string) {
	s.pending.WriteString(`{"Action":"` + action + `","Package":"example.com/big/p`)
	s.pending.WriteString(strconv.Itoa(s.pkg) + `","Test":"` + test + `"`)
	for _, m := range more {
		s.pending.WriteString(m)
	}
	s.pending.WriteString("}\n")
	if s.lines--; s.each != nil {
		s.each(s.lines)
	}
}
