package policy

import "strconv"

// A Priority ranks the messages of a queue: of those that are ready, a higher one is delivered first. The zero value is
// [Normal]. There are four; any other is an error at Publish.
type Priority int8

// The priorities, lowest first.
const (
	Low      Priority = -1
	Normal   Priority = 0
	High     Priority = 1
	Critical Priority = 2
)

// Valid reports whether p is one of the four priorities.
func (p Priority) Valid() bool {
	return Low <= p && p <= Critical
}

// String returns the name of p in lower case, such as "high", or "priority(9)" for one that is not [Priority.Valid].
func (p Priority) String() string {
	switch p {
	case Low:
		return "low"
	case Normal:
		return "normal"
	case High:
		return "high"
	case Critical:
		return "critical"
	}
	return "priority(" + strconv.Itoa(int(p)) + ")"
}
