package boltlog

import (
	"errors"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// changes is one write transaction: what a batch of ops does. Only the leader
// has it.
type changes struct {
	tx    *bbolt.Tx
	edits []*edit
}

// edit returns what is changed of a topic. It's the same for all ops of the
// batch, so that each sees what those before it did.
func (c *changes) edit(l *Log) (*edit, error) {
	for _, e := range c.edits {
		if e.log == l {
			return e, nil
		}
	}
	e, err := newEdit(c.tx, l)
	if err != nil {
		return nil, err
	}
	c.edits = append(c.edits, e)
	return e, nil
}

func (c *changes) empty() bool { return len(c.edits) == 0 }

// publish lets readers see what is on disk now.
func (c *changes) publish() {
	for _, e := range c.edits {
		e.publish()
	}
}

// rollback takes all back, and reports whether it could. bbolt may have done so already; if the file is
// damaged it may panic.
func (c *changes) rollback() bool {
	err := guard(func() error { return c.tx.Rollback() })
	return err == nil || errors.Is(err, bolterrors.ErrTxClosed)
}
