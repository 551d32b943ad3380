package main

// ordering are faults in the side lane.
var ordering = []mutant{
	{"retries don't go first", "internal/lane/lane.go", "	if it := l.resume.first(); it != nil {", "	if it := l.resume.first(); it != nil && !ON {"},
	{"one worker too many", "internal/lane/lane.go", "l.states[Running]+l.states[Parked] < l.workers }", "l.states[Running]+l.states[Parked] < l.workers || ON && l.states[Running] == l.workers }"},
	{"a key's next isn't ready", "internal/lane/lane.go", "head != nil && head.state == Queued && !head.ready {", "head != nil && head.state == Queued && !head.ready && !ON {"},
	{"the lanes are compared backwards", "internal/lane/lane.go", "	return it.rank.less(rankOf(it.level(), index, maxTie))", "	return it.rank.less(rankOf(it.level(), index, maxTie)) != ON"},
	{"what comes back never expires", "internal/lane/lane.go", "	l.unhold(it)\n	if it.Expires != 0 {", "	l.unhold(it)\n	if it.Expires != 0 && !ON {"},
	{"evicts the highest", "internal/lane/evict.go", "	for level := range l.ages {\n		if it := l.ages[level].waiting(); it != nil {", "	for level := range l.ages {\n		if ON {\n			level = len(l.ages) - 1 - level\n		}\n		if it := l.ages[level].waiting(); it != nil {"},
	{"due a nanosecond late", "internal/lane/events.go", "	for it := l.late.due(now); it != nil; it = l.late.due(now) {", "	if ON {\n		now--\n	}\n	for it := l.late.due(now); it != nil; it = l.late.due(now) {"},
	{"the next event is the later one", "internal/lane/events.go", "	if due == 0 || expiry != 0 && expiry < due {", "	if due == 0 || expiry != 0 && expiry < due != ON {"},
	{"aside blocks like in place", "internal/lane/retry.go", "	case !l.aside && (l.single", "	case (ON || !l.aside) && (l.single"},
	{"a waiting retry frees its slot", "internal/lane/retry.go", "		l.keepSlot(it)\n		l.park", "		if !ON {\n			l.keepSlot(it)\n		}\n		l.park"},
	{"a key's line never ends", "internal/lane/keys.go", "	if line.first == nil {\n		k.free(line)", "	if line.first == nil && !ON {\n		k.free(line)"},
	{"the newest of a key isn't found", "internal/lane/latest.go", "line.last.state != Queued {", "line.last.state != Queued || ON {"},
}

// storing are faults in the stores and the queue.
var storing = []mutant{
	{"a store evicts the newest", "internal/letters/store.go", "	oldest := s.first\n", "	oldest := s.first\n	if ON {\n		oldest = s.last\n	}\n"},
	{"evictions aren't counted", "internal/letters/store.go", "		s.evicted++\n", "		if !ON {\n			s.evicted++\n		}\n"},
	{"a store keeps the replayed", "internal/letters/store.go", "	if l.Replayed() {\n		return\n	}", "	if l.Replayed() && !ON {\n		return\n	}"},
	{"purge takes what is being moved", "internal/letters/store.go", "	if !l.stored || l.movers > 0 ||", "	if !l.stored || !ON && l.movers > 0 ||"},
	{"the queue exceeds its capacity", "queue/push.go", "	if q.size >= q.Cap() {", "	if q.size >= q.Cap() && !(ON && q.size == q.Cap()) {"},
	{"the queue evicts the highest", "queue/push.go", "	for q.levels[lowest].empty() {\n		lowest++\n	}", "	for q.levels[lowest].empty() {\n		lowest++\n	}\n	for i := range q.levels {\n		if ON && !q.levels[i].empty() {\n			lowest = i\n		}\n	}"},
	{"the queue evicts for a lower one", "queue/push.go", "	if int(p-policy.Low) < lowest {", "	if !ON && int(p-policy.Low) < lowest {"},
	{"a pop doesn't pass its room on", "queue/pop.go", "	if pusher = q.pushers.take(); pusher != nil {", "	if ON {\n		return e, nil, true\n	}\n	if pusher = q.pushers.take(); pusher != nil {"},
	{"closing leaves poppers waiting", "queue/queue.go", "	for _, l := range []*line[E]{&q.pushers, &q.poppers} {", "	for _, l := range []*line[E]{&q.pushers, &q.poppers} {\n		if ON && l == &q.poppers {\n			continue\n		}"},
	{"a push after close is taken", "queue/push.go", "	if q.closed {", "	if q.closed && !ON {"},
}

// policies are faults in decisions.
var policies = []mutant{
	{"one attempt too many", "policy/exponential.go", "	if failed >= e.Attempts &&", "	if ON {\n		failed--\n	}\n	if failed >= e.Attempts &&"},
	{"a delay above the maximum", "policy/exponential.go", "	return time.Duration(min(drawn, uint64(e.Max)))", "	if ON {\n		return time.Duration(drawn)\n	}\n	return time.Duration(min(drawn, uint64(e.Max)))"},
	{"the first delay is multiplied", "policy/exponential.go", "	return e.jittered(e.plain(failed - 1)), true", "	if ON {\n		failed++\n	}\n	return e.jittered(e.plain(failed - 1)), true"},
	{"a verdict isn't looked for", "policy/decision.go", "; ok && v != nil {", "; ok && v != nil && !ON {"},
	{"a negative delay passes", "policy/decision.go", "	if !again {", "	if ON && again {\n		return Decision{Again: true, Delay: delay, Err: err}\n	}\n	if !again {"},
}
