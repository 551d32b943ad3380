package main

import (
	"fmt"
	"strings"
	"unicode"
)

// row returns cells as an indented line.
func row(cells ...string) string {
	return "  " + printable(strings.Join(cells, "  ")) + "\n"
}

// seconds returns s, with a dash for none: so that what is there stands out.
func seconds(s float64) string {
	if s == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2fs", s)
}

// count returns n, with a dash for none.
func count(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

// indent returns text with each line moved to the right, ending with a newline; nothing stays nothing.
func indent(text, by string) string {
	text = strings.Trim(text, "\n")
	if strings.TrimSpace(text) == "" {
		return ""
	}
	var b strings.Builder
	for line := range strings.Lines(text + "\n") {
		if line != "\n" {
			b.WriteString(by)
		}
		b.WriteString(line)
	}
	return b.String()
}

// cut returns at most width runes of s.
func cut(s string, width int) string {
	runes := []rune(s)
	if len(runes) <= width {
		return s
	}
	return string(runes[:width-1]) + "…"
}

// printable returns s with a question mark for everything that could move a terminal's cursor.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return '?'
	}, s)
}
