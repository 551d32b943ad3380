package storetest

import "github.com/heraldbus/herald/store"

func commit(k *kit) {
	l := k.log(store.Settings{})
	ctx := k.Context()
	_, err := l.Cursor(ctx, "sub")
	k.wants("cursor before the first commit", err, store.ErrNotFound)
	k.fill(l, 10)
	for _, c := range []store.Commit{
		{},
		{Cursor: store.Cursor{Ahead: []uint64{2, 3, 10}, Attempts: map[uint64]int{1: 1, 4: 7}}},
		{Cursor: store.Cursor{Committed: 4}},
		{Cursor: store.Cursor{Committed: 10}},
		{Cursor: store.Cursor{Committed: 2, Ahead: []uint64{9}}, Seek: true},
	} {
		k.must(l.Commit(ctx, "sub", c))
		k.hasCursor(l, "sub", c.Cursor)
	}
	k.must(l.Commit(ctx, "other", store.Commit{}))
	k.must(l.Forget(ctx, "sub"))
	_, err = l.Cursor(ctx, "sub")
	k.wants("cursor that was forgotten", err, store.ErrNotFound)
	k.wants("forget again", l.Forget(ctx, "sub"), store.ErrNotFound)
	k.hasCursor(l, "other", store.Cursor{})
}

func (k *kit) hasCursor(l store.Log, sub string, want store.Cursor) {
	k.Helper()
	got, err := l.Cursor(k.Context(), sub)
	k.must(err)
	k.equal("cursor "+sub, got, want)
}

// commitRefused shows that a commit that is refused changes nothing of anything.
func commitRefused(k *kit) {
	l := k.log(store.Settings{})
	ctx := k.Context()
	records := k.fill(l, 5)
	old := store.Cursor{Committed: 3}
	k.must(l.Commit(ctx, "sub", store.Commit{Cursor: old}))
	for what, c := range map[string]store.Cursor{
		"back":                {Committed: 2},
		"beyond the end":      {Committed: 6},
		"ahead behind":        {Committed: 4, Ahead: []uint64{4}},
		"ahead of the end":    {Committed: 3, Ahead: []uint64{6}},
		"ahead out of order":  {Committed: 3, Ahead: []uint64{5, 4}},
		"attempts behind":     {Committed: 4, Attempts: map[uint64]int{4: 1}},
		"no attempts":         {Committed: 4, Attempts: map[uint64]int{5: 0}},
		"attempts and an end": {Committed: 3, Ahead: []uint64{5}, Attempts: map[uint64]int{5: 1}},
	} {
		c := store.Commit{Cursor: c}
		if k.store.Capabilities().Dead {
			c.Dead = []store.DeadLetter{letter(records[0])}
		}
		k.wants("commit "+what, l.Commit(ctx, "sub", c), store.ErrInvalid)
	}
	k.wants("commit without a name", l.Commit(ctx, "", store.Commit{}), store.ErrInvalid)
	k.hasCursor(l, "sub", old)
	if k.store.Capabilities().Dead {
		k.equal("letters", k.letters(l), []store.DeadLetter{})
	}
}

func deadLetters(k *kit) {
	l := k.log(store.Settings{})
	ctx := k.Context()
	records := k.fill(l, 4)
	var want []store.DeadLetter
	for i, r := range records {
		d := letter(r)
		c := store.Commit{Cursor: store.Cursor{Committed: r.Offset}, Dead: []store.DeadLetter{d}}
		k.must(l.Commit(ctx, "sub", c))
		d.Number, d.Subscription = uint64(i+1), "sub"
		want = append(want, d)
	}
	k.equal("letters", k.letters(l), want)
	k.reopen()
	l = k.log(store.Settings{})
	k.equal("letters after a restart", k.letters(l), want)
	k.must(l.Purge(ctx, 2, 4, 9))
	k.equal("letters after a purge", k.letters(l), []store.DeadLetter{want[0], want[2]})
	k.must(l.Commit(ctx, "sub", store.Commit{Cursor: store.Cursor{Committed: 4}, Dead: []store.DeadLetter{letter(records[0])}}))
	k.equal("number after a purge of the last", k.letters(l)[2].Number, uint64(5))
}

func replay(k *kit) {
	var settings store.Settings
	if k.store.Capabilities().Dedupe {
		settings.Dedupe = 100 // a replayed record isn't taken for a duplicate
	}
	l := k.log(settings)
	ctx := k.Context()
	records := k.fill(l, 3)
	c := store.Commit{Cursor: store.Cursor{Committed: 3}}
	for _, r := range records {
		c.Dead = append(c.Dead, letter(r))
	}
	k.must(l.Commit(ctx, "sub", c))
	_, err := l.Replay(ctx, second(50), 1, 9)
	k.wants("replay of one that isn't there", err, store.ErrNotFound)
	_, err = l.Replay(ctx, second(50), 1, 1)
	k.wants("replay twice at once", err, store.ErrInvalid)
	k.equal("letters", len(k.letters(l)), 3)
	first, err := l.Replay(ctx, second(50), 3, 1)
	k.must(err)
	k.equal("first", first, uint64(4))
	_, err = l.Replay(ctx, second(50), 1)
	k.wants("replay again", err, store.ErrNotFound)
	k.reopen()
	l = k.log(settings)
	got := k.from(l, first)
	var want []store.Record
	for i, r := range []store.Record{records[0], records[2]} {
		r = store.DeadLetter{Subscription: "sub", Record: r}.Again(second(50))
		r.Offset = first + uint64(i)
		want = append(want, r)
	}
	k.equal("records", got, want)
	k.equal("for", got[0].For, "sub")
	k.equal("replays", got[0].Replays, 1)
	k.equal("letters left", k.letters(l)[0].Number, uint64(2))
}
