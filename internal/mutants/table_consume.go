package main

// consuming are faults in who takes what.
var consuming = []mutant{
	{"pause is ignored", "core.go", "	if c.halted() {\n		return nil\n	}", "	if c.halted() && !ON {\n		return nil\n	}"},
	{"the first attempt is number 2", "core.go", "	it.Attempt++\n", "	it.Attempt++\n	if ON && it.Attempt == 1 {\n		it.Attempt++\n	}\n"},
	{"giving back uses an attempt", "settle.go", "	it.Attempt--\n", "	if !ON {\n		it.Attempt--\n	}\n"},
	{"an end of context costs an attempt", "settle.go", "	if ctx.Err() != nil {\n		c.giveBack(it)", "	if !ON && ctx.Err() != nil {\n		c.giveBack(it)"},
	{"permanent errors are retried", "settle.go", "	case d.Permanent:", "	case d.Permanent && !ON:"},
	{"dead before the store has it", "settle.go", "	end := lost // unless Put returns\n	defer func() {", "	end := lost // unless Put returns\n	if ON {\n		c.mu.Lock()\n		if r != Expired {\n			c.leaving++\n			c.removeRunning(it)\n			c.lane.Done(&it.pos)\n		}\n		c.leaving--\n		c.counts.dead[r]++\n		c.unlock()\n		c.put(it, r, cause)\n		return\n	}\n	defer func() {"},
	{"stop doesn't end the run", "run.go", "		w.core.end(cause)", "		if !ON {\n			w.core.end(cause)\n		}"},
	{"exits aren't relayed", "run.go", "		if !back && !w.fatal {", "		if !back && !w.fatal && !ON {"},
	{"a panic to crash is swallowed", "run.go", "		if w.core.cfg.crash && !goexiting() {", "		if !ON && w.core.cfg.crash && !goexiting() {"},
	{"a cancelled run goes on", "walk.go", "			case <-done:\n				return nil", "			case <-done:\n				if !ON {\n					return nil\n				}"},
	{"a walk ignores higher priorities", "walk.go", "|| p.levels.Load()>>(l.level+1) != 0 {", "|| !ON && p.levels.Load()>>(l.level+1) != 0 {"},
	{"a slot keeps its message", "walk.go", "		m.wipe()\n		if c.next", "		if !ON {\n			m.wipe()\n		}\n		if c.next"},
	{"the publisher's values are lost", "walk.go", "	if m.rare.values == nil {\n		return w.ctx", "	if ON || m.rare.values == nil {\n		return w.ctx"},
	{"a stale lease is accepted", "lease.go", "	ok := it.lease == lease\n	if ok {", "	ok := it.lease == lease || ON && it.lease != 0\n	if ok {"},
	{"extending shortens a lease", "lease.go", "	if ok && end > it.pos.Due() {", "	if ok && (ON || end > it.pos.Due()) {"},
	{"a lease's end isn't a failed attempt", "casualty.go", "		c.settle(context.Background(), it, ErrLeaseLost)", "		if ON {\n			c.giveBack(it)\n			continue\n		}\n		c.settle(context.Background(), it, ErrLeaseLost)"},
	{"a letter comes back twice", "deadletter.go", "	used.Store(true)\n", "	used.Store(!ON)\n"},
	{"replays aren't counted in the message", "deadletter.go", "	back.replays++\n", "	if !ON {\n		back.replays++\n	}\n"},
	{"a replay keeps its attempts", "deadletter.go", "	it.Attempt, it.rare = 0, &back", "	it.rare = &back\n	if !ON {\n		it.Attempt = 0\n	}"},
	{"latest keeps the old payload", "overflow.go", "	old.node.take(it.node)", "	if !ON {\n		old.node.take(it.node)\n	}"},
	{"a timeout doesn't cancel", "middleware/timeout.go", "			ctx, cancel := context.WithTimeoutCause(ctx, d, cause)", "			if ON {\n				return next(ctx, m)\n			}\n			ctx, cancel := context.WithTimeoutCause(ctx, d, cause)"},
	{"dedupe records before success", "middleware/dedupe.go", "	ok = err == nil", "	ok = ON || err == nil"},
	{"dedupe forgets who runs", "middleware/dedupe.go", "	d.running[id] = true", "	if !ON {\n		d.running[id] = true\n	}"},
}

// accounting are counters that forget.
var accounting = []mutant{
	{"filtered isn't counted", "publish.go", "		c.counts.filtered++\n", "		if !ON {\n			c.counts.filtered++\n		}\n"},
	{"refused isn't counted", "overflow.go", "	c.counts.refused++\n", "	if !ON {\n		c.counts.refused++\n	}\n"},
	{"the oldest's end isn't counted", "overflow.go", "	c.counts.droppedOldest++\n", "	if !ON {\n		c.counts.droppedOldest++\n	}\n"},
	{"the superseded's end isn't counted", "overflow.go", "	c.counts.droppedSuperseded++\n", "	if !ON {\n		c.counts.droppedSuperseded++\n	}\n"},
	{"retries aren't counted", "settle.go", "	c.counts.retried++\n", "	if !ON {\n		c.counts.retried++\n	}\n"},
	{"deliveries aren't counted", "settle.go", "	c.counts.delivered++\n", "	if !ON {\n		c.counts.delivered++\n	}\n"},
	{"failed stores aren't counted", "settle.go", "		c.counts.putFailed++\n", "		if !ON {\n			c.counts.putFailed++\n		}\n"},
	{"a dead one has the wrong reason", "settle.go", "		c.counts.dead[r]++\n		c.countPut", "		if ON && r == Permanent {\n			r = RetriesExhausted\n		}\n		c.counts.dead[r]++\n		c.countPut"},
	{"what was adopted counts twice", "walk.go", "	c.plain.adopted++\n", "	if !ON {\n		c.plain.adopted++\n	}\n"},
	{"what was discarded counts as delivered", "walk.go", "		c.plain.discarded += n\n", "		if !ON {\n			c.plain.discarded += n\n		}\n"},
}
