package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	"github.com/heraldbus/herald/store"
)

// exportOptions are the flags of export.
type exportOptions struct {
	from, to   uint64
	dead, skip bool
}

func exportFlags(f *flag.FlagSet, c *call) {
	f.Uint64Var(&c.export.from, "from", 0, "begin at this `offset`; 0: at the first that there is")
	f.Uint64Var(&c.export.to, "to", 0, "end with this `offset`; 0: with the last one")
	f.BoolVar(&c.export.dead, "dead", false, "write the dead letters instead of the records")
	f.BoolVar(&c.export.skip, "skip", false, "report damaged records and go on behind them; the exit code is 3 all the same")
}

// export writes one JSON object a line.
func export(c *call) error {
	return c.lookAt(c.args[1], func(l store.Log) error {
		buffered := bufio.NewWriter(c.out)
		lines := json.NewEncoder(buffered)
		lines.SetEscapeHTML(false)
		err := exportAll(c, l, lines)
		if flushed := buffered.Flush(); err == nil {
			err = flushed
		}
		return err
	})
}

func exportAll(c *call, l store.Log, lines *json.Encoder) error {
	if c.export.dead {
		return eachLetter(c, l, func(d store.DeadLetter) error { return lines.Encode(letterLine(d)) })
	}
	e := exporting{call: c, log: l, lines: lines, next: c.export.from, end: l.Bounds().Next}
	if e.next == 0 {
		e.next = l.Bounds().First
	}
	if c.export.to != 0 && c.export.to != math.MaxUint64 {
		e.end = min(e.end, c.export.to+1)
	}
	return e.run()
}

// An exporting is the export of the records from next on and before end.
type exporting struct {
	*call
	log       store.Log
	lines     *json.Encoder
	next, end uint64
	written   int
	damage    error // what was skipped
}

func (e *exporting) run() error {
	for e.next < e.end {
		if e.ctx.Err() != nil {
			return errors.Join(e.damage, e.ctx.Err())
		}
		records, err := e.log.Read(e.ctx, e.next, int(min(1000, e.end-e.next)))
		if errors.Is(err, store.ErrCorrupt) && e.export.skip {
			fmt.Fprintln(e.call.log, "export: skipped:", err)
			e.damage = err
			e.next++
			continue
		}
		if err != nil {
			return err
		}
		for _, r := range records {
			if err := e.write(r); err != nil {
				return err
			}
		}
	}
	return e.damage
}

func (e *exporting) write(r store.Record) error {
	e.next = r.Offset + 1
	if e.written++; e.written%progressEvery == 0 {
		fmt.Fprintf(e.call.log, "export: %d records\n", e.written)
	}
	return e.lines.Encode(recordLine(r))
}

// A record as JSON. A text that isn't UTF-8 becomes an object with the one field base64.
type jsonRecord struct {
	Offset   uint64       `json:"offset"`
	Time     time.Time    `json:"time"`
	Key      text         `json:"key,omitempty"`
	ID       text         `json:"id,omitempty"`
	Priority int8         `json:"priority,omitempty"`
	Headers  []jsonHeader `json:"headers,omitempty"`
	Due      time.Time    `json:"due,omitzero"`
	Expires  time.Time    `json:"expires,omitzero"`
	For      text         `json:"for,omitempty"`
	Replays  int          `json:"replays,omitempty"`
	Codec    text         `json:"codec,omitempty"`
	Data     any          `json:"data"` // JSON where it's called that and is some, else a text
}

type jsonHeader struct {
	Key   text `json:"key"`
	Value text `json:"value"`
}

type jsonLetter struct {
	Number       uint64     `json:"number"`
	Subscription text       `json:"subscription"`
	Attempts     int        `json:"attempts"`
	Reason       text       `json:"reason"`
	Err          text       `json:"error"`
	At           time.Time  `json:"at"`
	Record       jsonRecord `json:"record"`
}

func recordLine(r store.Record) jsonRecord {
	line := jsonRecord{
		Offset: r.Offset, Time: utc(r.Time), Key: text(r.Key), ID: text(r.ID), Priority: r.Priority,
		Due: utc(r.Due), Expires: utc(r.Expires), For: text(r.For), Replays: r.Replays, Codec: text(r.Codec), Data: text(r.Data),
	}
	for _, h := range r.Headers {
		line.Headers = append(line.Headers, jsonHeader{text(h.Key), text(h.Value)})
	}
	if r.Codec == "json" && json.Valid(r.Data) {
		line.Data = json.RawMessage(r.Data)
	}
	return line
}

func letterLine(d store.DeadLetter) jsonLetter {
	return jsonLetter{
		Number: d.Number, Subscription: text(d.Subscription), Attempts: d.Attempts,
		Reason: text(d.Reason), Err: text(d.Err), At: utc(d.At), Record: recordLine(d.Record),
	}
}

func utc(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.UTC()
}

// A text is written so that it can be read back exactly.
type text string

func (t text) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return json.Marshal(string(t))
	}
	return json.Marshal(map[string][]byte{"base64": []byte(t)})
}
