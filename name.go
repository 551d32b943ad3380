package herald

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName is the length limit of topic and subscription names, in bytes.
const maxName = 255

// checkTopicName says what is wrong with a topic name: one or more words
// separated by dots, none of them empty or a wildcard by itself. A wildcard
// character glued to others is a literal, as in NATS.
func checkTopicName(name string) error {
	if err := checkText("topic", name); err != nil {
		return err
	}
	for word := range strings.SplitSeq(name, ".") {
		switch word {
		case "":
			return fmt.Errorf("%w: topic %q has an empty word", ErrName, name)
		case "*", ">":
			return fmt.Errorf("%w: topic %q has a wildcard for a word", ErrName, name)
		}
	}
	return nil
}

// checkSubscriptionName says what is wrong with a subscription name.
func checkSubscriptionName(name string) error { return checkText("subscription", name) }

func checkText(kind, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: empty %s name", ErrName, kind)
	case len(name) > maxName:
		return fmt.Errorf("%w: %s name of %d bytes, at most %d are allowed", ErrName, kind, len(name), maxName)
	case !utf8.ValidString(name):
		return fmt.Errorf("%w: %s name %q is not valid UTF-8", ErrName, kind, name)
	case strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("%w: %s name %q has a control character", ErrName, kind, name)
	}
	return nil
}
