package linear

import (
	"hash/maphash"

	"github.com/heraldbus/herald/policy"
)

// elementSize is how many bytes an element takes in a state.
const elementSize = 3

func (e element) encode() string {
	return string([]byte{byte(e.priority - policy.Low), byte(e.id >> 8), byte(e.id)})
}

func elementAt(list string, i int) element {
	return element{uint16(list[i+1])<<8 | uint16(list[i+2]), policy.Priority(list[i]) + policy.Low}
}

// insert puts e behind all of its priority and above.
func insert(list string, e element) string {
	at := len(list)
	for at > 0 && elementAt(list, at-elementSize).priority < e.priority {
		at -= elementSize
	}
	return list[:at] + e.encode() + list[at:]
}

var hashSeed = maphash.MakeSeed()

func hashString(state any) uint64 { return maphash.String(hashSeed, state.(string)) }

func has(list string, e element) bool { return find(list, e) >= 0 }

func find(list string, e element) int {
	for i := 0; i < len(list); i += elementSize {
		if elementAt(list, i) == e {
			return i
		}
	}
	return -1
}

func remove(list string, e element) string {
	i := find(list, e)
	return list[:i] + list[i+elementSize:]
}

// inOrderOf returns the elements of some in their order in all.
func inOrderOf(all, some string) (sorted string) {
	for i := 0; i < len(all); i += elementSize {
		if e := elementAt(all, i); has(some, e) {
			sorted += e.encode()
		}
	}
	return sorted
}
