package herald

import (
	"context"
	"time"
)

// A sleeper is a consumer with nothing to do: a worker of Run or a waiting
// Receive. Its channel and timer are made by the goroutine that sleeps,
// when first needed.
type sleeper struct {
	token      chan struct{} // of size 1; made when first needed
	timer      *time.Timer   // made when first needed
	alarm      int64         // clock at which it wakes by itself; 0: never
	prev, next *sleeper
	asleep     bool // in the list
}

// wake lets s go on. A token that is there already serves as well.
func (s *sleeper) wake() {
	select {
	case s.token <- struct{}{}:
	default:
	}
}

// sleep waits for a token, the alarm, or the end of ctx. The caller has put
// s into the list and freed the mutex; afterwards it looks again, whatever
// it was woken by.
func (s *sleeper) sleep(ctx context.Context) {
	if s.alarm == 0 {
		select {
		case <-s.token:
		case <-ctx.Done():
		}
		return
	}
	wait := time.Duration(s.alarm - clock())
	if s.timer == nil {
		s.timer = time.NewTimer(wait)
	} else {
		s.timer.Reset(wait)
	}
	select {
	case <-s.token:
	case <-s.timer.C:
	case <-ctx.Done():
	}
	s.timer.Stop()
}

// sleepers is the list of a core's sleepers, the last to fall asleep first:
// it's the one whose memory is warm. One of them has set the alarm for all.
//
// At most one is being woken at a time. When it comes to the mutex it takes its
// message, and as every change of a core ends with a look for whom to wake, the
// next is woken if there is more: so a burst of tiny messages costs one
// wake-up, while slow handlers soon have all workers up.
type sleepers struct {
	first  *sleeper
	n      int
	alarm  *sleeper
	waking *sleeper // woken, and not back at the mutex yet
}

// add puts s to sleep, with the alarm at next (0: none) unless another has
// an earlier one.
func (l *sleepers) add(s *sleeper, next int64) {
	if s.token == nil {
		s.token = make(chan struct{}, 1)
	}
	s.alarm, s.asleep = 0, true
	if next != 0 && (l.alarm == nil || l.alarm.alarm > next) {
		s.alarm = next
		l.alarm = s
	}
	s.prev, s.next = nil, l.first
	if l.first != nil {
		l.first.prev = s
	}
	l.first = s
	l.n++
}

// rouse takes s out of the list to be woken.
func (l *sleepers) rouse(s *sleeper) *sleeper {
	l.take(s)
	l.waking = s
	return s
}

// take removes s, if it's there, and returns it. Whoever slept calls it when
// it's back at the mutex.
func (l *sleepers) take(s *sleeper) *sleeper {
	if l.waking == s {
		l.waking = nil
	}
	if !s.asleep {
		return s
	}
	if s.prev != nil {
		s.prev.next = s.next
	} else {
		l.first = s.next
	}
	if s.next != nil {
		s.next.prev = s.prev
	}
	if l.alarm == s {
		l.alarm = nil
	}
	s.prev, s.next, s.asleep = nil, nil, false
	l.n--
	return s
}

func (l *sleepers) takeAll() []*sleeper {
	var all []*sleeper
	for l.first != nil {
		all = append(all, l.take(l.first))
	}
	return all
}
