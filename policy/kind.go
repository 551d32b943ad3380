package policy

import "strconv"

// A Kind says what an [Action] does, for those who carry actions out or wrap an [Overflow]. The zero Kind is that of the
// zero Action.
type Kind uint8

// The kinds, each made by the constructor of its name.
const (
	KindInvalid Kind = iota
	KindDeadLetter
	KindReject
	KindDropNewest
	KindDropOldest
	KindDisconnect
	KindBlock
)

// String returns the name of k, such as "drop-oldest", or "kind(9)" for one that does not exist.
func (k Kind) String() string {
	switch k {
	case KindInvalid:
		return "invalid"
	case KindDeadLetter:
		return "dead-letter"
	case KindReject:
		return "reject"
	case KindDropNewest:
		return "drop-newest"
	case KindDropOldest:
		return "drop-oldest"
	case KindDisconnect:
		return "disconnect"
	case KindBlock:
		return "block"
	}
	return "kind(" + strconv.Itoa(int(k)) + ")"
}
