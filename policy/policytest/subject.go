package policytest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// A subject is a policy under test, seen as what every policy has to be: a function that gives equal questions equal
// answers, whoever asks, whenever and in whatever order.
type subject[Q fmt.Stringer, A any] struct {
	ask       func(Q) A
	wrong     func(A) error     // what is wrong with one answer, whatever the question; nil if nothing
	same      func(a, b A) bool // whether both may be answers to one question
	questions []Q
	patience  time.Duration // how long one pass over the questions may take
}

// total asks each question once. It returns the answers, in order, or what is wrong with the first bad one.
func (s subject[Q, A]) total() ([]A, error) {
	answers := make([]A, len(s.questions))
	forward := func(k int) int { return k }
	err := s.each(forward, func(i int, a A) error {
		answers[i] = a
		return s.wrong(a)
	})
	if err != nil {
		return nil, err // and no answers, as a pass that is stuck may still write some
	}
	return answers, nil
}

// stateless asks again, last question first, which is the order that a policy with a memory expects least.
func (s subject[Q, A]) stateless(answers []A) error {
	backward := func(k int) int { return len(s.questions) - 1 - k }
	return s.each(backward, func(i int, a A) error {
		if !s.same(a, answers[i]) {
			return fmt.Errorf("first %+v, then %+v: a policy must not keep state, and if it draws at random, the test must "+
				"say so with Randomised", answers[i], a)
		}
		return nil
	})
}

// concurrent asks from several goroutines at once, each beginning elsewhere. A data race is the race detector's to
// report; one that changes an answer is found without it.
func (s subject[Q, A]) concurrent(answers []A) error {
	var (
		wg     sync.WaitGroup
		askers [4]error
	)
	for n := range askers {
		wg.Go(func() {
			rotated := func(k int) int { return (k + n*len(s.questions)/len(askers)) % len(s.questions) }
			askers[n] = s.each(rotated, func(i int, a A) error {
				if !s.same(a, answers[i]) {
					return fmt.Errorf("alone %+v, with others %+v: a policy must be safe for concurrent use", answers[i], a)
				}
				return nil
			})
		})
	}
	wg.Wait()
	for _, err := range askers {
		if err != nil {
			return err
		}
	}
	return nil
}

// each asks the questions in the given order and lets judge look at the answers, until that returns an error. It asks on
// a goroutine of its own, so that a panic, a runtime.Goexit and an endless loop are errors too. A policy that is stuck
// leaks that goroutine, as nothing can stop it.
func (s subject[Q, A]) each(order func(k int) int, judge func(i int, a A) error) error {
	var now atomic.Int64 // the index of the question being asked, also read where no answer comes
	found := make(chan error, 1)
	go func() {
		err := errors.New("called runtime.Goexit")
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("panic: %v", v)
			}
			found <- err
		}()
		for k := range s.questions {
			i := order(k)
			now.Store(int64(i))
			if bad := judge(i, s.ask(s.questions[i])); bad != nil {
				err = bad
				return
			}
		}
		err = nil
	}()

	var err error
	select {
	case err = <-found:
	case <-time.After(s.patience):
		err = fmt.Errorf("no answer after %v", s.patience)
	}
	if err != nil {
		return fmt.Errorf("%v: %w", s.questions[now.Load()], err)
	}
	return nil
}
