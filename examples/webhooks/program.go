package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"
)

var (
	errUndelivered = errors.New("undelivered")
	errGrace       = errors.New("the time for deliveries is up")
)

// A program is one run, from the first line of the input to the report.
type program struct {
	*dispatcher
	intake   *intake
	journal  *journal
	standins *standins // nil: the receivers are for real
	report   *report
}

// demonstrate runs the program with s for its receivers, and closes them.
func demonstrate(ctx context.Context, s *standins, base setup, in io.Reader, out io.Writer) error {
	defer s.close()
	base.receivers = s.receivers()
	return run(ctx, base, s, in, out)
}

// run posts the events of in, and writes what became of them to out.
func run(ctx context.Context, base setup, s *standins, in io.Reader, out io.Writer) error {
	p, err := newProgram(base, s, out)
	if err != nil {
		return err
	}
	return p.run(ctx, in)
}

func newProgram(base setup, s *standins, out io.Writer) (*program, error) {
	p := &program{standins: s, report: &report{out: out}}
	var err error
	if s == nil {
		p.dispatcher, err = newDispatcher(base)
	} else {
		p.journal = new(journal)
		p.dispatcher, err = newDispatcher(base, p.journal.middleware)
	}
	p.intake = &intake{dispatcher: p.dispatcher}
	return p, err
}

// run is one group of two. Delivering is one member, reading and reporting the other: whatever fails first ends both, and
// when run returns, all that it started has ended.
func (p *program) run(ctx context.Context, in io.Reader) error {
	defer p.client.CloseIdleConnections()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return p.dispatcher.run(ctx) })
	g.Go(func() error { return p.plot(ctx, in) })
	return g.Wait()
}

// plot is the order in which things happen, apart from the deliveries, which go on all the time.
func (p *program) plot(ctx context.Context, in io.Reader) error {
	if err := p.intake.read(ctx, in); err != nil {
		return err
	}
	p.report.accepted(p)
	grace, cancel := context.WithTimeoutCause(ctx, p.grace, errGrace)
	defer cancel()
	if err := p.settle(grace); err != nil && !errors.Is(err, errGrace) {
		return err
	}
	return p.shutDown(grace)
}

// settle waits until every event is delivered or dead, and gives what is owed another chance. What it has come to until ctx
// ends is reported.
func (p *program) settle(ctx context.Context) error {
	err := p.deliver.WaitIdle(ctx)
	if err != nil && !errors.Is(err, errGrace) {
		return err
	}
	p.report.delivered(p)
	p.report.died(p)
	if err != nil || p.ledger.sum().owed == 0 {
		return err
	}
	if p.standins != nil {
		p.standins.recover()
	}
	err = p.redeliver(ctx)
	p.report.redelivered(p)
	return err
}

// shutDown closes the topic, and waits until nothing is left or ctx ends. It returns what is wrong with the run.
func (p *program) shutDown(ctx context.Context) error {
	left := p.events.Drain(ctx)
	if left != nil && !errors.Is(left, errGrace) {
		return left
	}
	if p.standins != nil {
		p.report.testified(p)
	}
	p.report.drained(p, left)
	return cmp.Or(p.report.err, p.intake.readErr, p.undelivered())
}

// undelivered returns an error that counts the events that have neither been delivered nor refused.
func (p *program) undelivered() error {
	b := p.ledger.sum()
	if b.settled() {
		return nil
	}
	return fmt.Errorf("%w: %d events, of %d accepted", errUndelivered, b.accepted-b.delivered-b.refused, b.accepted)
}
