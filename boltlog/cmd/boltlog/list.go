package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/heraldbus/herald/boltlog"
	"github.com/heraldbus/herald/store"
)

// look opens the file, which must exist, without changing it.
func (c *call) look(fn func(*boltlog.Store) error) error {
	s, err := boltlog.Open(c.args[0], boltlog.ReadOnly())
	if err != nil {
		return err
	}
	err = fn(s)
	if closed := s.Close(); err == nil {
		err = closed
	}
	return err
}

// lookAt opens one topic of the file.
func (c *call) lookAt(topic string, fn func(store.Log) error) error {
	return c.look(func(s *boltlog.Store) error {
		l, err := s.Open(c.ctx, topic, store.Settings{})
		if err != nil {
			return fmt.Errorf("topic %q: %w", topic, err)
		}
		return fn(l)
	})
}

// table writes rows in columns.
func table(out io.Writer, head string, rows [][]string) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.ReplaceAll(head, " ", "\t"))
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}

// name is a name as a cell: quoted if it would disturb the columns.
func name(s string) string {
	if q := strconv.Quote(s); len(q) != len(s)+2 || strings.Contains(s, " ") {
		return q
	}
	return s
}

func topics(c *call) error {
	return c.look(func(s *boltlog.Store) error {
		all, err := s.Topics(c.ctx)
		if err != nil {
			return err
		}
		var rows [][]string
		for _, t := range all {
			row := []string{name(t.Name)}
			for _, n := range []uint64{t.Bounds.First, t.Bounds.Next - 1, t.Bounds.Next - t.Bounds.First,
				uint64(len(t.Cursors)), uint64(t.Dead), uint64(t.Delayed)} {
				row = append(row, strconv.FormatUint(n, 10))
			}
			rows = append(rows, row)
		}
		return table(c.out, "TOPIC FIRST LAST RECORDS CURSORS DEAD DELAYED", rows)
	})
}

func cursors(c *call) error {
	return c.look(func(s *boltlog.Store) error {
		all, err := s.Topics(c.ctx)
		if err != nil {
			return err
		}
		var rows [][]string
		found := false
		for _, t := range all {
			if len(c.args) == 1 || t.Name == c.args[1] {
				found = true
				rows = append(rows, cursorRows(t)...)
			}
		}
		if !found && len(c.args) == 2 {
			return fmt.Errorf("topic %q: %w", c.args[1], store.ErrNotFound)
		}
		return table(c.out, "TOPIC SUBSCRIPTION COMMITTED LAG AHEAD RETRYING", rows)
	})
}

func cursorRows(t boltlog.Topic) (rows [][]string) {
	for _, sub := range slices.Sorted(maps.Keys(t.Cursors)) {
		cursor := t.Cursors[sub]
		lag := t.Bounds.Next - max(t.Bounds.First, cursor.Committed+1) - uint64(len(cursor.Ahead))
		rows = append(rows, []string{
			name(t.Name), name(sub), strconv.FormatUint(cursor.Committed, 10), strconv.FormatUint(lag, 10),
			strconv.Itoa(len(cursor.Ahead)), strconv.Itoa(len(cursor.Attempts)),
		})
	}
	return rows
}

func dead(c *call) error {
	return c.lookAt(c.args[1], func(l store.Log) error {
		var rows [][]string
		err := eachLetter(c, l, func(d store.DeadLetter) error {
			rows = append(rows, []string{
				strconv.FormatUint(d.Number, 10), name(d.Subscription), strconv.FormatUint(d.Record.Offset, 10),
				strconv.Itoa(d.Attempts), d.At.UTC().Format(time.RFC3339), name(d.Reason), strconv.Quote(d.Err),
			})
			return nil
		})
		if err != nil {
			return err
		}
		return table(c.out, "NUMBER SUBSCRIPTION RECORD ATTEMPTS AT REASON ERROR", rows)
	})
}

func eachLetter(c *call, l store.Log, fn func(store.DeadLetter) error) error {
	for after := uint64(0); ; {
		letters, err := l.Dead(c.ctx, after, 1000)
		if err != nil || len(letters) == 0 {
			return err
		}
		for _, d := range letters {
			if err := fn(d); err != nil {
				return err
			}
			after = d.Number
		}
	}
}
