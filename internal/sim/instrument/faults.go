package instrument

// A Fault is a mistake that one could make in herald, and a scenario in which
// it shows. It's planted to see whether the scheduler finds it.
type Fault struct {
	Name, Scenario string
	Edits          []Edit
}

// Faults are the known ones.
var Faults = []Fault{
	{
		Name: "deaf-publisher", Scenario: "publish-park", // who publishes doesn't look for a sleeping consumer
		Edits: []Edit{{"core.go", "c.lane.Len() == 0 && !c.wakeful()", "c.lane.Len() == 0"}},
	},
	{
		Name: "room-kept", Scenario: "publishers-room-dispatcher", // who makes room doesn't pass it on
		Edits: []Edit{{"core.go", "admitted := c.admit()", "var admitted answers"}},
	},
	{
		Name: "replayed-twice", Scenario: "two-replays", // a letter's ticket is looked at only before the lock
		Edits: []Edit{{"deadletter.go", "\tif used.Load() {\n\t\tc.unlock()\n\t\treturn ErrSettled\n\t}\n", "\n\n\n\n"}},
	},
	{
		Name: "late-ack", Scenario: "lease-expiry-ack", // whoever settles doesn't look at the clock
		Edits: []Edit{{"lease.go", "settle func()) bool {\n\tc.mu.Lock()\n\tk := c.poll()", "settle func()) bool {\n\tc.mu.Lock()\n\tvar k casualties"}},
	},
	{
		Name: "loose-pick", Scenario: "discard-walk", // the walking worker takes the next message whatever has happened
		Edits: []Edit{{"walk.go", "if !p.word.CompareAndSwap(word, more) {", "if p.word.Store(more); false {"}},
	},
	{
		Name: "torn-discard", Scenario: "discard-walk-deep", // Discard reads the word and writes it in two steps
		Edits: []Edit{{"walk.go", "if !c.plain.word.CompareAndSwap(w, w+n*plainPick|plainAttention) {",
			"if c.plain.word.Store(w + n*plainPick | plainAttention); false {"}},
	},
}
