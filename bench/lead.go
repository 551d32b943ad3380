package main

import "fmt"

// lead compares herald with the fastest other bus of a workload, by their
// ratios to the channel. There is none where no other bus ran.
func lead(rows []row) (f fact, ok bool) {
	var own, nearest *row
	for i := range rows {
		switch r := &rows[i]; {
		case r.system == "herald":
			own = r
		case isPeer(r.system) && (nearest == nil || r.wall < nearest.wall):
			nearest = r
		}
	}
	if own == nil || nearest == nil {
		return fact{}, false
	}
	return fact{
		name: own.workload.name + ", time to the nearest bus's",
		unit: "×", must: 1, aim: 1. / 3, procs: own.procs,
		value: own.wall / nearest.wall,
		note:  fmt.Sprintf("%s has %.2f of a channel's", nearest.system, nearest.wall),
	}, true
}

func isPeer(name string) bool {
	for _, p := range peers {
		if p.name == name {
			return true
		}
	}
	return false
}
