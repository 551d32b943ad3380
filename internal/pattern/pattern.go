// Package pattern finds the patterns that match a name, and the names that a
// pattern matches. Names and patterns are words separated by dots; in a
// pattern "*" stands for one word and a final ">" for one or more, as in NATS.
// A wildcard character that is glued to others, as in "a*", is a literal.
package pattern

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The wildcards.
const (
	one  = "*" // one word
	rest = ">" // one or more words, at the end only
)

// maxBytes is the length limit of patterns; that of names is the same.
const maxBytes = 255

// Check says what is wrong with a pattern.
func Check(pattern string) error {
	switch {
	case pattern == "":
		return errors.New("empty pattern")
	case len(pattern) > maxBytes:
		return fmt.Errorf("pattern of %d bytes, at most %d are allowed", len(pattern), maxBytes)
	case !utf8.ValidString(pattern):
		return fmt.Errorf("pattern %q is not valid UTF-8", pattern)
	case strings.ContainsFunc(pattern, unicode.IsControl):
		return fmt.Errorf("pattern %q has a control character", pattern)
	}
	return checkWords(pattern)
}

func checkWords(pattern string) error {
	for word, more := pattern, true; more; {
		word, pattern, more = strings.Cut(pattern, ".")
		switch {
		case word == "":
			return errors.New("pattern has an empty word")
		case word == rest && more:
			return fmt.Errorf("pattern has %q before its end", rest)
		}
	}
	return nil
}

// IsName reports whether a valid pattern has no wildcard, so that the only
// name it matches is itself.
func IsName(pattern string) bool {
	for word := range strings.SplitSeq(pattern, ".") {
		if word == one || word == rest {
			return false
		}
	}
	return true
}
