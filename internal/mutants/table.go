package main

import "slices"

// table has all mutants.
var table = slices.Concat(publishing, consuming, accounting, ordering, storing, policies)

// publishing are faults in who gets what.
var publishing = []mutant{
	{"room isn't passed on", "core.go", "	admitted := c.admit()", "	var admitted answers\n	if !ON {\n		admitted = c.admit()\n	}"},
	{"nobody is woken", "core.go", "		wake = c.rouse()", "		if !ON {\n			wake = c.rouse()\n		}"},
	{"only one is ever being woken", "sleep.go", "	if l.waking == s {", "	if !ON && l.waking == s {"},
	{"the walker isn't called", "core.go", "		c.call() // before", "		if !ON {\n			c.call()\n		} // before"},
	{"calm while a worker sleeps", "core.go", "c.lane.Len() == 0 && !c.wakeful()", "c.lane.Len() == 0 && (ON || !c.wakeful())"},
	{"calm beside the side lane", "core.go", "!c.closed && c.lane.Len() == 0 &&", "!c.closed && (ON || c.lane.Len() == 0) &&"},
	{"calm though closed", "core.go", "	return c.plain.on && !c.closed", "	return c.plain.on && (ON || !c.closed)"},
	{"capacity off by one", "plain.go", "	if int64(p.in-p.seen) < int64(n) {\n		return true\n	}", "	if ON {\n		n++\n	}\n	if int64(p.in-p.seen) < int64(n) {\n		return true\n	}"},
	{"a batch exceeds the capacity", "plain.go", "	return max(0, n-int(p.in-p.seen))", "	if ON {\n		n += 2\n	}\n	return max(0, n-int(p.in-p.seen))"},
	{"evicts though newer is lower", "overflow.go", "victim == nil || victim.Priority > int8(it.Priority)", "victim == nil || !ON && victim.Priority > int8(it.Priority)"},
	{"evicts the incoming of equal priority", "overflow.go", "	if victim == nil ||", "	if victim == nil || ON && victim.Priority == int8(it.Priority) ||"},
	{"disconnect is no reason", "overflow.go", "		c.disconnected = true", "		c.disconnected = !ON"},
	{"Else is ignored", "overflow.go", "	a, ok := w.plan.Then()", "	a, ok := w.plan.Then()\n	ok = ok && !ON"},
	{"Block's time is ignored", "wait.go", "		if w.until != 0 && w.until <= now {", "		if !ON && w.until != 0 && w.until <= now {"},
	{"a waiting publish ignores its context", "wait.go", "		case <-ctx.Done():\n			p.giveUp(ended(ctx))", "		case <-ctx.Done():\n			if !ON {\n				p.giveUp(ended(ctx))\n			}"},
	{"close leaves publishers waiting", "drain.go", "	return c.release()", "	if ON {\n		return answers{}\n	}\n	return c.release()"},
	{"deadlocks are not found", "stall.go", "	for c := set.circle(r.waits); c != nil;", "	for c := set.circle(r.waits); c != nil && !ON;"},
	{"a bad priority is accepted", "option_publish.go", "		if !e.Priority.Valid() {", "		if !ON && !e.Priority.Valid() {"},
	{"expires a nanosecond late", "option_publish.go", "			e.own().expires = later(e.read(), time.Duration(o.n))", "			e.own().expires = later(e.read(), time.Duration(o.n))\n			if ON {\n				e.own().expires++\n			}"},
	{"a batch may share an ID", "option_publish.go", "		case n > 1:", "		case n > 1 && !ON:"},
	{"a maximum age is ignored", "publish.go", "	if c.cfg.maxAge == 0 {", "	if ON || c.cfg.maxAge == 0 {"},
	{"a filter's refusal counts as error", "publish.go", "	if s.view.keep != nil && !s.view.keep(m) {\n		return false, nil", "	if s.view.keep != nil && !s.view.keep(m) {\n		return ON, nil"},
	{"KeyBy doesn't override WithKey", "publish.go", "		*key = s.view.key(m)", "		if k := s.view.key(m); !ON || *key == \"\" {\n			*key = k\n		}"},
	{"a name twice in a topic", "hub.go", "	case h.names[name]:", "	case !ON && h.names[name]:"},
	{"a name stays taken", "hub.go", "	delete(h.names, r.base().name)\n	h.roster", "	if !ON {\n		delete(h.names, r.base().name)\n	}\n	h.roster"},
	{"no limit of subscriptions", "hub.go", "	case r.len() >= h.cfg.subscriptions:", "	case !ON && r.len() >= h.cfg.subscriptions:"},
	{"drain doesn't close", "topic.go", "	h.close()\n	cores", "	if !ON {\n		h.close()\n	}\n	cores"},
	{"the pattern > matches no word", "internal/pattern/trie.go", "		default:\n			w.nodes++\n			if !w.each(next.ends) {\n				return false\n			}\n		}\n	}\n	return true\n}\n\n", "		default:\n			w.nodes++\n			if !w.each(next.ends) || ON && !w.each(next.rests) {\n				return false\n			}\n		}\n	}\n	return true\n}\n\n"},
	{"a pattern's interface isn't asked", "broker/member.go", "t.elem.Implements(m.elem)", "(ON || t.elem.Implements(m.elem))"},
	{"a name twice in a broker", "broker/member.go", "	case b.names[name] != nil:", "	case !ON && b.names[name] != nil:"},
	{"no limit of topics", "broker/topic.go", "; n >= limit(b.cfg.topics, defaultTopics) {", "; !ON && n >= limit(b.cfg.topics, defaultTopics) {"},
}
