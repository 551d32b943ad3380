package broker

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/heraldbus/herald"
)

// ErrNotFound says that there is no topic, or no subscription, of that name.
// It comes wrapped in a [*herald.Error] that names it.
var ErrNotFound = errors.New("herald: not found")

// A TypeError says that a topic has values of another type than was asked
// for. It comes wrapped in a [*herald.Error], whose text names the topic.
type TypeError struct {
	Topic string
	Has   reflect.Type // of the topic's values
	Asked reflect.Type
}

func (e *TypeError) Error() string {
	has, asked := e.Has.String(), e.Asked.String()
	if has == asked { // same name, in packages of the same name
		has, asked = longName(e.Has), longName(e.Asked)
	}
	return fmt.Sprintf("values are of type %s, not %s", has, asked)
}

func longName(t reflect.Type) string {
	if t.PkgPath() == "" {
		return t.String()
	}
	return t.PkgPath() + "." + t.Name()
}

// fail returns err as the error of call op, with the topic and the
// subscription that it's about.
func fail(op, topic, sub string, err error) error {
	return &herald.Error{Op: op, Topic: topic, Subscription: sub, Err: err}
}

var (
	errNilContext = fmt.Errorf("%w: nil context", herald.ErrOption)
	errNilHandler = fmt.Errorf("%w: nil handler", herald.ErrOption)
	errZeroOption = fmt.Errorf("%w: zero Option", herald.ErrOption)
)
